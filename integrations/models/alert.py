"""An issue by which the Hub tells an organization bad news, in its own repository."""

from datetime import datetime, timedelta
from typing import Any, ClassVar, Self

from django.db import models, transaction
from django.db.models import Case, Exists, F, OuterRef, Q, Subquery, Value, When
from django.utils.functional import cached_property

from core import clock
from core.ids import ULIDField
from integrations.models.delivery import GIVE_UP
from integrations.models.hold import Hold
from integrations.models.integration import FULL_NAME, Installation, Integration, Repository
from integrations.models.leased import Leased, LeasedQuerySet
from orgs.models import Organization

UNSENT: dict[str, Any] = {
    "repository_id": None,
    "repository": "",
    "posted_at": None,
    "title": "",
    "body": "",
}


class AlertQuerySet(LeasedQuerySet):
    """Queries over alerts."""

    with_each = ("integration__installation", "integration__organization")

    def of(self, organization: Organization) -> Self:
        """Those of an organization, the latest first."""
        mine = Integration.objects.of(organization)
        return self.filter(integration__in=mine.values("pk")).order_by("-pk")

    def over(self, age: timedelta) -> Self:
        """Those that are done, and whose cause has been gone for so long.

        Without those whose issue may exist although GitHub never said so. The index is on `due_at`,
        which is never before the end.
        """
        states = self.model.Status
        ago = clock.now() - age
        done = self.filter(status__in=[states.CLOSED, states.DROPPED], due_at__lt=ago)
        return done.filter(ended_at__lt=ago).exclude(posted_at__isnull=False, issue_number=None)

    def unfinished(self) -> Self:
        """Those whose issue is open, or has still to be opened or closed."""
        return self.filter(status__in=self.model.UNFINISHED)

    def sendable(self) -> Self:
        """Those about which GitHub may be called now: to open an issue, the organization must want it.

        Nothing but missing push access is told where it is missing: others decide about that repository. And
        nothing while an operator holds all that the organization receives. What is to be closed waits while GitHub
        lets nothing be changed in the repository, unless that was left.
        """
        wanted = Q(
            integration__alerts=True,
            integration__repository_id__isnull=False,
            integration__problem="",
            integration__paused_at=None,
        )
        with_rights = Q(integration__rights_lost_at=None) | Q(cause=self.model.Cause.RIGHTS)
        is_over = Q(status=self.model.Status.CLOSING) | Q(ended_at__isnull=False)
        has_left = ~Q(repository_id=F("integration__repository_id"))
        is_over &= Q(integration__problem="") | has_left
        on_hold = Exists(Hold.objects.of_organization(OuterRef("integration__organization")))
        known = self.filter(is_over | (wanted & with_rights & ~on_hold))
        return known.filter(integration__installation__suspended_at=None)

    def end(self) -> None:
        """Their cause is gone: what is open is closed, and what is not is not opened any more."""
        states = self.model.Status  # in one UPDATE: its issue may be opened at this moment
        is_open = When(status=states.OPEN, then=Value(states.CLOSING))
        self.update(
            status=Case(is_open, default=F("status")), ended_at=clock.now(), due_at=clock.now()
        )

    def known_since(self, time: datetime) -> Self:
        """Those to be opened that would not be looked for if their issue was opened after `time`."""
        later = Q(posted_at=None) | Q(posted_at__gt=time)
        there = Q(repository_id__isnull=False) | Q(integration__repository_id__isnull=False)
        return self.filter(later, there, status=self.model.Status.PENDING)

    def doubt(self, since: datetime) -> int:
        """Have the issues of pending ones looked for before one is opened, as `DeliveryQuerySet.doubt`."""
        mine = Integration.objects.filter(pk=OuterRef("integration"))
        there = {
            "repository_id": Subquery(mine.values("repository_id")),
            "repository": Subquery(mine.annotate(full_name=FULL_NAME).values("full_name")),
        }
        with transaction.atomic():
            self.filter(repository_id=None).update(**there)
            return self.update(posted_at=since)

    def note_state(
        self, repository_id: int, number: int, *, is_open: bool, updated_at: datetime | None
    ) -> None:
        """Save that somebody closed or reopened the issue, unless what is known of it is newer.

        `updated_at`: GitHub's time of it, if known. One whose cause is gone is never opened again.
        """
        states = self.model.Status
        mine = self.filter(repository_id=repository_id, issue_number=number)
        if is_open:
            changes = When(status=states.CLOSED, ended_at=None, then=Value(states.OPEN))
        else:
            changes = When(status__in=self.model.UNFINISHED, then=Value(states.CLOSED))
        columns: dict[str, Any] = {"status": Case(changes, default=F("status"))}
        if updated_at:
            mine = mine.filter(Q(issue_updated_at=None) | Q(issue_updated_at__lte=updated_at))
            columns["issue_updated_at"] = updated_at
        mine.update(**columns)


