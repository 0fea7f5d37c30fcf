"""Holds and releases all deliveries of an integration: GitHub refuses, a member pauses, push access is lost.

The integration is changed first. When that is committed its deliveries follow in short transactions:
`batches.AT_ONCE` of them here, and the rest in `catching_up`. Forwarding checks the integration before it
sends anything.
"""

from collections.abc import Callable
from datetime import timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from core import after_commit, batches, clock
from integrations.delivery import withholding
from integrations.models import Delivery, Installation, Integration
from integrations.models.delivery import DeliveryQuerySet
from integrations.models.integration import IntegrationQuerySet
from orgs.models import Notice
from orgs.models.domain import GRACE

PROBE_EVERY = timedelta(hours=1)
PROBES = 100  # integrations that are read at a time
SUSPENDED = (  # how a problem begins that ends with a suspension: as told by GitHub's news, and by a refusal
    Q(problem__startswith="The app was suspended on ")
    | Q(problem__startswith="The app is suspended or no longer installed")
)
NO_REPOSITORY = "No repository is chosen. Choose one to resume."


def block(integration: Integration, problem: str) -> bool:
    """Hold an integration's deliveries because GitHub refuses all issues in its repository.

    Whether it did so: not if another repository was chosen since the integration was read.
    """
    return _stop(
        Integration.objects.filter(pk=integration.pk, repository_id=integration.repository_id),
        problem,
    )


@transaction.atomic
def suspend(installation: Installation, problem: str, *, for_good: bool = False) -> None:
    """Hold everything of one installation, for the reason given.

    An integration with another problem keeps that, which may outlast the suspension; not if this is `for_good`.
    """
    installation.note_suspended()
    mine = Integration.objects.filter(installation=installation).lock()
    _note(mine if for_good else mine.filter(Q(problem="") | SUSPENDED), problem)
    _hold_waiting(mine, problem)


def unblock(integration: Integration) -> None:
    """Release what was held for the repository, in order and at the usual pace.

    Not if something else stops it, or another one was chosen, since the integration was read.
    """
    known = {"installation": integration.installation_id, "problem": integration.problem}
    same = Integration.objects.filter(repository_id=integration.repository_id, **known)
    if same.filter(pk=integration.pk).update(problem="", probe_at=None):
        release(integration, Delivery.Cause.INTEGRATION)


@transaction.atomic
def unsuspend(installation: Installation) -> None:
    """Release what was held because it was suspended. Another problem stays until GitHub is asked about it."""
    Installation.objects.filter(pk=installation.pk).update(suspended_at=None)
    mine = Integration.objects.filter(installation=installation).lock()
    suspended = [*mine.filter(SUSPENDED).values_list("pk", flat=True)]
    _let_go(Integration.objects.filter(pk__in=suspended))


def why_stopped(integration: Integration) -> str:
    """Why nothing is sent now, also if no repository is chosen, as a sentence; empty if nothing stops it."""
    return integration.why_silent or ("" if integration.repository_id else NO_REPOSITORY)


def pause(integration: Integration) -> None:
    """Stop sending on a member's request: what is waiting is held, and so is what arrives."""
    mine = Integration.objects.filter(pk=integration.pk, paused_at=None)
    if mine.update(paused_at=clock.now()):
        follow(integration.deliveries.waiting(), DeliveryQuerySet.hold_stopped)


def resume(integration: Integration) -> int:
    """End the pause: what it held is sent, in order and at the usual pace; returns how many wait now."""
    Integration.objects.filter(pk=integration.pk).update(paused_at=None)
    release(integration, Delivery.Cause.PAUSE)
    still_held = integration.deliveries.held(Delivery.Cause.PAUSE)
    return integration.deliveries.waiting().count() + still_held.count()


