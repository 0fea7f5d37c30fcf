"""Where an organization receives its issues: the app's installation and the target repository."""

from datetime import timedelta
from typing import Any, NamedTuple

from django.db import models
from django.db.models import Case, Exists, F, OuterRef, Q, Value, When
from django.db.models.functions import Coalesce, Greatest

from core import clock
from orgs import ownership
from orgs.models import Organization
from reports.models import Report

PAUSED = "A member has paused the integration. It is sent when somebody presses Resume."
NO_RIGHTS = (
    "No member of your organization has push right in the repository any more. It is sent when "
    "a member who has it presses Try again, or is found to have it."
)
STOPS = (  # what keeps an integration from sending, before any problem: the first that is set counts
    ("pause", "paused_at", PAUSED),
    ("rights", "rights_lost_at", NO_RIGHTS),
)
ABSENCES = 3  # so many looks that find nobody with push right,
ABSENT_FOR = timedelta(hours=24)  # over so long a time, stop what is sent


class Repository(NamedTuple):
    """A repository as the app reaches it, by GitHub's ids; the name is for messages."""

    installation_id: int
    id: int
    name: str


class InstallationQuerySet(models.QuerySet["Installation"]):
    def in_use(self):
        """Those that an organization has, the one first that was not asked about for longest."""
        mine = self.filter(integrations__isnull=False).distinct()
        return mine.order_by(F("asked_about_at").asc(nulls_first=True), "pk")

    def to_be_asked_about(self, every: timedelta):
        never = Q(asked_about_at=None)
        turn = self.in_use().filter(never | Q(asked_about_at__lte=clock.now() - every))
        return turn.exclude(left_alone_until__gt=clock.now())


class Installation(models.Model):
    """The code-hosting app, installed on an account; and what GitHub has said about it."""

    github_id = models.BigIntegerField(unique=True)
    account = models.CharField(max_length=255, help_text="The login it is installed on.")
    suspended_at = models.DateTimeField(null=True, blank=True)
    limited_until = models.DateTimeField(
        null=True, blank=True, help_text="Nothing is sent before: GitHub asked for it, or we pace."
    )
    left_alone_until = models.DateTimeField(
        null=True, blank=True, help_text="Nothing is asked before, either: GitHub asked for it."
    )
    limit_left = models.PositiveIntegerField(
        null=True, blank=True, help_text="How many calls GitHub still allowed when it last said so."
    )
    limit_seen_at = models.DateTimeField(null=True, blank=True)
    asked_about_at = models.DateTimeField(
        null=True, blank=True, db_index=True, help_text="When GitHub was last asked how it is."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = InstallationQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.account} ({self.github_id})"

    def ask_about_later(self) -> None:
        """It is being asked about now, whatever the answer will be."""
        Installation.objects.filter(pk=self.pk).update(asked_about_at=clock.now())

    def note_limit(self, left: int | None) -> None:
        """What GitHub said is left of this hour's calls."""
        if left is not None:
            seen = {"limit_left": left, "limit_seen_at": clock.now()}
            Installation.objects.filter(pk=self.pk).update(**seen)

    def leave_alone_for(self, wait: timedelta) -> None:
        """No process calls GitHub for this installation before `wait` has passed."""
        until = clock.now() + wait
        names = ("limited_until", "left_alone_until")
        longer = {name: Greatest(Coalesce(name, until), until) for name in names}
        Installation.objects.filter(pk=self.pk).update(**longer)

    def is_left_alone(self) -> bool:
        """Whether GitHub has asked that nobody calls for it now."""
        this = Installation.objects.filter(pk=self.pk)
        return this.filter(left_alone_until__gt=clock.now()).exists()


class IntegrationQuerySet(models.QuerySet["Integration"]):
    def configured(self):
        """Those with a target repository."""
        return self.filter(repository_id__isnull=False)

    def noting_withheld(self):
        """With whether the organization has reports that its members may not read."""
        mine = Report.objects.filter(organization=OuterRef("organization"))
        return self.annotate(has_withheld=Exists(mine.filter(withheld_for__isnull=False)))

    def running(self):
        """Those that nothing but GitHub itself keeps from sending."""
        return self.configured().filter(paused_at=None, rights_lost_at=None)

    def not_limited(self):
        """Those whose installation may be asked now."""
        return self.exclude(installation__limited_until__gt=clock.now())

    def with_stop(self):
        """Each with its `stop` for queries: as `stopped_by`, and in words as `why`."""
        causes = [When(~Q(**{column: None}), then=Value(cause)) for cause, column, _ in STOPS]
        words = [When(~Q(**{column: None}), then=Value(words)) for _, column, words in STOPS]
        problem = When(~Q(problem=""), then=Value("integration"))
        return self.annotate(
            stopped_by=Case(*causes, problem, default=Value("")),
            why=Case(*words, default=F("problem"), output_field=models.TextField()),
        )