class Alert(Leased):
    """Bad news about one cause since one time, and its issue. Its row is the truth about the issue."""

    class Status(models.TextChoices):
        """How far its issue is."""

        PENDING = "pending"  # to be opened
        OPEN = "open"
        CLOSING = "closing"  # the cause is gone, so it is to be closed
        CLOSED = "closed"  # by the Hub or somebody else
        DROPPED = "dropped"  # never opened: the cause was gone before, or GitHub refused it

    class Cause(models.TextChoices):
        """What the organization is told."""

        LAPSING = "lapsing"  # the DNS record of a domain is missing, and its claim lapses soon
        LAPSED = "lapsed"  # the claim of a domain has lapsed
        RIGHTS = "rights"  # no member has push access to the repository, so nothing is sent

    TO_DO: ClassVar = [Status.PENDING, Status.CLOSING]
    UNFINISHED: ClassVar = [*TO_DO, Status.OPEN]
    UNSENT: ClassVar = UNSENT
    UNKNOWN = "It is not known yet whether GitHub opened the issue."

    id = ULIDField()
    integration = models.ForeignKey(Integration, models.CASCADE, related_name="+")
    status = models.CharField(max_length=7, choices=Status, default=Status.PENDING)
    cause = models.CharField(max_length=7, choices=Cause)
    subject = models.CharField(
        max_length=253, blank=True, help_text="The domain, if it is about one."
    )
    since = models.DateTimeField(help_text="When the cause began; a later one is another alert.")
    ended_at = models.DateTimeField(null=True, blank=True, help_text="When the cause was gone.")
    # What was sent, and where to: saved before the POST, and kept.
    repository_id = models.BigIntegerField(null=True, blank=True)
    repository = models.CharField(max_length=511, blank=True)
    posted_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When it was sent. Without an issue: GitHub has not answered, so it is looked for.",
    )
    title = models.CharField(max_length=256, blank=True)
    body = models.TextField(blank=True)

    issue_number = models.BigIntegerField(null=True, blank=True)
    issue_url = models.URLField(max_length=500, blank=True)
    issue_updated_at = models.DateTimeField(
        null=True, blank=True, help_text="GitHub's time of the last webhook about the issue."
    )

    objects: ClassVar = AlertQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["status", "due_at"], name="alert_due"),
            models.Index(fields=["integration", "-last_tried_at"], name="alert_pace"),
            models.Index(
                fields=["integration"], name="alert_lasting", condition=Q(ended_at__isnull=True)
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["integration", "cause", "subject", "since"], name="alert_once_per_cause"
            ),
            models.UniqueConstraint(
                fields=["repository_id", "issue_number"],
                condition=Q(issue_number__isnull=False),
                name="alert_one_per_issue",
            ),
            models.CheckConstraint(
                condition=Q(status__in=["pending", "dropped"])
                | Q(issue_number__isnull=False, repository_id__isnull=False),
                name="alert_opened_has_issue",
            ),
            models.CheckConstraint(
                condition=Q(posted_at__isnull=True) | Q(repository_id__isnull=False),
                name="alert_posted_has_repository",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_cause_display()} {self.subject}".rstrip()

    @property
    def target(self) -> Repository:
        """The repository that the issue is in, or goes to."""
        through, mine = self.installation.github_id, self.integration
        if self.repository_id:
            return Repository(through, self.repository_id, self.repository)
        return Repository(through, mine.repository_id, mine.repository)  # type: ignore[arg-type]

    @cached_property
    def installation(self) -> Installation:
        """The one that reaches the target."""
        return self.integration.installation_of(self.repository_id, self.repository)

    def has_left(self) -> bool:
        """Whether it was sent to a repository that the organization's issues no longer go to."""
        return self.repository_id not in (None, self.integration.repository_id)

    def may_be_opened(self) -> bool:
        """Whether its cause lasts, and the organization still wants to be told."""
        mine = Alert.objects.filter(pk=self.pk, ended_at=None)
        return mine.sendable().exists()

    def record(self, title: str, body: str) -> None:
        """Save what is about to be sent, and where to, before the POST."""
        to = self.target
        self._update(
            repository_id=to.id,
            repository=to.name,
            title=title,
            body=body,
            posted_at=clock.now(),
        )

    def opened(self, number: int, url: str) -> None:
        """Its issue exists: just opened, or found. That is known even if the lease has expired.

        The address has the repository's name as the organization knows it, which may be the one of before.
        """
        states = self.Status
        is_over = When(ended_at__isnull=False, then=Value(states.CLOSING))
        Alert.objects.filter(pk=self.pk, issue_number=None).update(
            status=Case(is_over, default=Value(states.OPEN)),
            issue_number=number,
            issue_url=self.integration.url_now(url, self.target.id),
            reason="",
            lease_until=None,
            due_at=clock.now(),
        )

    def closed(self, reason: str = "") -> None:
        """Its issue is closed, or cannot be for this reason."""
        self._update(status=self.Status.CLOSED, reason=reason, lease_until=None)

    def start_over(self) -> None:
        """Open it where issues go now: there is none, as far as can be seen, where it was sent."""
        self._update(**UNSENT, reason="", lease_until=None, due_at=clock.now())

    def is_given_up(self) -> bool:
        """Whether closing it was tried for a day."""
        return self.ended_at is not None and self.started_at - self.ended_at >= GIVE_UP
