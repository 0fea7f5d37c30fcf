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
    SELECT turn, due_at, id, source FROM integrations_delivery
    WHERE status = 'pending' AND integration_id = %s AND coalesce(due_at, {now}) <= {now}
    ORDER BY turn, due_at, id LIMIT %s
    ) AS of_one
"""
DUE = PreparedStatement(
    "Which deliveries of these integrations are due, in the order of sending? The first of them, by the "
    "index of that order for each: the inner limits keep PostgreSQL from reading them all, `coalesce` keeps "
    "SQLite from the index of the time.",
    f"{'UNION ALL'.join([_OF_ONE] * LINES)} ORDER BY turn, due_at, id LIMIT %s",
)


class Place(NamedTuple):
    """The place of a delivery among those of its installation."""

    turn: int
    due_at: datetime
    pk: int


class Line(NamedTuple):
    """What is due for one installation, in the order of sending, and how much it has used of its pace."""

    places: list[Place]
    open_places: list[Place]  # without the sources that have used up their share
    used: list[Used]
    full: frozenset[str]  # these sources
    heavy: frozenset[str]  # those of them that have sent much

    def before(self, delivery: Delivery) -> int:
        """How many go before it; `LOOKED_AT` if there may be more."""
        places = self.places if delivery.source in self.full else self.open_places
        return bisect_left(places, Place(delivery.turn, delivery.due_at, delivery.pk))

    def turn_of(self, delivery: Delivery, now: datetime) -> datetime | None:
        """About when the pace lets it go; None if that is now."""
        return turn_after(self.before(delivery), {delivery.source}, self.used, now)

    @property
    def since(self) -> datetime | None:
        """Since when the first one is due, or might have been sent after the latest one."""
        first = self.open_places[0].due_at if self.open_places else None
        return latest(first, *(each.latest for each in self.used))


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
    return DUE.rows(*chain.from_iterable((each, LOOKED_AT) for each in asked), LOOKED_AT)


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
    placed = [(Place(turn, time_of(due_at), pk), source) for turn, due_at, pk, source in rows]
    places = [place for place, _ in placed]
    open_places = [place for place, source in placed if source not in full]
    heavy = frozenset(chain.from_iterable(each.heavy for each in used))
    return Line(places, open_places, used, full, heavy)
