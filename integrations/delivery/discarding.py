"""Discarding: keeps a report from being sent, until a member restores it."""

from collections.abc import Callable
from datetime import datetime

from django.db import transaction

from core import batches
from core.batches import Changed
from core.errors import ApiError
from integrations.delivery import ownership_changes
from integrations.delivery.trying_again import BEING_SENT, NEVER_SENT
from integrations.folding import joining
from integrations.models import Delivery
from integrations.models.delivery import ERASED, DeliveryQuerySet
from integrations.models.hold import STOPPED_BY_OPERATOR

AT_ONCE = 10_000  # discarded or restored by one request, so that it takes seconds at most


class CannotDiscard(ApiError):
    """409: the report cannot be discarded."""

    status_code = 409
    default_code = "cannot_discard"


class CannotRestore(ApiError):
    """409: the report is not discarded."""

    status_code = 409
    default_code = "cannot_restore"


def discard(delivery: Delivery | None) -> None:
    """Keep a report from being sent until it is restored; a folded one leaves its lead.

    Raises `CannotDiscard` with the reason.
    """
    rows = _rows(delivery)
    with transaction.atomic():
        if delivery and not delivery.report.erased_at:
            joining.unfold(rows)  # so that it is in no issue
            if rows.discard():
                return
    raise CannotDiscard(obstacle(rows.first()) or BEING_SENT)


def restore(delivery: Delivery | None) -> None:
    """Send a discarded report after all; `maintain` delivers it. Raises `CannotRestore`."""
    if not _rows(delivery).restore():
        raise CannotRestore("It is not discarded.")
    ownership_changes.hold_lost_among(_rows(delivery))


def discard_all(deliveries: DeliveryQuerySet, *, until: datetime | None = None) -> Changed:
    """Discard those that are unsent and still have a text, at most `AT_ONCE`.

    What has come in or changed since `until` is left, which nobody has seen so. None: nothing is.
    """
    unsent = deliveries.discardable().filter(report__erased_at=None)
    return _in_batches(unsent, DeliveryQuerySet.discard, until)


def restore_all(deliveries: DeliveryQuerySet, *, until: datetime | None = None) -> Changed:
    """Restore those that are discarded, at most `AT_ONCE`; `until` as for `discard_all`."""
    discarded = deliveries.held(Delivery.Cause.DISCARDED)
    return _in_batches(discarded, _restore, until)


def obstacle(delivery: Delivery | None) -> str:
    """Why it cannot be discarded, as a sentence; empty if it can."""
    if delivery is None:
        return NEVER_SENT
    if delivery.status == Delivery.Status.SENT:
        return "Already delivered. Close the issue on GitHub."
    if delivery.report.erased_at:
        return ERASED
    if delivery.status == Delivery.Status.SENDING:
        return BEING_SENT
    if delivery.held_for == Delivery.Cause.DISCARDED:
        return "Already discarded."
    if delivery.held_for == Delivery.Cause.OPERATOR:
        return delivery.reason or STOPPED_BY_OPERATOR
    if delivery.outcome_unknown_since and not _may_stay_unknown(delivery):
        return "It is not known yet whether GitHub opened the issue. Try again to find out."
    return ""


def _may_stay_unknown(delivery: Delivery) -> bool:
    """Whether it failed, and a Hub before the restored one may have sent it: that may never be known."""
    return delivery.status == Delivery.Status.FAILED and delivery.is_of_a_backup()


def _rows(delivery: Delivery | None) -> DeliveryQuerySet:
    return Delivery.objects.filter(pk=delivery.pk) if delivery else Delivery.objects.none()


def _in_batches(
    deliveries: DeliveryQuerySet,
    change: Callable[[DeliveryQuerySet], int],
    until: datetime | None,
) -> Changed:
    """Change the oldest of them, with a rest after each batch: a member may do it again and again."""
    since = Delivery.changed_since(until)
    pks, left = batches.oldest_without(deliveries, AT_ONCE, left_out=since)
    every = (Delivery.objects.filter(pk__in=some).exclude(since) for some in batches.of(pks))
    return Changed(sum(batches.at_leisure(lambda: True, map(change, every))), left)


def _restore(batch: DeliveryQuerySet) -> int:
    pks = list(batch.values_list("pk", flat=True))  # once restored, they no longer match
    restored = batch.restore()
    ownership_changes.hold_lost_among(Delivery.objects.filter(pk__in=pks))
    return restored
