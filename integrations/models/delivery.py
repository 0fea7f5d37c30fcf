"""The delivery of a report as an issue."""

import random
from collections.abc import Callable, Collection, Iterator
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import Any, Self, cast

from django.db import connection, models, transaction
from django.db.models import (
    Case,
    ExpressionWrapper,
    F,
    OuterRef,
    Prefetch,
    Q,
    Subquery,
    Value,
    When,
)
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce, Now, NullIf, Upper
from django.db.models.lookups import Exact
from django.utils.functional import cached_property

from core import batches, clock, prepared
from core.unindexed import Unindexed
from integrations.models.attempt import KEPT, Attempt
from integrations.models.hold import Hold
from integrations.models.integration import FULL_NAME, Installation, Integration, Repository
from integrations.models.statements import (
    ANSWER_COLUMNS,
    END_ATTEMPT,
    LEAD_COLUMNS,
    OLDER,
    ON_HOLD,
    OUTCOME,
    OUTCOME_COLUMNS,
    RECEIVER_COLUMNS,
    RECORD,
    SUCCEED,
    TAKE,
    TARGET,
    TARGET_COLUMNS,
)
from reports.models import Report

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
UNFOLDED: dict[str, Any] = {
    "lead": None,
    "folded_at": None,
    "folded_by": "",
    "likeness_rule": None,
    "likeness_words": "",
}
DELIVERED = ("sent", "folded")  # the statuses of those that are done
DISMISSED = ("not_planned", "duplicate")  # an issue is closed as: nobody is told of what joins it
FOLLOWS_ITS_INTEGRATION = 0  # as the repository of what is looked for wherever its issue goes now
# Not `Delivery.is_withheld_elsewhere`, for queries
READABLE_THERE = Q(report__withheld_for=None) | Q(
    report__withheld_for=Coalesce(
        NullIf("repository_id", FOLLOWS_ITS_INTEGRATION), "integration__repository_id"
    )
)
# Whether its issue, or that of its lead, is in a repository that was left for another one
LEFT_BEHIND = Q(integration__repository_id__isnull=False) & (
    Q(issue_number__isnull=False) & ~Q(repository_id=F("integration__repository_id"))
    | Q(lead__isnull=False) & ~Q(lead__repository_id=F("integration__repository_id"))
)
SETTLE = timedelta(minutes=2)  # by then, GitHub's list of issues shows a new one
FIRST_WAIT = timedelta(seconds=30)
TRIED_APART = timedelta(minutes=1)  # at least: the pace counts a delivery, not its tries
LONGEST_WAIT = timedelta(hours=1)
GIVE_UP = timedelta(hours=24)
UNTRIED = 3 * LONGEST_WAIT  # after so long the Hub was away, and the day begins anew
ERASED = "Its text was erased."
EARLIER = "earlier"  # the source of what arrived before its page was claimed; no hash looks like it
FORGOTTEN = "-"  # the source of what is older than two days; no hash looks like it


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    """Queries over deliveries."""

    def update(self, **columns: Any) -> int:
        """Update them as Django does. A change of the status or the cause saves its time, too."""
        if not {"status", "held_for"}.isdisjoint(columns):
            columns.setdefault("changed_at", clock.now())
        return super().update(**columns)

    def note_changed(self) -> int:
        """Save that they are not as lists have shown them before; returns how many."""
        return self.update(changed_at=clock.now())

    def create_for(self, report: Report) -> bool:
        """Create the one delivery of a report whose page is claimed; True if this call created it.

        The report is withheld if the integration has lost push access to its repository.
        """
        told = (report.canonical_url, report.agent_name, report.source)
        row = TARGET.first(report.source, *told, report.organization_id, report.pk)
        if row is None:
            return False
        *columns, turn, held_by = row
        target = Integration.from_db(self.db, TARGET_COLUMNS, columns)
        needed = target.repository_id if target.withholds(report.canonical_url) else None
        if report.withheld_for != needed:
            report.withhold(needed)
        hold = Hold.objects.filter(pk=held_by).first() if held_by else None
        cause, reason = (self.model.Cause.OPERATOR, hold.words) if hold else target.stop
        status = self.model.Status.HELD if cause else self.model.Status.PENDING
        new = self.model(
            report_id=report.pk,
            integration_id=target.pk,
            status=status,
            held_for=cause,
            reason=reason,
            operator_hold=hold,
        )
        if report.source:
            new.source, new.turn = report.source, turn
        return prepared.insert(new, unique="report") is not None

    def outcome_of(self, report_id: str) -> "Delivery | None":
        """A report's delivery with what its receipt is made from, without the texts that were sent."""
        row = OUTCOME.first(report_id)
        if row is None:
            return None
        left = iter(row)
        own, receiver, lead, answer = (
            [next(left) for _ in columns]
            for columns in (OUTCOME_COLUMNS, RECEIVER_COLUMNS, LEAD_COLUMNS, ANSWER_COLUMNS)
        )
        delivery = self.model.from_db(self.db, OUTCOME_COLUMNS, own)
        delivery.integration = Integration.from_db(self.db, RECEIVER_COLUMNS, receiver)
        if delivery.lead_id:
            delivery.lead = self.model.from_db(self.db, LEAD_COLUMNS, lead)
        delivery.answer_found = None if answer[0] is None else (answer[0], answer[1])
        return delivery

    def in_batches(self) -> Iterator["DeliveryQuerySet"]:
        """The first `AT_ONCE` in the order of sending, in batches; for the deliveries of one integration."""
        ordered = self.order_by("turn", "due_at", "pk").values_list("pk", flat=True)
        for some in batches.of(list(ordered[: batches.AT_ONCE])):
            yield self.model.objects.filter(pk__in=some)

    def lock(self) -> Self:
        """Lock them before several are changed, in one order: first those with an issue, then by ids."""
        is_without = ExpressionWrapper(Q(issue_number=None), models.BooleanField())
        in_order = self.order_by(is_without, "pk")
        list(in_order.select_for_update(no_key=True).values_list("pk"))
        return self

    def change(self, change: "Callable[[DeliveryQuerySet], int]") -> int:
        """Do `change` to them once they are locked; returns what it returns."""
        with transaction.atomic():
            return change(self.lock())

    def waiting(self) -> Self:
        """Those that wait to be sent."""
        return self.filter(status=self.model.Status.PENDING)

    def integrations_waiting(self, *, first: int, most: int) -> list[int]:
        """The ids of integrations with a delivery that waits, from the id `first` on, at most so many.

        Raw SQL, since it jumps from one integration to the next in the index, however much waits for each.
        """
        following = (
            "(SELECT integration_id FROM integrations_delivery WHERE status = 'pending' "
            "AND integration_id >= {} ORDER BY integration_id LIMIT 1)"
        )
        with connection.cursor() as cursor:
            cursor.execute(
                f"WITH RECURSIVE waits(id) AS (SELECT {following.format('%s')} UNION ALL "  # noqa: S608  (no values)
                f"SELECT {following.format('waits.id + 1')} FROM waits WHERE id IS NOT NULL) "
                "SELECT id FROM waits WHERE id IS NOT NULL LIMIT %s",
                [first, most],
            )
            return [row[0] for row in cursor.fetchall()]

    def in_state(self, state: str) -> Self:
        """Those in this state, a status or `discarded`, in the order of an index; for one integration."""
        causes = self.model.Cause
        if state == causes.DISCARDED:
            return self.held(causes.DISCARDED).order_by("held_for")
        if (
            state == self.model.Status.HELD
        ):  # by name, so that the index leaves out the discarded ones
            found = self.filter(held_for__in=sorted({*causes} - {causes.DISCARDED}))
            return found.filter(status=state).order_by("held_for")
        return self.filter(status=state).order_by("turn", "due_at", "pk")

    def undelivered(self) -> Self:
        """Those still to be delivered: neither sent nor folded nor discarded."""
        known = self.exclude(status__in=DELIVERED)
        return known.exclude(held_for=self.model.Cause.DISCARDED)

    def held(self, cause: "Delivery.Cause") -> Self:
        """Those held for this cause."""
        return self.filter(status=self.model.Status.HELD, held_for=cause)

    def hold(self, cause: "Delivery.Cause", reason: str, *, by: Hold | None = None) -> int:
        """Hold those that wait, until the cause is gone; returns how many."""
        return self.waiting().update(
            status=self.model.Status.HELD,
            held_for=cause,
            reason=reason,
            trying_since=None,
            operator_hold=by,
        )

    def on_hold(self, pks: Collection[int]) -> set[int]:
        """Those of them that a hold of an operator matches now, also if they were sent before it was made."""
        return {pk for (pk,) in ON_HOLD.rows(list(pks))}

    def release_from(self, hold: Hold) -> int:
        """Let go what this hold of an operator holds; returns how many wait again. What else holds some stays.

        A pause between the two statements of `release` leaves some as they are, for the next time.
        """
        mine = self.filter(operator_hold=hold)
        released = mine.release(self.model.Cause.OPERATOR)
        held = Q(status=self.model.Status.HELD, held_for=self.model.Cause.OPERATOR)
        mine.exclude(held).update(operator_hold=None)
        return released

    def hold_stopped(self) -> int:
        """Hold what waits if a pause or missing push access stops its integration; returns how many."""
        return self.waiting()._hold_again({"", self.model.Cause.INTEGRATION})

    def hold_instead(self, cause: "Delivery.Cause", now: "Delivery.Cause", reason: str) -> int:
        """Change the cause of held ones from `cause` to `now`; returns how many."""
        return self.held(cause).update(held_for=now, reason=reason)

    def release(self, cause: "Delivery.Cause") -> int:
        """End this hold; returns how many wait again.

        What a member holds and releases as they like is not tried twice within `TRIED_APART`.
        If its integration sends nothing, a delivery stays held, now for that reason. Those held for a
        problem are released even if one remains: the first that gets through ends it.
        """
        causes = self.model.Cause
        due_at = _apart() if cause in (causes.DISCARDED, causes.PAUSE) else clock.now()
        ignored = {"", cause} & {"", causes.INTEGRATION}
        self.held(cause)._hold_again(ignored)
        free = Integration.objects.with_stop().filter(stopped_by__in=ignored)
        return (
            self.held(cause)
            .filter(integration__in=free.values("pk"))
            .update(status=self.model.Status.PENDING, held_for="", reason="", due_at=due_at)
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

    def requeue(self, *, apart: bool = False) -> int:
        """Requeue those that are held, failed or waiting, as if they were new; returns how many.

        Discarded ones stay discarded, and what was erased is sent nowhere. If there was no answer from GitHub,
        that is remembered, and the issue is looked for first. With `apart`, none is tried twice within `TRIED_APART`.
        """
        due_at = _apart() if apart else clock.now()
        anew = {
            "status": self.model.Status.PENDING,
            "held_for": "",
            "reason": "",
            "due_at": due_at,
            "trying_since": None,
        }
        with transaction.atomic():
            # Locked first: whoever erases the text of one just now has done so then.
            mine = self.lock().exclude(report__erased_at__isnull=False, outcome_unknown_since=None)
            stopped = mine.filter(status__in=[self.model.Status.HELD, self.model.Status.FAILED])
            stopped = stopped.exclude(held_for=self.model.Cause.DISCARDED)
            mine.waiting().filter(due_at__gt=clock.now()).update(due_at=due_at)
            known = stopped.filter(outcome_unknown_since=None).update(**anew, **UNSENT)
            return known + stopped.update(**anew)

    def unsent(self) -> Self:
        """Those without an issue of their own or of a lead, also the discarded ones.

        Without what was erased and sent nowhere.
        """
        ended = Q(status=self.model.Status.FAILED, report__erased_at__isnull=False)
        return self.exclude(status__in=DELIVERED).exclude(ended)

    def known_since(self, time: datetime) -> Self:
        """Unsent ones that would not be looked for if their issue was opened after `time`."""
        later = Q(outcome_unknown_since=None) | Q(outcome_unknown_since__gt=time)
        return self.unsent().filter(later)

    def doubt(self, since: datetime) -> int:
        """Have the issues of unsent ones looked for before anything is sent; returns how many.

        They come from a backup that was made at `since`, so they may have been sent after that, until now.
        What they are to say is made anew if they have not.
        """
        mine = Integration.objects.filter(pk=OuterRef("integration"), repository_id__isnull=False)
        there = {
            "repository_id": Coalesce(
                Subquery(mine.values("repository_id")), FOLLOWS_ITS_INTEGRATION
            ),
            "repository": Coalesce(
                Subquery(mine.annotate(full_name=FULL_NAME).values("full_name")), Value("")
            ),
            "repository_private": Coalesce(Subquery(mine.values("repository_private")), True),
        }
        with transaction.atomic():
            known = self.filter(outcome_unknown_since=None)
            known.exclude(status=self.model.Status.SENDING).update(title="", body="")
            self.filter(repository_id=None).update(**there)
            return self.update(posted_at=clock.now(), outcome_unknown_since=since)

    def discardable(self) -> Self:
        """Those that are unsent, not started, and not held by an operator.

        Those that failed may come from a backup: what is not known of them stays so.
        """
        causes = self.model.Cause
        stopped = [self.model.Status.HELD, self.model.Status.FAILED]
        mine = self.filter(status__in=stopped).exclude(
            held_for__in=[causes.OPERATOR, causes.DISCARDED]
        )
        of_a_backup = Q(status=self.model.Status.FAILED, body="")
        return (self.waiting() | mine).filter(Q(outcome_unknown_since=None) | of_a_backup)

    def discard(self) -> int:
        """Keep those that are discardable and have a text from being sent until they are restored; returns how many."""
        discarded = {
            "status": self.model.Status.HELD,
            "held_for": self.model.Cause.DISCARDED,
            "reason": DISCARDED,
            "trying_since": None,
        }
        with transaction.atomic():
            # Locked first: whoever erases the text of one just now has done so then.
            mine = self.lock().discardable().filter(report__erased_at=None)
            known = mine.filter(outcome_unknown_since=None)
            return known.update(**discarded, **UNSENT) + mine.update(**discarded)

    def restore(self) -> int:
        """Requeue discarded ones, or hold them if their integration sends nothing; returns how many."""
        cause = self.model.Cause.DISCARDED
        with transaction.atomic():
            locked = list(self.held(cause).lock().values_list("pk", flat=True))
            discarded = self.model.objects.filter(pk__in=locked).held(cause)
            return discarded._hold_again([""]) + discarded.release(cause)

    def folded(self) -> Self:
        """Those that have joined the issue of a lead."""
        return self.filter(status=self.model.Status.FOLDED)

    def leads(self) -> Self:
        """Those whose issue others may join: it is there, as far as is known."""
        there = self.filter(status=self.model.Status.SENT)
        return there.exclude(issue_state=self.model.IssueState.DELETED)

    def foldable(self) -> Self:
        """Those that nobody is sending, and of which it is known that they have no issue."""
        status = self.model.Status
        still = self.filter(status__in=[status.PENDING, status.HELD, status.FAILED])
        return still.filter(outcome_unknown_since=None, report__erased_at=None)

    def fold_under(self, lead: "Delivery", *, by: str, words: str = "") -> int:
        """Let foldable ones join the issue of `lead`, because a member says so; returns how many."""
        pks = list(self.foldable().values_list("pk", flat=True))
        mine = self.model.objects.filter(pk__in=pks, outcome_unknown_since=None)
        mine = mine.exclude(status__in=[*DELIVERED, self.model.Status.SENDING])
        columns = self.model.joining(lead, None, words, by=by)
        return mine.update(**columns, trying_since=None, operator_hold=None)

    def unfold(self) -> int:
        """Requeue folded ones as if they were new, and end those that were erased; returns how many.

        `folding.joining` tells others.
        """
        ended = {"status": self.model.Status.FAILED, "reason": ERASED}
        anew = {"status": self.model.Status.PENDING, "due_at": clock.now(), "trying_since": None}
        erased = self.folded().filter(report__erased_at__isnull=False)
        with transaction.atomic():
            return erased.update(**ended, **UNFOLDED) + self.folded().update(**anew, **UNFOLDED)

    def takeable(self) -> Self:
        """Those that may be tried: not started, or started by a process whose lease has expired."""
        return self.filter(
            Q(status=self.model.Status.PENDING)
            | Q(status=self.model.Status.SENDING, lease_until__lt=clock.now())
        )

    def due(self) -> Self:
        """Those whose time has come, of installations that GitHub does not limit."""
        due = self.takeable().filter(due_at__lte=clock.now())
        return due.exclude(integration__installation__limited_until__gt=clock.now())

    def in_turn(self) -> Self:
        """Waiting ones whose time has come, in the order of sending: every source's first before a second."""
        waiting = self.waiting().alias(due=Unindexed("due_at"))
        return waiting.filter(due__lte=clock.now()).order_by("turn", "due_at", "pk")

    def abandoned(self) -> Self:
        """Those whose lease has expired in the process that started them."""
        return self.due().filter(status=self.model.Status.SENDING).order_by("due_at", "pk")

    def has_older_waiting(self, report_id: str) -> bool:
        """Whether older deliveries of the same installation have to go before this one.

        Asks by integration, so that the backlog of others is not read.
        """
        return OLDER.first(MAY_OVERTAKE, report_id) is not None

    def with_attempts(self) -> Self:
        """With what `Delivery.shown_attempts` reads, in two queries for all of them."""
        first = Attempt.objects.order_by("number")[:1]
        latest = Attempt.objects.order_by("-number")[: KEPT - 1]
        return self.prefetch_related(
            Prefetch("attempts", first, to_attr="first_attempts"),
            Prefetch("attempts", latest, to_attr="latest_attempts"),
        )

    def take(self, report_id: str) -> "Delivery | None":
        """Claim a delivery for one attempt; None if it cannot be claimed.

        One conditional UPDATE decides between all processes that try. If a lease expired after the delivery
        had saved what it sends, it is unknown whether the issue was created.
        """
        row = TAKE.first(LEASE, UNTRIED, report_id, report_id)
        if row is None:
            return None
        delivery = cast(Delivery, prepared.find(Delivery, "report_id", report_id))
        delivery.report = cast(Report, prepared.find(Report, "id", report_id))
        delivery.integration = mine = cast(
            Integration, prepared.find(Integration, "id", delivery.integration_id)
        )
        mine.installation = cast(
            Installation, prepared.find(Installation, "id", mine.installation_id)
        )
        delivery.hold_found = Hold.objects.filter(pk=row[0]).first() if row[0] else None
        delivery.begin_attempt()
        return delivery


class Delivery(models.Model):
    """The delivery of one report as one issue. Its row is the truth about what was sent."""

    class Status(models.TextChoices):
        """How far the delivery is; docs/architecture.md has a table."""

        PENDING = "pending"
        SENDING = "sending"
        SENT = "sent"
        FOLDED = "folded"  # it joined the issue of its lead
        HELD = "held"
        FAILED = "failed"

    class Cause(models.TextChoices):
        """Why it is held; it is released when the cause is gone."""

        INTEGRATION = "integration"  # GitHub accepts no issues for the integration
        OWNERSHIP = "ownership"  # its page or its text is not the organization's now
        RIGHTS = "rights"  # no member of the organization has push access to the repository
        PAUSE = "pause"  # a member has paused the integration
        OPERATOR = "operator"  # an operator has put it on hold, and releases it
        DISCARDED = "discarded"  # a member does not want it sent, and may restore it

    class IssueState(models.TextChoices):
        """The state of the issue on GitHub."""

        OPEN = "open"
        CLOSED = "closed"
        DELETED = "deleted"

    report = models.OneToOneField(Report, models.CASCADE, related_name="+")
    integration = models.ForeignKey(
        Integration,
        models.CASCADE,
        related_name="deliveries",
        db_index=False,  # several of those below begin with it
    )
    status = models.CharField(max_length=10, choices=Status, default=Status.PENDING)
    held_for = models.CharField(max_length=11, choices=Cause, blank=True)
    reason = models.TextField(blank=True, help_text="Why it has its status, in words.")
    operator_hold = models.ForeignKey(
        Hold,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,  # most have none
        editable=False,
        help_text="The hold of a page, an agent, a source or its organization that holds it, or has held it.",
    )
    created_at = models.DateTimeField(db_default=Now())
    trying_since = models.DateTimeField(
        null=True, blank=True, help_text="When the current run of failed tries began."
    )
    changed_at = models.DateTimeField(
        db_default=Now(),
        help_text="When its status or cause last changed, or its report became readable or got other words.",
    )
    due_at = models.DateTimeField(db_default=Now(), help_text="When to try next.")
    lease_until = models.DateTimeField(null=True, blank=True)
    last_tried_at = models.DateTimeField(null=True, blank=True)
    tries = models.PositiveIntegerField(default=0)
    source = models.CharField(
        max_length=16,
        blank=True,
        editable=False,
        help_text="The sender's network as a keyed hash that changes daily; a hyphen after two days.",
    )
    turn = models.PositiveIntegerField(
        default=0,
        editable=False,
        help_text="How many deliveries from its source came before it that day. The lowest turn goes first.",
    )
    outcome_unknown_since = models.DateTimeField(
        null=True, blank=True, help_text="When an issue was sent without an answer from GitHub."
    )

    # What was sent, and where to: saved before the POST, and kept.
    repository_id = models.BigIntegerField(null=True, blank=True)
    repository = models.CharField(max_length=511, blank=True)
    repository_private = models.BooleanField(default=True)
    posted_at = models.DateTimeField(null=True, blank=True)
    title = models.CharField(max_length=256, blank=True)
    body = models.TextField(blank=True)

    issue_number = models.BigIntegerField(null=True, blank=True)
    issue_url = models.URLField(max_length=500, blank=True)
    issue_state = models.CharField(
        max_length=7,
        choices=IssueState,
        blank=True,
        help_text="As GitHub last reported it; empty: open.",
    )

    issue_state_reason = models.CharField(
        max_length=12,
        blank=True,
        db_default="",
        help_text="Why it is closed: completed, not_planned or duplicate; empty: open, or not known.",
    )
    issue_closed_at = models.DateTimeField(
        null=True, blank=True, help_text="When GitHub says that the issue was closed."
    )
    issue_updated_at = models.DateTimeField(
        null=True, blank=True, help_text="GitHub's time of what is known of the issue."
    )

    # What it is like: the delivery of an earlier report about the same page.
    lead = models.ForeignKey(
        "self",
        models.RESTRICT,
        null=True,
        blank=True,
        related_name="folded",
        db_index=False,
        help_text="The delivery whose issue this one has joined.",
    )
    maybe_lead = models.ForeignKey(
        "self",
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
        help_text="The delivery whose issue its own issue names as maybe the same.",
    )
    follows = models.ForeignKey(
        "self",
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
        help_text="The delivery whose issue was closed before this one was reported again.",
    )
    folded_at = models.DateTimeField(null=True, blank=True)
    folded_by = models.CharField(
        max_length=255,
        blank=True,
        db_default="",
        help_text="The login of the member who said that it is the same; empty: the rule.",
    )
    likeness_rule = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="The version of the rule that found what it is like."
    )
    likeness_words = models.TextField(
        blank=True, db_default="", help_text="What they have in common, in words."
    )

    hold_found: Hold | None = None  # what `take` found: it may not be sent
    answer_found: tuple[str, str] | None = None  # text and link of what `outcome_of` found
    ended_as = ""  # the outcome of the attempt that has just ended here,
    ended_for = ""  # and the cause for which it holds the delivery

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "deliveries"
        indexes = [
            models.Index(fields=["status", "due_at"], name="delivery_due"),
            models.Index(
                fields=["status", "integration", "turn", "due_at", "id"], name="delivery_turn"
            ),
            models.Index(  # the only one for this condition, or PostgreSQL would choose another one
                fields=["integration", "source", "turn", "due_at", "id"],
                name="delivery_turn_of_source",
                condition=Q(Exact(Upper("status"), Value("PENDING"))),
            ),
            models.Index(fields=["integration", "source", "turn"], name="delivery_of_source"),
            models.Index(
                fields=["created_at"],
                name="delivery_with_source",
                condition=~Q(source="") & ~Q(source=FORGOTTEN),
            ),
            models.Index(fields=["integration", "-last_tried_at"], name="delivery_pace"),
            models.Index(  # with the status, or SQLite would choose another one
                fields=["status", "integration", "held_for", "id"],
                name="delivery_held",
                condition=Q(status="held"),
            ),
            models.Index(
                fields=["operator_hold", "id"],
                name="delivery_operator_hold",
                condition=Q(operator_hold__isnull=False),
            ),
            models.Index(
                fields=["lead", "id"], name="delivery_folded", condition=Q(lead__isnull=False)
            ),
            models.Index(
                fields=["lead", "source", "id"],
                name="delivery_folded_of",
                condition=Q(lead__isnull=False),
            ),
            models.Index(
                fields=["lead", "folded_at"],
                name="delivery_folded_at",
                condition=Q(lead__isnull=False),
            ),
            models.Index(
                fields=["maybe_lead"],
                name="delivery_maybe_lead",
                condition=Q(maybe_lead__isnull=False),
            ),
            models.Index(
                fields=["follows"], name="delivery_follows", condition=Q(follows__isnull=False)
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["repository_id", "issue_number"],
                condition=Q(issue_number__isnull=False),
                name="delivery_one_per_issue",
            ),
            models.CheckConstraint(
                condition=~Q(status="sent")
                | Q(issue_number__isnull=False, repository_id__isnull=False),
                name="delivery_sent_has_issue",
            ),
            models.CheckConstraint(
                condition=Q(status="held") & ~Q(held_for="") | ~Q(status="held") & Q(held_for=""),
                name="delivery_held_for_a_cause",
            ),
            models.CheckConstraint(
                condition=~Q(status="sending") | Q(lease_until__isnull=False),
                name="delivery_sending_has_lease",
            ),
            models.CheckConstraint(
                condition=Q(status="folded", lead__isnull=False, folded_at__isnull=False)
                | ~Q(status="folded") & Q(lead__isnull=True),
                name="delivery_folded_has_lead",
            ),
            models.CheckConstraint(
                condition=Q(outcome_unknown_since__isnull=True) | Q(repository_id__isnull=False),
                name="delivery_unknown_has_repository",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.report_id}: {self.status}"

    @property
    def started_at(self) -> datetime:
        """When the current attempt started, by the database's clock."""
        return cast(datetime, self.lease_until) - LEASE

    @property
    def state(self) -> str:
        """The status shown to people: discarded ones are not just held."""
        return self.held_for if self.held_for == self.Cause.DISCARDED else self.status

    @property
    def is_dismissed(self) -> bool:
        """Whether its issue was closed as not planned or as a duplicate."""
        is_closed = self.issue_state == self.IssueState.CLOSED
        return is_closed and self.issue_state_reason in DISMISSED

    def has_target(self) -> bool:
        """Whether it is known which repository the issue goes to."""
        return bool(self.repository_id or self.integration.repository_id)

    @property
    def target(self) -> Repository:
        """The repository that the issue is in, or goes to."""
        installation = self.integration.installation
        if self.repository_id:
            return Repository(installation.github_id, self.repository_id, self.repository)
        target = self.integration
        return Repository(installation.github_id, target.repository_id, target.repository)  # type: ignore[arg-type]

    def arrived_at(self) -> datetime | None:
        """When its issue was opened, or joined; None if it was not, or once its attempts were deleted."""
        if self.status == self.Status.FOLDED:
            return self.folded_at
        arrivals = (Attempt.Outcome.SENT, Attempt.Outcome.ADOPTED)
        last = self.attempts.filter(outcome__in=arrivals).order_by("-number").first()
        return last.ended_at if last else None

    @property
    def with_issue(self) -> "Delivery":
        """The delivery whose issue it is in: that of its lead, or its own."""
        return self.lead if self.lead_id and self.lead else self

    @property
    def issue_url_now(self) -> str:
        """The URL of the issue that it is in, by the present name of its repository if that is known; or empty."""
        there = self.with_issue
        return self.integration.url_now(there.issue_url, there.repository_id)

    @property
    def repository_now(self) -> str:
        """The name of the repository of that issue, likewise."""
        there = self.with_issue
        return self.integration.name_now(there.repository, there.repository_id)

    def public_issue_url(self) -> str | None:
        """The URL of the issue, if anybody may see it."""
        return None if self.with_issue.repository_private else self.issue_url_now or None

    def public_issue_state(self) -> str | None:
        """The state of the issue, if anybody may see it."""
        state = self.with_issue.issue_state or self.IssueState.OPEN
        return state if self.public_issue_url() else None

    def has_settled(self) -> bool:
        """Whether an issue that GitHub did not confirm would be in GitHub's list by now."""
        return self.posted_at is None or self.started_at >= self.posted_at + SETTLE

    def is_of_a_backup(self) -> bool:
        """Whether nothing is known of it but that a Hub before the restored one may have sent it."""
        is_unknown = self.outcome_unknown_since is not None and not self.body
        return is_unknown and not self.report.erased_at  # which has no body either

    def has_left(self) -> bool:
        """Whether the organization's issues no longer go to the repository where it was looked for."""
        return self.repository_id != self.integration.repository_id

    def was_refused_for(self, reason: str) -> bool:
        """Whether the attempt before this one has ended for this reason."""
        refused = self.attempts.filter(outcome=Attempt.Outcome.REFUSED, reason=reason)
        return refused.filter(number=self.tries - 1).exists()

    def begin_attempt(self) -> None:
        """Save that an attempt has started, and end an earlier one that never ended."""
        if self.tries > 1:
            self._latest_attempts().filter(ended_at__isnull=True).update(
                ended_at=clock.now(),
                outcome=Attempt.Outcome.UNKNOWN,
                reason="The process ended before it finished.",
            )
        prepared.insert(Attempt(delivery=self, number=self.tries, started_at=self.started_at))
        if self.tries > KEPT:
            self._forget_attempts()

    def last_joined_at(self) -> datetime | None:
        """When the last that is known joined its issue. They join one after the other: each locks the lead."""
        return self.folded.aggregate(last=models.Max("folded_at"))["last"]

    def shown_attempts(self) -> list[Attempt]:
        """The first attempt and the latest, at most `KEPT`, in their order."""
        return sorted({*self.first_attempts, *self.latest_attempts}, key=attrgetter("number"))

    @cached_property
    def first_attempts(self) -> list[Attempt]:
        """The first attempt, if there is one."""
        return list(self.attempts.order_by("number")[:1])

    @cached_property
    def latest_attempts(self) -> list[Attempt]:
        """The latest attempts that are kept."""
        return list(self.attempts.order_by("-number")[: KEPT - 1])

    def _latest_attempts(self) -> models.QuerySet[Attempt]:
        return self.attempts.filter(number__gt=self.tries - KEPT + 1)

    def _forget_attempts(self) -> None:
        """Delete the oldest that are not kept, a hundred at most: an earlier version kept all of them."""
        between = self.attempts.filter(number__gt=1, number__lte=self.tries - KEPT + 1)
        pks = list(between.order_by("number").values_list("pk", flat=True)[:KEPT])
        Attempt.objects.filter(pk__in=pks).delete()

    def record(
        self,
        title: str,
        body: str,
        *,
        maybe_lead: int | None = None,
        rule: int | None = None,
        words: str = "",
    ) -> None:
        """Save what is about to be sent, where to, and what it is maybe the same as, before the POST."""
        self.repository_id = self.integration.repository_id
        self.repository = self.integration.repository
        self.title, self.body = title, body
        to = (self.repository_id, self.repository, self.integration_id, self.repository_id)
        like = (maybe_lead, rule, words)
        self.maybe_lead_id = maybe_lead
        row = RECORD.first(*to, title, body, *like, self.pk, self.tries)
        if row is None:
            raise LeaseLost(self.report_id)
        self.repository_private = bool(row[0])
        self.posted_at = (
            self.started_at
        )  # close enough; `record_internal_error` only checks that it is set

    def follow(self, lead: int | None) -> None:
        """Save which closed issue its own issue is to name, by the lead's id."""
        self.follows_id = lead
        self._update(follows=lead)

    def record_again(self) -> None:
        """Save that the same text is about to be sent again to the same repository."""
        self._update(posted_at=clock.now())

    def record_target(self) -> None:
        """Save in which repository its issue is looked for: that of the integration."""
        mine = self.integration
        self.repository_id, self.repository = mine.repository_id, mine.repository
        with transaction.atomic():
            same = Integration.objects.filter(pk=mine.pk, repository_id=mine.repository_id)
            now = same.select_for_update(no_key=True).first()  # it may have become private
            self.repository_private = now is None or now.repository_private
            self._update(
                repository_id=self.repository_id,
                repository=self.repository,
                repository_private=self.repository_private,
            )

    def record_text(self, title: str, body: str) -> None:
        """Save the text of an issue that was found."""
        self._update(title=title, body=body)

    def forget_backup(self) -> None:
        """There is no issue of it: from now on it is as if it was new."""
        self.outcome_unknown_since = None
        self._update(outcome_unknown_since=None)

    def succeed(self, number: int, url: str, *, adopted: bool) -> None:
        """The issue exists: just created, or `adopted` if an earlier attempt had created it."""
        outcome = Attempt.Outcome.ADOPTED if adopted else Attempt.Outcome.SENT
        with transaction.atomic():
            if SUCCEED.first(number, url, self.pk) is None:
                raise LeaseLost(self.report_id)
            END_ATTEMPT.first(outcome, "", self.pk, self.tries)
        self.ended_as = outcome

    def fold(self, lead: "Delivery", *, rule: int, words: str) -> bool:
        """Join the issue of `lead`, which does not count against the pace; False if it has none any more.

        `folding.joining` does it, and tells others.
        """
        with transaction.atomic():
            rows = Delivery.objects.leads().filter(pk=lead.pk).select_for_update(no_key=True)
            if rows.values_list("pk").first() is None:
                return False
            columns = Delivery.joining(lead, rule, words)
            self._end(Attempt.Outcome.FOLDED, trying_since=None, last_tried_at=None, **columns)
        return True

    @staticmethod
    def changed_since(time: datetime | None) -> Q:
        """Whether one has come in after `time`, or is not what it was then, for queries. None: it is not so."""
        return Q(changed_at__gt=time or datetime.max.replace(tzinfo=UTC))

    @staticmethod
    def joining(lead: "Delivery", rule: int | None, words: str, *, by: str = "") -> dict[str, Any]:
        """The columns of one that joins the issue of `lead`."""
        return {
            "status": Delivery.Status.FOLDED,
            "held_for": "",
            "reason": "",
            "lead": lead,
            "maybe_lead": None,
            "follows": None,
            "folded_at": clock.now(),
            "folded_by": by,
            "likeness_rule": rule,
            "likeness_words": words,
            **UNSENT,  # what was refused before: it may be sent elsewhere once it leaves
        }

    def record_internal_error(self) -> None:
        """Requeue after an internal error."""
        if self.posted_at:
            self.reconcile_later("Internal error after the issue was sent.")
        else:
            self.postpone("Internal error.")

    def fail(self, reason: str) -> None:
        """End the delivery; only a person can requeue it."""
        self._end(Attempt.Outcome.REFUSED, status=self.Status.FAILED, reason=reason)

    def end_erased(self) -> None:
        """End the delivery of an erased report that never became an issue."""
        outcome = Attempt.Outcome.REFUSED
        self._end(outcome, status=self.Status.FAILED, reason=ERASED, outcome_unknown_since=None)

    def hold(self, cause: "Delivery.Cause", reason: str, *, by: Hold | None = None) -> None:
        """Stop until the cause is gone."""
        self._end(
            Attempt.Outcome.HELD,
            status=self.Status.HELD,
            held_for=cause,
            reason=reason,
            trying_since=None,
            operator_hold=by,
            **self._unsent(),
        )

    def is_withheld_elsewhere(self) -> bool:
        """Whether it came in while no member had push access, and that was to another repository than it goes to."""
        there = self.repository_id or self.integration.repository_id
        return self.report.withheld_for not in (None, there)

    def hold_before_sending(
        self, cause: "Delivery.Cause", reason: str, *, by: Hold | None = None
    ) -> None:
        """Stop before GitHub was called, which does not count against the pace."""
        with transaction.atomic():
            self._update(last_tried_at=None)
            self.hold(cause, reason, by=by)

    def wait(self, reason: str, duration: timedelta) -> None:
        """Try again after `duration`; this does not count towards the 24 hours after which it gives up."""
        self._try_later(
            Attempt.Outcome.LATER, reason, duration, trying_since=None, **self._unsent()
        )

    def wait_before_sending(self, reason: str, duration: timedelta) -> None:
        """The same before GitHub was called, which does not count against the pace."""
        with transaction.atomic():
            self._update(last_tried_at=None)
            self.wait(reason, duration)

    def postpone(self, reason: str) -> None:
        """Try again with growing waits; gives up after 24 hours."""
        self._try_later(Attempt.Outcome.LATER, reason, self._backoff(), **self._unsent())

    def reconcile_later(self, reason: str) -> None:
        """There was no answer to the POST: look for the issue before anything is sent again."""
        unknown_since = Coalesce("outcome_unknown_since", "posted_at")
        self._try_later(
            Attempt.Outcome.UNKNOWN, reason, self._backoff(), outcome_unknown_since=unknown_since
        )

    def recheck_later(self) -> None:
        """Look again once `SETTLE` has passed: before that, a missing issue proves nothing."""
        self._end(
            Attempt.Outcome.UNKNOWN,
            status=self.Status.PENDING,
            reason="It is not known yet whether GitHub opened the issue.",
            due_at=F("posted_at") + SETTLE,
        )

    def look_there(self) -> None:
        """Its issue is not where it was looked for; look where issues go now before one is opened there."""
        self._end(
            Attempt.Outcome.UNKNOWN,
            status=self.Status.PENDING,
            reason=f"Its issue is not in {self.repository}; the Hub looks in the next repository.",
            repository_id=FOLLOWS_ITS_INTEGRATION,
            repository="",
            due_at=clock.now(),
        )

    def look_on(self, reason: str, since: datetime) -> None:
        """There was too much to look through: go on with what was updated since then."""
        outcome = Attempt.Outcome.UNKNOWN
        self._try_later(outcome, reason, FIRST_WAIT, trying_since=None, outcome_unknown_since=since)

    def forget_text(self) -> None:
        """Erase the text of the delivery, also for an attempt in progress.

        What was not sent fails; what has joined an issue stays there. If an issue may have been created, or
        is being created right now, it is looked for, and nothing is sent again.
        """
        mine = Delivery.objects.filter(pk=self.pk)
        mine.update(title="", body="", likeness_words="")
        for told in (self.attempts.all(), mine.exclude(status__in=DELIVERED)):
            told.exclude(reason="").update(reason=ERASED)  # GitHub may have repeated a word
        mine.filter(status=self.Status.SENDING, posted_at__isnull=False).update(
            status=self.Status.PENDING,
            outcome_unknown_since=Coalesce("outcome_unknown_since", "posted_at"),
            lease_until=None,
        )
        unsent = mine.exclude(status__in=DELIVERED).filter(outcome_unknown_since=None)
        if unsent.update(status=self.Status.FAILED, held_for="", reason=ERASED, lease_until=None):
            self._latest_attempts().filter(ended_at=None).update(
                ended_at=clock.now(), outcome=Attempt.Outcome.REFUSED, reason=ERASED
            )

    def _try_later(
        self, outcome: Attempt.Outcome, reason: str, duration: timedelta, **columns: Any
    ) -> None:
        status = self.Status.PENDING
        if "trying_since" not in columns and self._tried_for() >= GIVE_UP:
            status, reason = self.Status.FAILED, f"Given up after 24 hours. {reason}"
        self._end(outcome, reason=reason, status=status, due_at=clock.now() + duration, **columns)

    def _tried_for(self) -> timedelta:
        return self.started_at - (self.trying_since or self.started_at)

    def _unsent(self) -> dict[str, Any]:
        """Clear what was saved to be sent, if nothing can have arrived: the target may change then."""
        if self.outcome_unknown_since:
            return {}
        blank = ("repository", "title", "body")
        return dict.fromkeys(blank, "") | {"repository_id": None, "posted_at": None}

    def _backoff(self) -> timedelta:
        """About twice as long each time, from 30 seconds to an hour, plus or minus a fifth."""
        wait = min(self._tried_for() + FIRST_WAIT, LONGEST_WAIT)
        return wait * random.uniform(0.8, 1.2)  # noqa: S311  (guards nothing)

    def _end(self, outcome: Attempt.Outcome, *, reason: str, **columns: Any) -> None:
        with transaction.atomic():  # its row first, as who erases its text does
            self._update(reason=reason, lease_until=None, **columns)
            END_ATTEMPT.first(outcome, reason, self.pk, self.tries)
        self.ended_as, self.ended_for = outcome, columns.get("held_for", "")

    def _update(self, **columns: Any) -> None:
        """Save, if this attempt still has its lease: a later attempt knows better."""
        mine = Delivery.objects.filter(pk=self.pk, status=self.Status.SENDING, tries=self.tries)
        if not mine.update(**columns):
            raise LeaseLost(self.report_id)


def _apart() -> Combinable:
    """Now, or `TRIED_APART` after the last try."""
    tried = F("last_tried_at")
    return Case(
        When(last_tried_at__gt=clock.now() - TRIED_APART, then=tried + TRIED_APART),
        default=clock.now(),
        output_field=models.DateTimeField(),
    )


class LeaseLost(Exception):
    """Another process has taken over the delivery."""