class Integration(models.Model):
    """An organization's installation, target repository and issue template."""

    class Status(models.TextChoices):
        INSTALLED = "installed"
        CONFIGURED = "configured"

    organization = models.OneToOneField(Organization, models.CASCADE, related_name="+")
    installation = models.ForeignKey(Installation, models.PROTECT, related_name="integrations")
    repository_id = models.BigIntegerField(null=True, blank=True)
    repo_owner = models.CharField(max_length=255, blank=True)
    repo_name = models.CharField(max_length=255, blank=True)
    repository_private = models.BooleanField(default=True)
    issue_template = models.TextField(blank=True, help_text="Empty: the default template.")
    problem = models.TextField(blank=True, help_text="Why nothing is sent at present, in words.")
    probe_at = models.DateTimeField(
        null=True, blank=True, db_index=True, help_text="When to try whether the problem is gone."
    )
    paused_at = models.DateTimeField(
        null=True, blank=True, help_text="Since when a member lets nothing be sent."
    )

    rights_seen_at = models.DateTimeField(
        null=True, blank=True, help_text="When a member was last seen with push right."
    )
    rights_of = models.BigIntegerField(
        null=True,
        blank=True,
        help_text="Whose GitHub account that was: the first to be asked about.",
    )
    rights_absences = models.PositiveIntegerField(
        default=0, help_text="Looks in a row that found no member with push right."
    )
    rights_absent_since = models.DateTimeField(null=True, blank=True)
    rights_asked_to = models.BigIntegerField(
        default=0,
        editable=False,
        help_text="The last membership that an unfinished look has asked about; 0: none is unfinished.",
    )
    rights_lost_at = models.DateTimeField(
        null=True, blank=True, help_text="Since when nothing is sent because of that."
    )

    has_withheld = False  # until `noting_withheld` has asked

    objects = IntegrationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(repository_id__isnull=True, repo_owner="", repo_name="")
                | (Q(repository_id__isnull=False) & ~Q(repo_owner="") & ~Q(repo_name="")),
                name="integration_repository_whole",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.repository or 'no repository'} for {self.organization_id}"

    @property
    def status(self) -> "Integration.Status":
        return self.Status.INSTALLED if self.repository_id is None else self.Status.CONFIGURED

    @property
    def repository(self) -> str:
        """The target repository as `owner/name`; empty before there is one."""
        return f"{self.repo_owner}/{self.repo_name}" if self.repo_name else ""

    def is_on_its_account(self) -> bool:
        """Whether the repository is the account's that the app is installed on, by their names."""
        return self.repo_owner.lower() == self.installation.account.lower()

    @property
    def stop(self) -> tuple[str, str]:
        """The first cause why nothing is sent at present, and it in words; empty where all is well."""
        for cause, column, words in STOPS:
            if getattr(self, column):
                return cause, words
        return ("integration" if self.problem else ""), self.problem

    @property
    def obstacle(self) -> str:
        """Why nothing is sent at present, in words; empty where all is well."""
        return self.stop[1]

    def withholds(self, url: str) -> bool:
        """Whether what comes in about `url` is for nobody to read, since no member has push right.

        A page of a domain is theirs by its DNS record, whoever may push.
        """
        return bool(self.rights_lost_at) and ownership.is_site_page(url)

    def put_off_probe(self, wait: timedelta) -> None:
        Integration.objects.filter(pk=self.pk).update(probe_at=clock.now() + wait)

    def record_right_found(self, github_id: int) -> None:
        """A member has push right: the one with this account."""
        self._update(
            rights_seen_at=clock.now(),
            rights_of=github_id,
            rights_absences=0,
            rights_absent_since=None,
            rights_lost_at=None,
            rights_asked_to=0,
        )

    def asked_about_some(self, last: int) -> None:
        """A look has found nobody so far: the next one goes on after this membership."""
        self._update(rights_asked_to=last)

    def record_right_missing(self) -> bool:
        """A look found no member with push right; whether this is the one that stops what is sent."""
        self._update(
            rights_absences=F("rights_absences") + 1,
            rights_asked_to=0,
            rights_absent_since=Coalesce("rights_absent_since", clock.now()),
        )
        long_enough = Integration.objects.filter(
            pk=self.pk,
            rights_lost_at=None,
            rights_absences__gte=ABSENCES,
            rights_absent_since__lte=clock.now() - ABSENT_FOR,
        )
        return bool(long_enough.update(rights_lost_at=clock.now(), rights_of=None))

    def forget_rights(self) -> None:
        """What was seen in another repository says nothing about this one. Not saved."""
        self.rights_seen_at = self.rights_of = self.rights_absent_since = None
        self.rights_lost_at, self.rights_absences, self.rights_asked_to = None, 0, 0

    def _update(self, **columns: Any) -> None:
        Integration.objects.filter(pk=self.pk).update(**columns)
        self.refresh_from_db(fields=columns.keys())
