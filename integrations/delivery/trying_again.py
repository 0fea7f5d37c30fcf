"""Retrying stopped deliveries on request, and holding them for an operator."""

import time
from collections.abc import Collection
from datetime import datetime

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone

from core import batches
from core.batches import Changed
from core.errors import ApiError
from integrations.delivery import retries, waiting
from integrations.delivery.task import forward_report_now
from integrations.models import Delivery
from integrations.models.delivery import DISCARDED, ERASED, DeliveryQuerySet
from integrations.models.hold import STOPPED_BY_OPERATOR
from integrations.models.integration import NOT_STOPPED
from orgs.models import Membership
from orgs.people import counted

ACTION_TIMEOUT = 20  # seconds, for all the rows of one action
BEING_SENT = "It is being sent right now."
IN_LINE = "It is in line; trying again does not make it faster."
NO_REPOSITORY = "No repository is chosen. Choose one first."
NEVER_SENT = "It arrived before a repository was chosen, so it is not sent."


class CannotTryAgain(ApiError):
    """409: the report cannot be tried again."""

    status_code = 409
    default_code = "cannot_try_again"


def try_again(delivery: Delivery | None, *, by: Membership) -> None:
    """Try an undelivered report again now; the delivery's row holds the result.

    Raises `CannotTryAgain` with the reason, and `rates.RateLimited` if the organization or the person has
    tried too often.
    """
    if delivery is None:
        raise CannotTryAgain(NEVER_SENT)
    if reason := obstacle(delivery):
        raise CannotTryAgain(reason)
    wait = waiting.why(delivery)
    if wait is None and delivery.status == Delivery.Status.SENDING:
        raise CannotTryAgain(BEING_SENT)
    if wait and wait.is_in_line:
        raise CannotTryAgain(f"{IN_LINE} {wait}")
    check_rate(by)
    _not_stopped_by_now([delivery.pk]).requeue()
    forward_report_now.enqueue(delivery.report_id)


def try_in_turn(delivery: Delivery | None) -> None:
    """Requeue an undelivered report as if it were new, one of many: `maintain` delivers it in its turn.

    Raises `CannotTryAgain` with the reason.
    """
    if delivery is None:
        raise CannotTryAgain(NEVER_SENT)
    if reason := obstacle(delivery):
        raise CannotTryAgain(reason)
    if delivery.status == Delivery.Status.SENDING:
        raise CannotTryAgain(BEING_SENT)
    if delivery.status == Delivery.Status.PENDING and delivery.due_at <= timezone.now():
        raise CannotTryAgain(IN_LINE)
    _not_stopped_by_now([delivery.pk]).requeue(apart=True)


def try_all_in_turn(deliveries: DeliveryQuerySet, *, until: datetime | None = None) -> Changed:
    """Requeue those that are held or failed and have no `obstacle`, at most `batches.AT_ONCE`.

    What has come in or changed since `until` is left. None: nothing is.
    """
    stopped = deliveries.filter(status__in=[Delivery.Status.HELD, Delivery.Status.FAILED])
    free = stopped.exclude(held_for__in=[Delivery.Cause.OPERATOR, Delivery.Cause.DISCARDED])
    running = free.filter(**{f"integration__{name}": each for name, each in NOT_STOPPED.items()})
    since = Delivery.changed_since(until)
    pks, left = batches.oldest_without(_possible(running), batches.AT_ONCE, left_out=since)
    every = (_not_stopped_by_now(some).exclude(since) for some in batches.of(pks))
    work = (some.requeue(apart=True) for some in every)
    return Changed(sum(batches.at_leisure(lambda: True, work)), left)


def _possible(deliveries: DeliveryQuerySet) -> DeliveryQuerySet:
    """Those without what was erased, or has no repository to go to; of an issue that may be there, it is asked."""
    lost = Q(report__erased_at__isnull=False) | Q(integration__repository_id=None)
    return deliveries.exclude(lost, outcome_unknown_since=None)


def _not_stopped_by_now(pks: Collection[int]) -> DeliveryQuerySet:
    """Those that no operator has stopped since they were read."""
    return Delivery.objects.filter(pk__in=pks).exclude(held_for=Delivery.Cause.OPERATOR)


def check_rate(member: Membership) -> None:
    """Count one press of a member, for one report or many. Raises `rates.RateLimited`."""
    counted.check(member, settings.HUB_ASKING_RATE, "retry", what="attempts to try again")


def obstacle(delivery: Delivery) -> str:
    """Why a member cannot try it again, as a sentence; empty if they can."""
    if delivery.status == Delivery.Status.SENT:
        return "Already delivered."
    if delivery.lead:
        return f"Already delivered: it has joined issue #{delivery.lead.issue_number}."
    if delivery.report.erased_at and not delivery.outcome_unknown_since:
        return ERASED
    if delivery.held_for == Delivery.Cause.OPERATOR:
        return delivery.reason or STOPPED_BY_OPERATOR
    if delivery.held_for == Delivery.Cause.DISCARDED:
        return DISCARDED
    cause, reason = delivery.integration.stop
    if cause in (Delivery.Cause.PAUSE, Delivery.Cause.RIGHTS):
        return reason
    if delivery.integration.repository_id is None and not delivery.outcome_unknown_since:
        return NO_REPOSITORY
    return ""


def try_all_again(deliveries: DeliveryQuerySet) -> int:
    """Requeue all that are held, failed or waiting, except discarded ones; returns how many. For operators.

    Not what can never be sent. They are tried now for as long as `ACTION_TIMEOUT` lasts; `maintain` does the
    rest.
    """
    ids = list(_possible(deliveries).undelivered().values_list("report_id", flat=True))
    for some in batches.of(ids):
        Delivery.objects.filter(report__in=some).requeue()
    until = time.monotonic() + ACTION_TIMEOUT
    first = ids[: batches.AT_ONCE]  # more than are tried in that time
    retries.retry(first, go_on=lambda: time.monotonic() < until)
    return len(ids)


def stop_all(deliveries: QuerySet[Delivery]) -> int:
    """Hold what is waiting until an operator retries it; returns how many. For operators."""
    waiting = Delivery.objects.filter(pk__in=deliveries.values("pk")).waiting()
    pks = list(waiting.values_list("pk", flat=True))
    return sum(Delivery.objects.filter(pk__in=some).change(_stop) for some in batches.of(pks))


def _stop(some: DeliveryQuerySet) -> int:
    return some.hold(Delivery.Cause.OPERATOR, STOPPED_BY_OPERATOR)
