"""Queries over deliveries, and changes to many at once."""

from collections.abc import Collection, Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.db import models, transaction
from django.db.models import Case, Exists, ExpressionWrapper, F, OuterRef, Q, Subquery, When
from django.db.models.functions import Coalesce

from core import batches, clock
from integrations.models.integration import Integration
from reports.models import Report

if TYPE_CHECKING:
    from integrations.models.delivery import Delivery

LEASE = timedelta(seconds=60)
MAY_OVERTAKE = timedelta(seconds=5)  # a delivery may overtake one that is due since less than this
DISCARDED = "A member has discarded this report, so it is not sent. Restore it to send it."
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
    """A column that SQLite must not use to look up rows, because the index by turn has them in order.

    https://www.sqlite.org/optoverview.html#disqualifying_where_clause_terms_using_unary_
    """

    template = "%(expressions)s"
    output_field = models.DateTimeField()

    def as_sqlite(self, compiler, connection, **context):
        """The column with a unary plus, which SQLite does not look up in an index."""
        return self.as_sql(compiler, connection, template="+%(expressions)s", **context)


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    """Queries over deliveries."""

    def create_for(self, report: Report) -> bool:
        """Create the one delivery of a report whose page is claimed; True if this call created it.

        The report is withheld if the integration has lost push access to its repository.
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

    def in_batches(self) -> Iterator["DeliveryQuerySet"]:
        """The first `AT_ONCE` of one integration, by turn, in batches of `BATCH`."""
        ordered = self.order_by("turn", "due_at", "pk").values_list("pk", flat=True)
        for some in batches.of(list(ordered[: batches.AT_ONCE])):
            yield self.model.objects.filter(pk__in=some)

    def waiting(self):
        """Those that wait to be sent."""
        return self.filter(status=self.model.Status.PENDING)

    def in_state(self, state: str):
        """Those with this `state`."""
        if state == self.model.Cause.DISCARDED:
            return self.held(self.model.Cause.DISCARDED)
        return self.filter(status=state).exclude(held_for=self.model.Cause.DISCARDED)

    def undelivered(self):
        """Those still to be delivered: neither sent nor discarded."""
        known = self.exclude(status=self.model.Status.SENT)
        return known.exclude(held_for=self.model.Cause.DISCARDED)

    def held(self, cause: "Delivery.Cause"):
        """Those held for this cause."""
        return self.filter(status=self.model.Status.HELD, held_for=cause)

    def hold(self, cause: "Delivery.Cause", reason: str) -> int:
        """Hold those that wait, until the cause is gone; returns how many."""
        return self.waiting().update(
            status=self.model.Status.HELD, held_for=cause, reason=reason, trying_since=None
        )

    def hold_stopped(self) -> int:
        """Hold what waits if a pause or missing push access stops its integration; returns how many."""
        return self.waiting()._hold_again({"", self.model.Cause.INTEGRATION})

    def hold_instead(self, cause: "Delivery.Cause", now: "Delivery.Cause", reason: str) -> int:
        """Change the cause of held ones from `cause` to `now`; returns how many."""
        return self.held(cause).update(held_for=now, reason=reason)

    def release(self, cause: "Delivery.Cause") -> int:
        """Release those held for this cause, in the order in which they arrived; returns how many.

        If its integration sends nothing, a delivery stays held, now for that reason. Those held for a
        problem are released even if one remains: the first that gets through ends it.
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
        """Change the cause of held ones to what stops their integration, unless it is `ignored`; returns how many.

        Uses subqueries for the integrations: with a join, PostgreSQL would not look at the row again after
        waiting for another transaction that changes it.
        """
        stopped = Integration.objects.with_stop().exclude(stopped_by__in=ignored)
        mine = stopped.filter(pk=OuterRef("integration"))
        return self.filter(integration__in=stopped.values("pk")).update(
            status=self.model.Status.HELD,
            held_for=Subquery(mine.values("stopped_by")),
            reason=Subquery(mine.values("why")),
            trying_since=None,
        )

    def requeue(self) -> int:
        """Requeue those that are held, failed or waiting, as if they were new; returns how many.

        Discarded ones stay discarded. If there was no answer from GitHub, that is remembered, and the issue
        is looked for first.
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
        """Those that are unsent, not started, and not held by an operator."""
        causes = self.model.Cause
        stopped = [self.model.Status.HELD, self.model.Status.FAILED]
        mine = self.filter(status__in=stopped).exclude(
            held_for__in=[causes.OPERATOR, causes.DISCARDED]
        )
        return (self.waiting() | mine).filter(outcome_unknown_since=None)

    def discard(self) -> int:
        """Keep those that are discardable from being sent until they are restored; returns how many."""
        return self.discardable().update(
            status=self.model.Status.HELD,
            held_for=self.model.Cause.DISCARDED,
            reason=DISCARDED,
            trying_since=None,
            **UNSENT,
        )

    def restore(self) -> int:
        """Requeue discarded ones, or hold them if their integration sends nothing; returns how many."""
        discarded = self.held(self.model.Cause.DISCARDED)
        with transaction.atomic():
            held = discarded._hold_again([""])
            return held + discarded.release(self.model.Cause.DISCARDED)

    def takeable(self):
        """Those that may be tried: not started, or started by a process whose lease has expired."""
        return self.filter(
            Q(status=self.model.Status.PENDING)
            | Q(status=self.model.Status.SENDING, lease_until__lt=clock.now())
        )

    def due(self):
        """Those to be tried now, if their installation is not limited."""
        due = self.takeable().filter(due_at__lte=clock.now())
        return due.exclude(integration__installation__limited_until__gt=clock.now())

    def in_turn(self):
        """Those that are due: every source's first one before anybody's second, oldest first."""
        waiting = self.waiting().alias(due=ByTurn("due_at"))
        return waiting.filter(due__lte=clock.now()).order_by("turn", "due_at", "pk")

    def abandoned(self):
        """Those whose lease has expired in the process that started them."""
        return self.due().filter(status=self.model.Status.SENDING).order_by("due_at", "pk")

    def has_older_waiting(self, report_id: str) -> bool:
        """Whether deliveries of the same installation with no later turn were waiting before it arrived."""
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
        """Claim a delivery for one attempt; None if it cannot be claimed.

        One conditional UPDATE decides between all processes that try. If a lease expired after the delivery
        had saved what it sends, it is unknown whether the issue was created.
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
                due_at=clock.now(),  # otherwise a killed process would be waited for
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
