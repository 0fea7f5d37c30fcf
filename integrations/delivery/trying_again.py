"""Trying again what has stopped, because a person asks for it; and stopping it."""

import time

from django.db.models import QuerySet

from core.errors import ApiError
from integrations.delivery import retries
from integrations.delivery.task import forward_report_now
from integrations.models import Delivery
from integrations.models.deliveries import DISCARDED, DeliveryQuerySet
from integrations.models.delivery import ERASED

ACTION_TIMEOUT = 20  # seconds, for all that an operator asks for at once
NEVER_SENT = "It came before a repository was chosen for issues, so nothing is sent for it."
STOPPED_BY_OPERATOR = "Whoever runs this Hub has stopped this delivery. Ask them why."


class CannotTryAgain(ApiError):
    status_code = 409
    default_code = "cannot_try_again"


def try_again(delivery: Delivery | None) -> None:
    """One more try, now, of what has not arrived; the delivery's row says what came of it.

    Raises `CannotTryAgain` with the reason in words.
    """
    if delivery is None:
        raise CannotTryAgain(NEVER_SENT)
    if reason := obstacle(delivery):
        raise CannotTryAgain(reason)
    by_now = Delivery.objects.filter(pk=delivery.pk).exclude(held_for=Delivery.Cause.OPERATOR)
    by_now.requeue()
    forward_report_now.enqueue(delivery.report_id)


def obstacle(delivery: Delivery) -> str:
    """Why a member cannot have it tried again, in words; empty where they can."""
    if delivery.status == Delivery.Status.SENT:
        return "It has arrived already."
    if delivery.report.erased_at and not delivery.outcome_unknown_since:
        return ERASED
    if delivery.held_for == Delivery.Cause.OPERATOR:
        return STOPPED_BY_OPERATOR
    if delivery.held_for == Delivery.Cause.DISCARDED:
        return DISCARDED
    cause, reason = delivery.integration.stop
    if cause in (Delivery.Cause.PAUSE, Delivery.Cause.RIGHTS):
        return reason
    if delivery.integration.repository_id is None and not delivery.outcome_unknown_since:
        return "No repository is chosen. Choose one first."
    return ""


def try_all_again(deliveries: DeliveryQuerySet) -> int:
    """For an operator: set out all that are held, have failed or wait, but not what was discarded; how many.

    They are tried at once for as long as `PATIENCE` lasts; `maintain` goes on with the rest.
    """
    with_target = deliveries.exclude(
        integration__repository_id=None, outcome_unknown_since__isnull=True
    )
    ids = list(with_target.undelivered().values_list("report_id", flat=True))
    chosen = Delivery.objects.filter(report__in=ids)
    chosen.requeue()
    until = time.monotonic() + ACTION_TIMEOUT
    retries.retry(ids, go_on=lambda: time.monotonic() < until)
    return len(ids)


def stop_all(deliveries: QuerySet[Delivery]) -> int:
    """For an operator: hold what waits, until an operator sets it out again; how many."""
    return Delivery.objects.filter(pk__in=deliveries.values("pk")).hold(
        Delivery.Cause.OPERATOR, "Whoever runs this Hub has stopped this delivery."
    )
