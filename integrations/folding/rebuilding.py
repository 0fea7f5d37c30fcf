"""Parses again what reports are compared by: where the rule is older, and where an earlier version stored nothing."""

import time
from collections.abc import Callable, Iterator
from datetime import timedelta

from django.db import transaction
from django.db.models import F, Q

from core.batches import at_leisure
from integrations.folding import stored_terms
from integrations.likeness.terms import RULE
from integrations.models import Delivery, Integration
from integrations.models.delivery import DELIVERED, DeliveryQuerySet
from reports.models import TEST

LOOKED_AT = 1000  # deliveries for each query; most need nothing
BATCH = 50  # in one transaction
REST = timedelta(days=1)  # between two passes of `maintain`

GoOn = Callable[[], bool]


class Bookmark:
    """The last delivery that was looked at, and since when a pass over all is finished."""

    last = 0
    finished_at: float | None = None

    def rests(self) -> bool:
        """Whether a pass was finished so lately that there is nothing to do."""
        since = self.finished_at
        return since is not None and time.monotonic() - since < REST.total_seconds()


def rebuild(
    go_on: GoOn = lambda: True,
    on_progress: Callable[[int], None] = lambda rows: None,
    bookmark: Bookmark | None = None,
) -> int:
    """Make the terms anew that are needed, in batches, until `go_on` returns False; returns how many.

    It begins where the last call with this bookmark has stopped. What is done is not done again.
    """
    here, rebuilt = bookmark or Bookmark(), 0
    if here.rests():
        return 0
    for rows in at_leisure(go_on, _in_batches(here)):
        rebuilt += rows
        on_progress(rows)
    return rebuilt


def outdated() -> DeliveryQuerySet:
    """Deliveries whose terms are of an older rule; and those that others may join and that have none."""
    older = Q(terms__rule__lt=RULE)
    lead = Q(status="sent", repository_id=F("integration__repository_id"))
    compared = (lead | Q(status="folded")) & ~Q(integration__likeness=Integration.Likeness.OFF)
    known = Delivery.objects.filter(report__erased_at=None).exclude(
        report__dedup_key__startswith=TEST
    )
    return known.filter(older | Q(terms=None, status__in=DELIVERED) & compared)


def _in_batches(here: Bookmark) -> Iterator[int]:
    """Yields how many each batch has rebuilt, also for one without any."""
    while pks := _next(here.last):
        needed = outdated().filter(pk__gt=here.last, pk__lte=pks[-1]).order_by("pk")
        some = list(needed.values_list("pk", flat=True))
        for first in range(0, len(some), BATCH):
            yield _rebuilt(some[first : first + BATCH])
        if not some:
            yield 0
        here.last = pks[-1]
    here.last, here.finished_at = 0, time.monotonic()


def _next(after: int) -> list[int]:
    rows = Delivery.objects.filter(pk__gt=after).order_by("pk")
    return list(rows.values_list("pk", flat=True)[:LOOKED_AT])


@transaction.atomic
def _rebuilt(pks: list[int]) -> int:
    """Their rows are locked first, so that no text comes back that is being erased."""
    Delivery.objects.filter(pk__in=pks).lock()
    some = outdated().filter(pk__in=pks).select_related("report")
    for each in some:
        stored_terms.put(each, stored_terms.of(each.report))
    return len(some)