@transaction.atomic
def record_push_access_missing(integration: Integration) -> None:
    """Note that no member has push access; with the third time over a day, sending stops."""
    if integration.record_right_missing():
        follow(integration.deliveries.waiting(), DeliveryQuerySet.hold_stopped)
        integration.organization.tell(
            Notice.Kind.RIGHTS,
            f"No member of your organization has push access to {integration.repository} any more, "
            "so nothing is sent there. A member who has it can press Try again to resume. After "
            f"{GRACE.days} days your claims of the sites that it publishes lapse.",
        )


@transaction.atomic
def record_push_access_found(integration: Integration, github_id: int) -> None:
    """Note that a member has push access, and release what was held because nobody had it.

    What was withheld can be read again. This is done each time, since some may have arrived just before.
    """
    were_lost = integration.rights_lost_at
    integration.record_right_found(github_id)
    after_commit.do(withholding.end, integration)
    if were_lost:
        release(integration, Delivery.Cause.RIGHTS)


def probe(go_on: Callable[[], bool] = lambda: True) -> int:
    """Release one held delivery of each integration that is due for another try; returns how many.

    Its result decides whether the others are released. The next probe is an hour later, whatever the
    result. Ends once `go_on` returns False.
    """
    probed = 0
    while some := list(_due_for_probe().order_by("probe_at", "pk")[:PROBES]):
        for integration in some:
            if not go_on():
                return probed
            probed += _probe(integration)
    return probed


@transaction.atomic
def _probe(integration: Integration) -> int:
    integration.postpone_probe(PROBE_EVERY)
    held = integration.deliveries.held(Delivery.Cause.INTEGRATION)
    oldest = held.order_by("pk").first()
    return held.filter(pk=oldest.pk).release(Delivery.Cause.INTEGRATION) if oldest else 0


def release(integration: Integration, cause: Delivery.Cause) -> None:
    """Release what the integration holds for this cause."""
    follow(integration.deliveries.held(cause), lambda some: some.release(cause))


def follow(deliveries: DeliveryQuerySet, change: Callable[[DeliveryQuerySet], int]) -> None:
    """Apply `change` to the first `AT_ONCE` of them after the commit; `catching_up` does the rest."""

    def in_batches() -> None:
        changed = (some.change(change) for some in deliveries.in_batches())
        sum(batches.at_leisure(lambda: True, changed))

    after_commit.do(in_batches)


def _due_for_probe() -> IntegrationQuerySet:
    """Integrations whose probe is due, and those that hold deliveries without a time for a probe."""
    forgotten = Q(pk__in=with_some_held(), probe_at__isnull=True)
    due = Integration.objects.running().filter(Q(probe_at__lte=clock.now()) | forgotten)
    return due.exclude(problem="")  # without a problem all are released, not one


def with_some_held() -> IntegrationQuerySet:
    """The running integrations that hold deliveries because of a problem, without reading those."""
    held = Delivery.objects.held(Delivery.Cause.INTEGRATION).filter(integration=OuterRef("pk"))
    return Integration.objects.running().filter(Exists(held))


def _stop(integrations: IntegrationQuerySet, problem: str) -> bool:
    """Hold what is waiting; if that is more than one batch, the next refusal of GitHub holds as many more.

    Whether there was an integration to stop.
    """
    if not _note(integrations, problem):
        return False
    _hold_waiting(integrations, problem)
    return True


def _note(integrations: IntegrationQuerySet, problem: str) -> int:
    return integrations.update(problem=problem, probe_at=clock.now() + PROBE_EVERY)


def _hold_waiting(integrations: IntegrationQuerySet, problem: str) -> None:
    deliveries = Delivery.objects.filter(integration__in=integrations)
    follow(deliveries.waiting(), lambda some: some.hold(Delivery.Cause.INTEGRATION, problem))


def _let_go(integrations: IntegrationQuerySet) -> None:
    integrations.update(problem="", probe_at=None)
    deliveries = Delivery.objects.filter(integration__in=integrations.configured())
    cause = Delivery.Cause.INTEGRATION
    follow(deliveries.held(cause), lambda some: some.release(cause))
