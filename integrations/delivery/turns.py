"""Decides whose turn it is: a backlog or a flood of one does not delay the others."""

import random
from collections import defaultdict
from collections.abc import Collection, Iterable
from itertools import chain, islice, zip_longest
from operator import attrgetter

from django.db.models import OuterRef, Subquery

from core import clock
from core.prepared import PreparedStatement
from integrations.delivery import pacing
from integrations.models import Delivery, Integration
from integrations.models.delivery import DeliveryQuerySet
from integrations.models.integration import IntegrationQuerySet

BATCH = 100
OF_SLOW = 8  # of a batch
INTEGRATIONS = 500  # with something waiting that are looked at each time
IN_TURN = 10  # of one installation in a batch
AHEAD = 1000  # deliveries of one integration that are looked at, where most may not be sent now,
SOURCES = 1000  # and its sources, where none of those may

_ONE = """
    SELECT {} FROM integrations_delivery
    WHERE UPPER(status) = 'PENDING' AND integration_id = %s AND {} ORDER BY {} LIMIT 1
"""
_FIRST_SOURCE = _ONE.format("source", "TRUE", "source")
_NEXT_SOURCE = _ONE.format("source", "source > waits.source", "source")
_NEXT_OF_SOURCE = _ONE.format(
    "id", "source = waits.source AND coalesce(due_at, {now}) <= {now}", "turn, due_at, id"
)
NEXT_OF_EACH = PreparedStatement(
    "Which delivery is the next of each source of this integration for which any waits, but for these "
    "sources? The index is jumped through from one source to the next, however much waits for each.",
    f"""
    WITH RECURSIVE waits(source) AS (
        SELECT ({_FIRST_SOURCE})
        UNION ALL
        SELECT ({_NEXT_SOURCE}) FROM waits WHERE source IS NOT NULL
    )
    SELECT ({_NEXT_OF_SOURCE}) FROM waits
    WHERE source IS NOT NULL AND NOT source = ANY(%s) LIMIT %s
    """,  # noqa: S608  (no values)
)


def due_ids(slow: Collection[int] = ()) -> list[str]:
    """The reports whose deliveries are due, at most `BATCH`, taking turns by installation, integration and source.

    Those of the installations in `slow` come last, and `OF_SLOW` of them have a place in any case. Reads an index
    for each integration that has something due, however much waits there.
    """
    abandoned = Delivery.objects.abandoned()
    ids = list(abandoned.values_list("report_id", flat=True)[:BATCH])
    return (ids + _waiting(slow))[:BATCH]


def is_anything_due() -> bool:
    """Whether any delivery is due; cheap enough to ask every second.

    The backlog of a limited installation is not read. Of others, what is due later is read until
    something due is found: some hundreds at most, since only a try postpones a delivery. If many
    integrations wait, the answer is about some of them, each time about others.
    """
    if not Delivery.objects.takeable().filter(due_at__lte=clock.now()).exists():
        return False
    return _that_may_send().exists() or Delivery.objects.abandoned().exists()


def _waiting(slow: Collection[int]) -> list[str]:
    """The next delivery of every installation, then the second of each, and so on; then those of `slow` ones."""
    integrations = _with_something_due()
    full = pacing.sources_with_their_share({each.installation_id for each in integrations})
    lanes: defaultdict[int, list[list[tuple]]] = defaultdict(list)
    for each in integrations:
        places = next_of(each, full[each.installation_id])
        lanes[each.installation_id].append(
            list(places.values_list("turn", "due_at", "pk", "report_id"))
        )
    last = _in_turn(lane for installation, lane in lanes.items() if installation in slow)
    first = _in_turn(lane for installation, lane in lanes.items() if installation not in slow)
    return first[: BATCH - len(last[:OF_SLOW])] + last


def _in_turn(lanes: Iterable[list[list[tuple]]]) -> list[str]:
    in_turn = zip_longest(*map(_one_by_one, lanes))
    return [place[-1] for places in in_turn for place in places if place]


def _one_by_one(lane: list[list[tuple]]) -> list[tuple]:
    """`IN_TURN` deliveries of one installation: the first of every integration before the second of any.

    Chance decides whose is the very first: often only one can be sent each time.
    """
    some = [places for places in lane if places]
    random.shuffle(some)
    in_turn = chain.from_iterable(zip_longest(*some))
    return list(islice(filter(None, in_turn), IN_TURN))


def _with_something_due() -> list[Integration]:
    """At most `BATCH` integrations, those first whose next delivery has waited longest.

    Integrations that may send nothing right now do not delay the others.
    """
    return sorted(_that_may_send().order_by("?")[:BATCH], key=attrgetter("since"))


def _that_may_send() -> IntegrationQuerySet:
    """Integrations whose next delivery is due (`since` when), of those that wait and that nothing stops."""
    first = Delivery.objects.in_turn().filter(integration=OuterRef("pk"))
    since = Integration.objects.annotate(since=Subquery(first.values("due_at")[:1]))
    free = since.filter(pk__in=_waiting_integrations()).not_limited().not_stopped()
    return free.filter(since__isnull=False)


def _waiting_integrations() -> list[int]:
    """At most `INTEGRATIONS` that have something waiting, from a random one on."""
    last = Integration.objects.order_by("pk").values_list("pk", flat=True).last() or 0
    start = random.randint(0, last)  # noqa: S311  (spreads the load, guards nothing)
    rest = Delivery.objects.integrations_waiting(first=start, most=INTEGRATIONS)
    others = Delivery.objects.integrations_waiting(first=0, most=INTEGRATIONS - len(rest))
    return rest + [each for each in others if each < start]


def next_of(integration: Integration, full: set[str]) -> DeliveryQuerySet:
    """The next deliveries of an integration, at most `IN_TURN`, without those of the sources in `full`.

    These have used up their share. If nearly all of the first `AHEAD` are theirs, it is one of each other source.
    """
    due = Delivery.objects.in_turn().filter(integration=integration)
    if full:
        ahead = Delivery.objects.filter(pk__in=due.values("pk")[:AHEAD]).exclude(source__in=full)
        places = [
            pk for (pk,) in ahead.order_by("turn", "due_at", "pk").values_list("pk")[:IN_TURN]
        ]
        if len(places) < IN_TURN:
            first = NEXT_OF_EACH.rows(*[integration.pk] * 3, list(full), SOURCES)
            places += [pk for (pk,) in first if pk]
        # Not again by what waits: by its index, where that seems short, a database would read all of it.
        due = Delivery.objects.filter(pk__in=places).order_by("turn", "due_at", "pk")
    return due[:IN_TURN]
