"""Discarding: what a member does not want sent is kept and never sent, until a member restores it."""

from collections.abc import Iterator

from core.errors import ApiError
from integrations.delivery import ownership_changes
from integrations.delivery.trying_again import NEVER_SENT, STOPPED_BY_OPERATOR
from integrations.models import Delivery
from integrations.models.deliveries import DeliveryQuerySet
from integrations.models.delivery import ERASED

BATCH = 500
BEING_SENT = "It is being sent just now."
AT_ONCE = 10_000  # discarded or restored by one request, so that it ends in seconds


class CannotDiscard(ApiError):
    status_code = 409
    default_code = "cannot_discard"


class CannotRestore(ApiError):
    status_code = 409
    default_code = "cannot_restore"


def discard(delivery: Delivery | None) -> None:
    """Never send it, unless it is restored. Raises `CannotDiscard` with the reason in words."""
    if (delivery and delivery.report.erased_at) or not _rows(delivery).discard():
        raise CannotDiscard(obstacle(_rows(delivery).first()) or BEING_SENT)


def restore(delivery: Delivery | None) -> None:
    """Put what was discarded on its way again; `maintain` sends it. Raises `CannotRestore`."""
    if not _rows(delivery).restore():
        raise CannotRestore("It is not discarded.")
    ownership_changes.hold_lost_among(_rows(delivery))


def discard_all(deliveries: DeliveryQuerySet) -> int:
    """Discard what of them has not been sent and still has a text, `AT_ONCE` at most; how many."""
    unsent = deliveries.discardable().filter(report__erased_at=None)
    return sum(batch.discard() for batch in _batches(unsent))


def restore_all(deliveries: DeliveryQuerySet) -> int:
    """Restore what of them is discarded, `AT_ONCE` at most; how many."""
    restored = 0
    for batch in _batches(deliveries.held(Delivery.Cause.DISCARDED)):
        restored += batch.restore()
        ownership_changes.hold_lost_among(batch)
    return restored


def obstacle(delivery: Delivery | None) -> str:
    """Why it cannot be discarded, in words; empty where it can."""
    if delivery is None:
        return NEVER_SENT
    if delivery.status == Delivery.Status.SENT:
        return "It has arrived already. Close the issue at GitHub."
    if delivery.report.erased_at:
        return ERASED
    if delivery.status == Delivery.Status.SENDING:
        return BEING_SENT
    if delivery.held_for == Delivery.Cause.DISCARDED:
        return "It is discarded already."
    if delivery.held_for == Delivery.Cause.OPERATOR:
        return STOPPED_BY_OPERATOR
    if delivery.outcome_unknown_since:
        return "It is not known yet whether GitHub made the issue. Try again to find out."
    return ""


def _rows(delivery: Delivery | None) -> DeliveryQuerySet:
    return Delivery.objects.filter(pk=delivery.pk) if delivery else Delivery.objects.none()


def _batches(deliveries: DeliveryQuerySet) -> Iterator[DeliveryQuerySet]:
    """The oldest `AT_ONCE` of them, some at a time."""
    pks = list(deliveries.order_by("pk").values_list("pk", flat=True)[:AT_ONCE])
    for first in range(0, len(pks), BATCH):
        yield Delivery.objects.filter(pk__in=pks[first : first + BATCH])
