"""Whose turn it is: no installation waits for another's backlog, and no source for another's flood."""

from collections import defaultdict
from itertools import zip_longest
from operator import attrgetter

from django.db.models import Exists, OuterRef, Subquery

from core import clock
from integrations.delivery import pacing
from integrations.models import Delivery, Integration
from integrations.models.deliveries import DeliveryQuerySet

BATCH = 100
IN_TURN = 10  # of one installation in a batch
AHEAD = 1000  # deliveries of one integration that are looked at, where most may not be sent now


def due_ids() -> list[str]:
    """The reports whose deliveries are due, in turn of their installations and sources; at most `BATCH`.

    Reads an index for each integration where something is due, however much waits there.
    """
    abandoned = Delivery.objects.abandoned()
    ids = list(abandoned.values_list("report_id", flat=True)[:BATCH])
    return (ids + _waiting())[:BATCH]


def is_anything_due() -> bool:
    """Asked each second: one query where nothing waits, else a look at an index for each integration.

    None of the backlog of an installation that is limited is read. Of one that is not, what is due
    later is read until something due is found: no more than were tried in an hour, since only a
    try puts one off, which is some hundreds.
    """
    if not Delivery.objects.takeable().filter(due_at__lte=clock.now()).exists():
        return False
    there = Delivery.objects.in_turn().filter(integration=OuterRef("pk"))
    waiting = Integration.objects.not_limited().filter(Exists(there))
    return waiting.exists() or Delivery.objects.abandoned().exists()


def _waiting() -> list[str]:
    """First the next one of every installation, then everybody's second."""
    integrations = _with_something_due()
    full = pacing.sources_with_their_share({each.installation_id for each in integrations})
    lanes: defaultdict[int, list[tuple]] = defaultdict(list)
    for each in integrations:
        places = next_of(each, full[each.installation_id])
        lanes[each.installation_id] += places.values_list("turn", "due_at", "pk", "report_id")
    in_turn = zip_longest(*(sorted(lane)[:IN_TURN] for lane in lanes.values()))
    return [place[-1] for places in in_turn for place in places if place]


def _with_something_due() -> list[Integration]:
    """At most `BATCH` integrations, the one first whose next delivery has waited longest.

    Of more than that any: those where nothing may be sent just now keep no other from its turn.
    """
    first = Delivery.objects.in_turn().filter(integration=OuterRef("pk"))
    since = Integration.objects.annotate(since=Subquery(first.values("due_at")[:1]))
    chosen = since.not_limited().filter(since__isnull=False).order_by("?")[:BATCH]
    return sorted(chosen, key=attrgetter("since"))


def next_of(integration: Integration, full: set[str]) -> DeliveryQuerySet:
    """What goes first, at most `IN_TURN`; none of the sources in `full`."""
    due = Delivery.objects.in_turn().filter(integration=integration)
    if full:
        ahead = Delivery.objects.filter(pk__in=due.values("pk")[:AHEAD]).exclude(source__in=full)
        due = ahead.order_by("turn", "due_at", "pk")
    return due[:IN_TURN]
