"""Stopping what GitHub would not take, and letting it go on when it does."""

from datetime import timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from core import clock
from integrations.delivery import withholding
from integrations.models import Delivery, Installation, Integration
from integrations.models.integration import NO_RIGHTS, PAUSED, IntegrationQuerySet
from orgs.models.domain import GRACE

PROBE_EVERY = timedelta(hours=1)
NO_REPOSITORY = "No repository is chosen. Choose one to go on."


@transaction.atomic
def block(integration: Integration, problem: str) -> None:
    """GitHub takes nothing in this repository, for the reason given in words."""
    _stop(Integration.objects.filter(pk=integration.pk), problem)


@transaction.atomic
def suspend(installation: Installation, problem: str) -> None:
    """GitHub takes nothing from this installation."""
    Installation.objects.filter(pk=installation.pk).update(suspended_at=clock.now())
    _stop(Integration.objects.filter(installation=installation), problem)


@transaction.atomic
def unblock(integration: Integration) -> None:
    """GitHub takes issues here again, as far as is known: what was held goes on, in order and paced."""
    _let_go(Integration.objects.filter(pk=integration.pk))


@transaction.atomic
def unsuspend(installation: Installation) -> None:
    """The same for all of an installation."""
    Installation.objects.filter(pk=installation.pk).update(suspended_at=None)
    _let_go(Integration.objects.filter(installation=installation))


@transaction.atomic
def pause(integration: Integration) -> None:
    """A member lets nothing be sent: what waits is held, and so is what comes in meanwhile."""
    mine = Integration.objects.filter(pk=integration.pk, paused_at=None)
    if mine.update(paused_at=clock.now()):
        integration.deliveries.hold(Delivery.Cause.PAUSE, PAUSED)


@transaction.atomic
def resume(integration: Integration) -> int:
    """The pause is over: what it held is sent, in order and paced; how many."""
    Integration.objects.filter(pk=integration.pk).update(paused_at=None)
    return integration.deliveries.release(Delivery.Cause.PAUSE)


@transaction.atomic
def record_push_access_missing(integration: Integration) -> None:
    """A look found no member with push right: with the third over a day, nothing is sent any more."""
    if integration.record_right_missing():
        integration.deliveries.hold(Delivery.Cause.RIGHTS, NO_RIGHTS)
        integration.organization.tell(
            f"No member of your organization has push right in {integration.repository} any more, "
            "so nothing is sent there. It goes on when a member who has it presses Try again. After "
            f"{GRACE.days} days the sites that it publishes are not claimed any more."
        )


@transaction.atomic
def record_push_access_found(integration: Integration, github_id: int) -> None:
    """A member has push right: what was held for want of it goes on, in order and paced.

    What was withheld is read again, each time, since some may have come in just before the last.
    """
    were_lost = integration.rights_lost_at
    integration.record_right_found(github_id)
    withholding.end(integration)
    if were_lost:
        integration.deliveries.release(Delivery.Cause.RIGHTS)


def probe() -> int:
    """Set one held delivery free in each integration that is due to be tried again; how many.

    What becomes of it tells whether the rest may go. The next probe is an hour away, whatever
    comes of this one. What a pause has left behind, since it was held just when the pause ended,
    goes on too, and so does what was left behind when a right came back.
    """
    probed = 0
    for cause in (Delivery.Cause.PAUSE, Delivery.Cause.RIGHTS):
        left_behind = with_some_held(cause)
        probed += sum(integration.deliveries.release(cause) for integration in left_behind)
    for integration in _due_for_probe():
        with transaction.atomic():
            integration.put_off_probe(PROBE_EVERY)
            held = integration.deliveries.held(Delivery.Cause.INTEGRATION)
            if oldest := held.order_by("pk").first():
                probed += held.filter(pk=oldest.pk).release(Delivery.Cause.INTEGRATION)
    return probed


def _due_for_probe() -> IntegrationQuerySet:
    """Those whose hour has come, and those that hold deliveries without an hour to try them."""
    forgotten = Q(pk__in=with_some_held(Delivery.Cause.INTEGRATION), probe_at__isnull=True)
    return Integration.objects.running().filter(Q(probe_at__lte=clock.now()) | forgotten)


def with_some_held(cause: Delivery.Cause) -> IntegrationQuerySet:
    """The running integrations that hold deliveries for this cause, without reading what is held."""
    held = Delivery.objects.held(cause).filter(integration=OuterRef("pk"))
    return Integration.objects.running().filter(Exists(held))


def _stop(integrations: IntegrationQuerySet, problem: str) -> None:
    integrations.update(problem=problem, probe_at=clock.now() + PROBE_EVERY)
    deliveries = Delivery.objects.filter(integration__in=integrations)
    deliveries.hold(Delivery.Cause.INTEGRATION, problem)


def _let_go(integrations: IntegrationQuerySet) -> None:
    integrations.update(problem="", probe_at=None)
    deliveries = Delivery.objects.filter(integration__in=integrations.configured())
    deliveries.release(Delivery.Cause.INTEGRATION)
