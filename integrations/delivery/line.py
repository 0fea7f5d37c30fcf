"""Who goes before a delivery, and about when its turn comes."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from itertools import chain
from typing import NamedTuple

from core.prepared import PreparedStatement, time_of
from integrations.delivery import pacing
from integrations.delivery.pacing import Used
from integrations.models import Delivery, Integration

LOOKED_AT = 400  # deliveries of one integration: an hour's, by the pace that is set at first
LINES = 5  # integrations that are looked at for one page


_OF_ONE = """
    SELECT * FROM (
    SELECT integration_id, turn, due_at, id, source FROM integrations_delivery
    WHERE status = 'pending' AND integration_id = %s AND coalesce(due_at, {now}) <= {now}
    ORDER BY turn, due_at, id LIMIT %s
    ) AS of_one
"""
DUE = PreparedStatement(
    "Which deliveries of these integrations are due? The first of each, by the index of the order of sending: "
    "the limits keep PostgreSQL from reading them all, `coalesce` keeps SQLite from the index of the time.",
    "UNION ALL".join([_OF_ONE] * LINES),
)


class Place(NamedTuple):
    """The place of a delivery among those of its integration."""

    turn: int
    due_at: datetime
    pk: int


class Line(NamedTuple):
    """What is due for one installation, and how much it has used of its pace."""

    places: dict[int, list[Place]]  # by the id of the integration, each in the order of sending
    open_places: dict[int, list[Place]]  # without the sources that have used up their share
    used: list[Used]
    full: frozenset[str]  # these sources
    heavy: frozenset[str]  # those of them that have sent much

    def before(self, delivery: Delivery) -> int:
        """About how many go before it; `LOOKED_AT` or more if there may be others.

        Integrations take turns, and whose is the first is left to chance (`turns`): here it is the oldest.
        """
        others = dict(self.places if delivery.source in self.full else self.open_places)
        place = Place(delivery.turn, delivery.due_at, delivery.pk)
        rank = bisect_left(others.pop(delivery.integration_id, []), place)
        return rank + sum(_ahead(each, rank, place) for each in others.values())

    def turn_of(self, delivery: Delivery, now: datetime) -> datetime | None:
        """About when the pace lets it go; None if that is now."""
        return turn_after(self.before(delivery), {delivery.source}, self.used, now)

    @property
    def since(self) -> datetime | None:
        """Since when the first one is due, or might have been sent after the latest one."""
        firsts = [each[0] for each in self.open_places.values()]
        first = min(firsts).due_at if firsts else None
        return latest(first, *(each.latest for each in self.used))


def _ahead(others: list[Place], rank: int, place: Place) -> int:
    """How many of another integration go before this place, before which so many of its own go."""
    return rank + (others[rank] < place) if rank < len(others) else len(others)


def lines_of(integrations: Iterable[Integration]) -> dict[int, Line]:
    """The lines of the first `LINES` of these integrations, by the id of their installation."""
    some: defaultdict[int, list[int]] = defaultdict(list)
    for each in list(integrations)[:LINES]:
        some[each.installation_id].append(each.pk)
    used = pacing.used(some.keys())
    return {each: _line(_due(some[each]), used[each]) for each in some}


def _due(integrations: list[int]) -> list[tuple]:
    """What is due for these, at most `LINES` of them, as `DUE` returns it."""
    asked = [*integrations, *[None] * (LINES - len(integrations))]
    return DUE.rows(*chain.from_iterable((each, LOOKED_AT) for each in asked))


def turn_after(
    before: int, sources: set[str], used: Iterable[Used], now: datetime
) -> datetime | None:
    """About when the pace lets one of these sources go after so many others; None if that is now."""
    times: list[datetime | None] = []
    for each in used:
        times.append(each.has_place_at(before, now))
        if sources & each.full:
            times.append(each.has_share_at(before, now, sources))
    return latest(*times)


def latest(*times: datetime | None) -> datetime | None:
    """The latest of those that are known."""
    return max(filter(None, times), default=None)


def _line(rows: list[tuple], used: list[Used]) -> Line:
    full = frozenset(chain.from_iterable(each.full for each in used))
    places: defaultdict[int, list[Place]] = defaultdict(list)
    open_places: defaultdict[int, list[Place]] = defaultdict(list)
    for integration, turn, due_at, pk, source in sorted(rows):
        place = Place(turn, time_of(due_at), pk)
        places[integration].append(place)
        if source not in full:
            open_places[integration].append(place)
    heavy = frozenset(chain.from_iterable(each.heavy for each in used))
    return Line(places, open_places, used, full, heavy)
