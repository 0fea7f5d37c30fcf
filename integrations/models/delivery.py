"""The delivery of a report as an issue."""

import random
from datetime import datetime, timedelta
from typing import Any, cast

from django.db import models, transaction
from django.db.models import F, Q
from django.db.models.functions import Coalesce, Now

from core import clock
from integrations.models.attempt import Attempt
from integrations.models.deliveries import LEASE, DeliveryQuerySet
from integrations.models.integration import Integration, Repository
from reports.models import Report

SETTLE = timedelta(minutes=2)  # by then, GitHub's list of issues shows a new one
FIRST_WAIT = timedelta(seconds=30)
LONGEST_WAIT = timedelta(hours=1)
GIVE_UP = timedelta(hours=24)
ERASED = "Its text was erased."
FORGOTTEN = "-"  # the source of what is older than two days; no hash looks like it


class Delivery(models.Model):
    """The delivery of one report as one issue. Its row is the truth about what was sent."""

    class Status(models.TextChoices):
        """How far the delivery is; docs/architecture.md has a table."""

        PENDING = "pending"
        SENDING = "sending"
        SENT = "sent"
        HELD = "held"
        FAILED = "failed"

    class Cause(models.TextChoices):
        """Why it is held; it is released when the cause is gone."""

        INTEGRATION = "integration"  # GitHub accepts no issues for the integration
        OWNERSHIP = "ownership"  # the page no longer belongs to the organization
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
    integration = models.ForeignKey(Integration, models.CASCADE, related_name="deliveries")
    status = models.CharField(max_length=10, choices=Status, default=Status.PENDING)
    held_for = models.CharField(max_length=11, choices=Cause, blank=True)
    reason = models.TextField(blank=True, help_text="Why it has its status, in words.")
    created_at = models.DateTimeField(db_default=Now())
    trying_since = models.DateTimeField(
        null=True, blank=True, help_text="When the current run of failed tries began."
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

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "deliveries"
        indexes = [
            models.Index(fields=["status", "due_at"], name="delivery_due"),
            models.Index(
                fields=["integration", "status", "turn", "due_at", "id"], name="delivery_turn"
            ),
            models.Index(fields=["integration", "source", "turn"], name="delivery_of_source"),
            models.Index(
                fields=["created_at"],
                name="delivery_with_source",
                condition=~Q(source="") & ~Q(source=FORGOTTEN),
            ),
            models.Index(fields=["integration", "-last_tried_at"], name="delivery_pace"),
            models.Index(
                fields=["integration", "held_for"], name="delivery_held", condition=Q(status="held")
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

    def public_issue_url(self) -> str | None:
        """The URL of the issue, if anybody may see it."""
        return self.issue_url if self.issue_url and not self.repository_private else None

    def has_settled(self) -> bool:
        """Whether an issue that GitHub did not confirm would be in GitHub's list by now."""
        return self.posted_at is None or self.started_at >= self.posted_at + SETTLE

    def begin_attempt(self) -> None:
        """Save that an attempt has started, and end an earlier one that never ended."""
        if self.tries > 1:
            self.attempts.filter(ended_at__isnull=True).update(
                ended_at=clock.now(),
                outcome=Attempt.Outcome.UNKNOWN,
                reason="The process ended before it finished.",
            )
        self.attempts.create(number=self.tries, started_at=self.started_at)

    def record(self, title: str, body: str) -> None:
        """Save what is about to be sent, and where to, before the POST."""
        self.repository_id = self.integration.repository_id
        self.repository = self.integration.repository
        self.repository_private = self.integration.repository_private
        self.title, self.body = title, body
        self._update(
            posted_at=clock.now(),
            repository_id=self.repository_id,
            repository=self.repository,
            repository_private=self.repository_private,
            title=title,
            body=body,
        )
        self.posted_at = (
            self.started_at
        )  # close enough; `record_internal_error` only checks that it is set

    def record_again(self) -> None:
        """Save that the same text is about to be sent again to the same repository."""
        self._update(posted_at=clock.now())

    def succeed(self, number: int, url: str, *, adopted: bool) -> None:
        """The issue exists: just created, or `adopted` if an earlier attempt had created it."""
        self._end(
            Attempt.Outcome.ADOPTED if adopted else Attempt.Outcome.SENT,
            status=self.Status.SENT,
            held_for="",
            reason="",
            issue_number=number,
            issue_url=url,
            outcome_unknown_since=None,
        )

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

    def hold(self, cause: "Delivery.Cause", reason: str) -> None:
        """Stop until the cause is gone."""
        self._end(
            Attempt.Outcome.HELD,
            status=self.Status.HELD,
            held_for=cause,
            reason=reason,
            trying_since=None,
            **self._unsent(),
        )

    def hold_before_sending(self, cause: "Delivery.Cause", reason: str) -> None:
        """Stop before GitHub was called, which does not count against the pace."""
        with transaction.atomic():
            self._update(last_tried_at=None)
            self.hold(cause, reason)

    def wait(self, reason: str, duration: timedelta) -> None:
        """Try again after `duration`, for reasons outside our control: the 24 hours of tries start again."""
        self._try_later(
            Attempt.Outcome.LATER, reason, duration, trying_since=None, **self._unsent()
        )

    def postpone(self, reason: str) -> None:
        """Try again later, after about twice the last wait, for 24 hours at most."""
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

    def forget_text(self) -> None:
        """Erase the text of the delivery, also for an attempt in progress.

        What was not sent fails. If an issue may have been created, or is being created right now, it is
        looked for, and nothing is sent again.
        """
        mine = Delivery.objects.filter(pk=self.pk)
        mine.update(title="", body="")
        mine.filter(status=self.Status.SENDING, posted_at__isnull=False).update(
            status=self.Status.PENDING,
            outcome_unknown_since=Coalesce("outcome_unknown_since", "posted_at"),
            lease_until=None,
        )
        unsent = mine.exclude(status=self.Status.SENT).filter(outcome_unknown_since=None)
        if unsent.update(status=self.Status.FAILED, held_for="", reason=ERASED, lease_until=None):
            self.attempts.filter(ended_at=None).update(
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
        with transaction.atomic():
            self.attempts.filter(number=self.tries).update(
                ended_at=clock.now(), outcome=outcome, reason=reason
            )
            self._update(reason=reason, lease_until=None, **columns)

    def _update(self, **columns: Any) -> None:
        """Save, if this attempt still has its lease: a later attempt knows better.

        An issue that was found is saved in any case, so that no issue lacks its row.
        """
        mine = Delivery.objects.filter(pk=self.pk)
        if columns.get("status") != self.Status.SENT:
            mine = mine.filter(status=self.Status.SENDING, tries=self.tries)
        if not mine.update(**columns):
            raise LeaseLost(self.report_id)


class LeaseLost(Exception):
    """Another process has taken over the delivery."""
