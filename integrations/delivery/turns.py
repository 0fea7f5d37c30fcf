"""Decides whose turn it is: a backlog or a flood of one does not delay the others."""

from collections import defaultdict
from itertools import zip_longest
from operator import attrgetter

from django.db.models import Exists, OuterRef, Subquery

from core import clock
from integrations.delivery import pacing
from integrations.models import Delivery, Integration
from integrations.models.delivery import DeliveryQuerySet

BATCH = 100
IN_TURN = 10  # of one installation in a batch
AHEAD = 1000  # deliveries of one integration that are looked at, where most may not be sent now


def due_ids() -> list[str]:
    """The reports whose deliveries are due, at most `BATCH`, taking turns by installation and source.

    Reads an index for each integration that has something due, however much waits there.
    """
    abandoned = Delivery.objects.abandoned()
    ids = list(abandoned.values_list("report_id", flat=True)[:BATCH])
    return (ids + _waiting())[:BATCH]


def is_anything_due() -> bool:
    """Whether any delivery is due; cheap enough to ask every second.

    The backlog of a limited installation is not read. Of others, what is due later is read until
    something due is found: some hundreds at most, since only a try postpones a delivery.
    """
    if not Delivery.objects.takeable().filter(due_at__lte=clock.now()).exists():
        return False
    there = Delivery.objects.in_turn().filter(integration=OuterRef("pk"))
    waiting = Integration.objects.not_limited().not_stopped().filter(Exists(there))
    return waiting.exists() or Delivery.objects.abandoned().exists()


def _waiting() -> list[str]:
    """The next delivery of every installation, then the second of each, and so on."""
    integrations = _with_something_due()
    full = pacing.sources_with_their_share({each.installation_id for each in integrations})
    lanes: defaultdict[int, list[tuple]] = defaultdict(list)
    for each in integrations:
        places = next_of(each, full[each.installation_id])
        lanes[each.installation_id] += places.values_list("turn", "due_at", "pk", "report_id")
    in_turn = zip_longest(*(sorted(lane)[:IN_TURN] for lane in lanes.values()))
    return [place[-1] for places in in_turn for place in places if place]


def _with_something_due() -> list[Integration]:
    """At most `BATCH` integrations, those first whose next delivery has waited longest.

    Integrations that may send nothing right now do not delay the others.
    """
    first = Delivery.objects.in_turn().filter(integration=OuterRef("pk"))
    since = Integration.objects.annotate(since=Subquery(first.values("due_at")[:1]))
    chosen = since.not_limited().not_stopped().filter(since__isnull=False).order_by("?")[:BATCH]
    return sorted(chosen, key=attrgetter("since"))


def next_of(integration: Integration, full: set[str]) -> DeliveryQuerySet:
    """The next deliveries of an integration, at most `IN_TURN`, without those of the sources in `full`.

    These have used up their share.
    """
    due = Delivery.objects.in_turn().filter(integration=integration)
    if full:
        ahead = Delivery.objects.filter(pk__in=due.values("pk")[:AHEAD]).exclude(source__in=full)
        due = ahead.order_by("turn", "due_at", "pk")
    return due[:IN_TURN]
