"""Questions over deliveries, and what happens to many at once."""

from collections.abc import Collection
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.db import models, transaction
from django.db.models import Case, Exists, ExpressionWrapper, F, OuterRef, Q, Subquery, When
from django.db.models.functions import Coalesce

from core import clock
from integrations.models.integration import Integration
from reports.models import Report

if TYPE_CHECKING:
    from integrations.models.delivery import Delivery

LEASE = timedelta(seconds=60)
MAY_OVERTAKE = timedelta(seconds=5)  # by so much one may overtake another that is about to be sent
DISCARDED = "A member has discarded it, so it is not sent. Restore puts it on its way again."
# `Delivery.state`, for queries
STATE = Case(When(held_for="discarded", then=F("held_for")), default=F("status"))
UNSENT: dict[str, Any] = {
    "repository_id": None,
    "posted_at": None,
    "repository": "",
    "title": "",
    "body": "",
}


class ByTurn(models.Func):
    """A column by which SQLite is not to look for rows, since the index by turn has them in order.

    https://www.sqlite.org/optoverview.html#disqualifying_where_clause_terms_using_unary_
    """

    template = "%(expressions)s"
    output_field = models.DateTimeField()

    def as_sqlite(self, compiler, connection, **context):
        return self.as_sql(compiler, connection, template="+%(expressions)s", **context)


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    def create_for(self, report: Report) -> bool:
        """Give a matched report its one delivery; True where this call made it.

        It is withheld where the integration has lost the right to its page.
        """
        if report.organization_id is None:
            return False
        configured = Integration.objects.configured().filter(organization=report.organization_id)
        before = self.filter(integration=OuterRef("pk"), source=report.source).order_by("-turn")
        known = configured.annotate(turn=Coalesce(Subquery(before.values("turn")[:1]) + 1, 0))
        target = known.exclude(Exists(self.filter(report=report))).first()
        if target is None:
            return False
        needed = target.repository_id if target.withholds(report.canonical_url) else None
        if report.withheld_for != needed:
            report.withhold(needed)
        defaults: dict[str, Any] = {"integration": target}
        if report.source:
            defaults |= {"source": report.source, "turn": target.turn}
        cause, reason = target.stop
        if cause:
            defaults |= {"status": self.model.Status.HELD, "held_for": cause, "reason": reason}
        return self.get_or_create(report=report, defaults=defaults)[1]

    def waiting(self):
        return self.filter(status=self.model.Status.PENDING)

    def in_state(self, state: str):
        """Those whose `state` this is."""
        if state == self.model.Cause.DISCARDED:
            return self.held(self.model.Cause.DISCARDED)
        return self.filter(status=state).exclude(held_for=self.model.Cause.DISCARDED)

    def undelivered(self):
        """What is to arrive and has not: neither sent nor discarded."""
        known = self.exclude(status=self.model.Status.SENT)
        return known.exclude(held_for=self.model.Cause.DISCARDED)

    def held(self, cause: "Delivery.Cause"):
        return self.filter(status=self.model.Status.HELD, held_for=cause)

    def hold(self, cause: "Delivery.Cause", reason: str) -> int:
        """Stop what is waiting, until the cause is gone."""
        return self.waiting().update(
            status=self.model.Status.HELD, held_for=cause, reason=reason, trying_since=None
        )

    def release(self, cause: "Delivery.Cause") -> int:
        """Set what was held on its way again, in the order in which it came; how many.

        Where its integration sends nothing, it stays held, for that from now on. A problem is no
        reason to stay for what is held for one: it ends with the first that goes through.
        """
        ignored = {"", cause} & {"", self.model.Cause.INTEGRATION}
        self.held(cause)._hold_again(ignored)
        free = Integration.objects.with_stop().filter(stopped_by__in=ignored)
        return (
            self.held(cause)
            .filter(integration__in=free.values("pk"))
            .update(status=self.model.Status.PENDING, held_for="", reason="", due_at=clock.now())
        )

    def _hold_again(self, ignored: Collection[str]) -> int:
        """Hold for what stops its integration, unless that is `ignored`, what is held; how many.

        Asks for integrations by queries of their own: with a join, PostgreSQL would not look at
        the row again after it has waited for whoever changes it at the same moment.
        """
        stopped = Integration.objects.with_stop().exclude(stopped_by__in=ignored)
        mine = stopped.filter(pk=OuterRef("integration"))
        return self.filter(integration__in=stopped.values("pk")).update(
            held_for=Subquery(mine.values("stopped_by")), reason=Subquery(mine.values("why"))
        )

    def requeue(self) -> int:
        """What was held or has failed is on its way as if it had just come; how many.

        What waits is due now, and what was discarded stays so. Where GitHub's answer was lost, it
        stays lost, and the issue is looked for first.
        """
        stopped = self.filter(status__in=[self.model.Status.HELD, self.model.Status.FAILED])
        stopped = stopped.exclude(held_for=self.model.Cause.DISCARDED)
        anew = {
            "status": self.model.Status.PENDING,
            "held_for": "",
            "reason": "",
            "due_at": clock.now(),
            "trying_since": None,
        }
        with transaction.atomic():
            self.waiting().filter(due_at__gt=clock.now()).update(due_at=clock.now())
            known = stopped.filter(outcome_unknown_since=None).update(**anew, **UNSENT)
            return known + stopped.update(**anew)

    def discardable(self):
        """Not sent, not begun, and not stopped by somebody else than a member."""
        causes = self.model.Cause
        stopped = [self.model.Status.HELD, self.model.Status.FAILED]
        mine = self.filter(status__in=stopped).exclude(
            held_for__in=[causes.OPERATOR, causes.DISCARDED]
        )
        return (self.waiting() | mine).filter(outcome_unknown_since=None)

    def discard(self) -> int:
        """Keep what is discardable from ever being sent, until it is restored; how many."""
        return self.discardable().update(
            status=self.model.Status.HELD,
            held_for=self.model.Cause.DISCARDED,
            reason=DISCARDED,
            trying_since=None,
            **UNSENT,
        )

    def restore(self) -> int:
        """What was discarded is on its way again, or held where its integration sends nothing; how many."""
        discarded = self.held(self.model.Cause.DISCARDED)
        with transaction.atomic():
            held = discarded._hold_again([""])
            return held + discarded.release(self.model.Cause.DISCARDED)

    def takeable(self):
        """Free to be tried: not begun, or begun by a process that has let its lease run out."""
        return self.filter(
            Q(status=self.model.Status.PENDING)
            | Q(status=self.model.Status.SENDING, lease_until__lt=clock.now())
        )

    def due(self):
        """What is to be tried now, where its installation may be asked."""
        due = self.takeable().filter(due_at__lte=clock.now())
        return due.exclude(integration__installation__limited_until__gt=clock.now())

    def in_turn(self):
        """What waits and is due: of every source its first before anybody's second, oldest first."""
        waiting = self.waiting().alias(due=ByTurn("due_at"))
        return waiting.filter(due__lte=clock.now()).order_by("turn", "due_at", "pk")

    def abandoned(self):
        """What is due since the process that began it has let its lease run out."""
        return self.due().filter(status=self.model.Status.SENDING).order_by("due_at", "pk")

    def has_older_waiting(self, report_id: str) -> bool:
        """Whether deliveries of the same installation, whose turn is not later, wait since before it came."""
        newcomer = self.filter(report=report_id)
        came_at = Subquery(newcomer.values("created_at"))
        return (
            self.waiting()
            .filter(
                turn__lte=Subquery(newcomer.values("turn")),
                due_at__lt=ExpressionWrapper(came_at - MAY_OVERTAKE, models.DateTimeField()),
                integration__installation__in=newcomer.values("integration__installation"),
            )
            .exists()
        )

    def take(self, report_id: str) -> "Delivery | None":
        """Take a delivery for one attempt, or None where there is nothing to take.

        One conditional UPDATE decides between all who try. Where a lease ran out after the
        delivery had recorded what it sends, nobody knows whether the issue was made.
        """
        claimed = (
            self.takeable()
            .filter(report=report_id)
            .update(
                outcome_unknown_since=Case(
                    When(
                        status=self.model.Status.SENDING,
                        then=Coalesce("outcome_unknown_since", "posted_at"),
                    ),
                    default=F("outcome_unknown_since"),
                ),
                status=self.model.Status.SENDING,
                lease_until=clock.now() + LEASE,
                due_at=clock.now(),  # or a process that is killed would be waited for
                trying_since=Coalesce("trying_since", clock.now()),
                last_tried_at=clock.now(),
                tries=F("tries") + 1,
            )
        )
        if not claimed:
            return None
        delivery = self.select_related("report", "integration__installation").get(report=report_id)
        delivery.begin_attempt()
        return delivery
