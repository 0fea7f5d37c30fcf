"""Where an organization's issues go: the installation of the app, and the repository."""

from datetime import datetime, timedelta
from typing import Any, NamedTuple, Self

from django.conf import settings
from django.db import models, transaction
from django.db.models import Case, Exists, F, OuterRef, Q, Value, When
from django.db.models.functions import Coalesce, Concat, Greatest, Least
from django.utils.functional import cached_property

from core import after_commit, clock
from integrations.models import dressing
from integrations.models.dressing import Dressing
from integrations.models.hold import Hold
from integrations.models.statements import LIMIT
from orgs import ownership
from orgs.models import Organization
from reports.models import Report

PAUSED = "The integration is paused. Reports are sent when somebody presses Resume."
NO_RIGHTS = (
    "No member of your organization has push access to the repository any more. Reports are sent "
    "when a member who has it presses Try again, or the Hub finds one."
)
STOPS = (  # what stops an integration, in this order; a problem comes after these
    ("pause", "paused_at", PAUSED),
    ("rights", "rights_lost_at", NO_RIGHTS),
)
NOT_STOPPED = {column: None for _, column, _ in STOPS}
FULL_NAME = Concat("repo_owner", Value("/"), "repo_name")  # `Integration.repository`, for queries
ABSENCES = 3  # this many checks that find nobody with push access,
ABSENT_FOR = timedelta(hours=24)  # over at least this time, stop sending


class Repository(NamedTuple):
    """A repository by GitHub's ids; the name is for messages."""

    installation_id: int
    id: int
    name: str


def install_page() -> str:
    """The page on GitHub where the app is installed, and where its repositories are chosen."""
    folder = "apps" if settings.HUB_GITHUB_URL == "https://github.com" else "github-apps"
    return f"{settings.HUB_GITHUB_URL}/{folder}/{settings.HUB_GITHUB_APP_SLUG}/installations/new"


class InstallationQuerySet(models.QuerySet["Installation"]):
    """Queries over installations."""

    def in_use(self) -> Self:
        """Those that an organization uses, the least recently updated first."""
        used = self.filter(Exists(Integration.objects.filter(installation=OuterRef("pk"))))
        return used.order_by(F("asked_about_at").asc(nulls_first=True), "pk")

    def to_be_asked_about(self, every: timedelta) -> Self:
        """Those not updated for this long, without those that are asked about soon or that GitHub rate-limits."""
        overdue = self.in_use().filter(asked_about_at__lte=clock.now() - every)
        return overdue.exclude(left_alone_until__gt=clock.now())

    def to_be_asked_about_soon(self) -> Self:
        """Those never updated, or that something has changed for, in random order, without rate-limited ones."""
        soon = self.in_use().filter(asked_about_at=None).order_by("?")
        return soon.exclude(left_alone_until__gt=clock.now())

    def ask_about_soon(self) -> None:
        """Have the next round ask about them. Saved after the commit: others lock them before their integrations."""
        after_commit.do(self.update, asked_about_at=None)


class Installation(models.Model):
    """The GitHub App on an account, and what GitHub has said about it."""

    github_id = models.BigIntegerField(unique=True)
    account = models.CharField(
        max_length=255, help_text="The login of the account that it is installed on."
    )
    suspended_at = models.DateTimeField(null=True, blank=True)
    limited_until = models.DateTimeField(
        null=True,
        blank=True,
        help_text="Nothing is sent before this, because of GitHub's limit or our own pace.",
    )
    left_alone_until = models.DateTimeField(
        null=True,
        blank=True,
        help_text="GitHub is not called before this, because of its own limit.",
    )
    limit_left = models.PositiveIntegerField(
        null=True, blank=True, help_text="How many calls GitHub had left when it last said so."
    )
    limit_seen_at = models.DateTimeField(null=True, blank=True)
    asked_about_at = models.DateTimeField(
        null=True, blank=True, db_index=True, help_text="When GitHub was last asked about it."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = InstallationQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.account} ({self.github_id})"

    @property
    def configure_url(self) -> str:
        """The page on GitHub where the repositories of the app are chosen."""
        return install_page()

    @property
    def uninstalled(self) -> str:
        """The problem of its integrations once the app was uninstalled."""
        return f"The app was uninstalled from {self.account}. Install it again to resume."

    def ask_about_soon(self) -> None:
        """Have the next round ask about it, as `InstallationQuerySet.ask_about_soon`."""
        Installation.objects.filter(pk=self.pk).ask_about_soon()

    def ask_about_later(self) -> None:
        """Note that GitHub is being asked about it now, whatever it answers."""
        Installation.objects.filter(pk=self.pk).update(asked_about_at=clock.now())

    def ask_about_again(self, *, ago: timedelta) -> None:
        """Note that it was asked about so long ago, because no answer was saved; unless it is asked about soon."""
        later = Installation.objects.filter(pk=self.pk, asked_about_at__isnull=False)
        later.update(asked_about_at=clock.now() - ago)

    def note_suspended(self) -> None:
        """Save that it is suspended. If that is news it is asked about soon: GitHub's answer may be late."""
        is_news = When(suspended_at=None, then=Value(None))
        Installation.objects.filter(pk=self.pk).update(
            suspended_at=clock.now(), asked_about_at=Case(is_news, default=F("asked_about_at"))
        )

    def note_limit(self, left: int | None) -> None:
        """Save how many of this hour's calls GitHub has left."""
        if left is not None:
            LIMIT.first(left, self.pk)

    def leave_alone_for(self, wait: timedelta) -> None:
        """Let no process call GitHub for this installation before `wait` has passed."""
        until = clock.now() + wait
        names = ("limited_until", "left_alone_until")
        longer = {name: Greatest(Coalesce(name, until), until) for name in names}
        Installation.objects.filter(pk=self.pk).update(**longer)

    def is_left_alone(self) -> bool:
        """Whether GitHub has asked us to wait with further calls."""
        this = Installation.objects.filter(pk=self.pk)
        return this.filter(left_alone_until__gt=clock.now()).exists()


class IntegrationQuerySet(models.QuerySet["Integration"]):
    """Queries over integrations."""

    def of(self, organization: Organization | str) -> Self:
        """The one integration of an organization, given by itself or its id; none if it has none."""
        return self.filter(organization=organization)

    def lock(self) -> Self:
        """Lock them before several are changed, in the order of their ids."""
        locked = self.order_by("pk").select_for_update(of=("self",), no_key=True)
        list(locked.values_list("pk"))
        return self

    def count_as_private(self) -> None:
        """A public one counts as private until GitHub is asked: it cannot be, or says so to another integration."""
        self.filter(repository_private=False).update(repository_private=True, was_public=True)

    def note_issues_asked(self, until: datetime | None = None) -> None:
        """GitHub has answered what became of the issues in their repository until then, or until now."""
        self.update(issues_asked_at=Least(until, clock.now()) if until else clock.now())

    def configured(self) -> Self:
        """Those with a repository."""
        return self.filter(repository_id__isnull=False)

    def not_on_hold(self) -> Self:
        """Those of organizations of which no operator holds all that they receive."""
        return self.exclude(Exists(Hold.objects.of_organization(OuterRef("organization"))))

    def noting_withheld(self) -> Self:
        """Adds whether the organization has reports that its members may not read."""
        mine = Report.objects.filter(organization=OuterRef("organization"))
        return self.annotate(has_withheld=Exists(mine.filter(withheld_for__isnull=False)))

    def running(self) -> Self:
        """Those with a repository that are neither paused nor without push access."""
        return self.configured().not_stopped()

    def not_stopped(self) -> Self:
        """Those that are neither paused nor without push access."""
        return self.filter(**NOT_STOPPED)

    def stopped(self) -> Self:
        """Those that are paused or without push access."""
        return self.exclude(**NOT_STOPPED)

    def not_limited(self) -> Self:
        """Those whose installation is not rate-limited now."""
        return self.exclude(installation__limited_until__gt=clock.now())

    def with_stop(self) -> Any:  # rows with two columns more
        """Adds their `stop` for queries: the cause as `stopped_by`, the reason as `why`."""
        causes = [When(~Q(**{column: None}), then=Value(cause)) for cause, column, _ in STOPS]
        words = [When(~Q(**{column: None}), then=Value(words)) for _, column, words in STOPS]
        problem = When(~Q(problem=""), then=Value("integration"))
        return self.annotate(
            stopped_by=Case(*causes, problem, default=Value("")),
            why=Case(*words, default=F("problem"), output_field=models.TextField()),
        )


class Integration(models.Model):
    """An organization's installation, repository and issue template."""

    class Status(models.TextChoices):
        """Whether a repository is chosen."""

        INSTALLED = "installed"
        CONFIGURED = "configured"

    class Likeness(models.TextChoices):
        """What becomes of a report that is like an earlier one about the same page."""

        OFF = "off"  # nothing is compared
        HINT = "hint"  # its issue says which one is maybe the same
        FOLD = "fold"  # it joins the issue that is there

    class Again(models.TextChoices):
        """What is done where a problem is reported again after its issue was closed as completed."""

        NOTHING = "nothing"
        COMMENT = "comment"
        REOPEN = "reopen"
        ISSUE = "issue"  # a new one that names the old one; an exact repeat gets a comment

    organization = models.OneToOneField(Organization, models.CASCADE, related_name="+")
    installation = models.ForeignKey(Installation, models.PROTECT, related_name="integrations")
    moved_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When it came to its installation from another one, at which counts what it has tried before.",
    )
    repository_id = models.BigIntegerField(null=True, blank=True, db_index=True)
    repo_owner = models.CharField(max_length=255, blank=True)
    repo_name = models.CharField(max_length=255, blank=True)
    repository_private = models.BooleanField(default=True)
    was_public = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Whether it counts as private only because GitHub cannot be asked whether it is public still.",
    )
    has_pages = models.BooleanField(
        default=True,
        db_default=True,
        help_text="Whether GitHub Pages publishes a site from the repository.",
    )
    issue_template = models.TextField(blank=True, help_text="Empty: the default template.")
    mentions = models.JSONField(
        default=list,
        db_default=Value([], models.JSONField()),
        blank=True,
        help_text="Whom the template may mention: logins, and teams as owner/team. Asked of GitHub when it is saved.",
    )
    problem = models.TextField(blank=True, help_text="Why nothing is sent now, in words.")
    probe_at = models.DateTimeField(
        null=True, blank=True, db_index=True, help_text="When to check whether the problem is gone."
    )
    paused_at = models.DateTimeField(null=True, blank=True, help_text="When a member paused it.")
    alerts = models.BooleanField(
        null=True,
        blank=True,
        help_text="Whether bad news is told by issues in the repository; empty: nobody was asked.",
    )

    likeness = models.CharField(
        max_length=4,
        choices=Likeness,
        default=Likeness.HINT,
        db_default=Likeness.HINT,
        help_text="What becomes of a report that is like an earlier one about the same page.",
    )
    when_reported_again = models.CharField(
        max_length=7,
        choices=Again,
        default=Again.COMMENT,
        db_default=Again.COMMENT,
        help_text="What is done where a problem is reported again after its issue was closed.",
    )
    shows_known = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Whether anybody may ask for the known problems of a page.",
    )
    labels = models.JSONField(
        null=True,
        blank=True,
        help_text="The labels of new issues: lists of names by kind of report.",
    )
    assignees = models.JSONField(
        null=True, blank=True, help_text="The logins to which new issues are assigned: a list."
    )
    issue_type = models.CharField(
        max_length=100, blank=True, db_default="", help_text="The type of new issues, by its name."
    )
    not_applied = models.TextField(
        blank=True,
        db_default="",
        help_text="Which labels, assignees or type GitHub did not take, in words; empty: it took all.",
    )

    issues_asked_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When GitHub last answered what became of the issues in the repository.",
    )
    rights_seen_at = models.DateTimeField(
        null=True, blank=True, help_text="When a member was last seen with push access."
    )
    rights_of = models.BigIntegerField(
        null=True,
        blank=True,
        help_text="The GitHub id of that member, who is asked about first.",
    )
    rights_absences = models.PositiveIntegerField(
        default=0, help_text="Checks in a row that found no member with push access."
    )
    rights_absent_since = models.DateTimeField(null=True, blank=True)
    rights_asked_to = models.BigIntegerField(
        default=0,
        editable=False,
        help_text="The last membership that an unfinished check has asked about; 0 if none is unfinished.",
    )
    rights_lost_at = models.DateTimeField(
        null=True, blank=True, help_text="When sending stopped because of that."
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
        """Installed, or configured once a repository is chosen."""
        return self.Status.INSTALLED if self.repository_id is None else self.Status.CONFIGURED

    @property
    def repository(self) -> str:
        """The repository as `owner/name`; empty until one is chosen."""
        return f"{self.repo_owner}/{self.repo_name}" if self.repo_name else ""

    def name_now(self, repository: str, repository_id: int | None) -> str:
        """The name of a repository to which issues went: the present one if it is this one's, else as it was."""
        return self.repository if self._is_its(repository_id) else repository

    def url_now(self, issue_url: str, repository_id: int | None) -> str:
        """The URL of an issue there, by the same name: somebody else may have taken the one before."""
        if not (issue_url and self._is_its(repository_id)):
            return issue_url
        parts = issue_url.rsplit("/", 4)  # of the code host, owner, name, "issues" and the number
        return "/".join([parts[0], self.repository, *parts[-2:]])

    def _is_its(self, repository_id: int | None) -> bool:
        return repository_id is not None and repository_id == self.repository_id

    def installation_of(self, repository_id: int | None, repository: str) -> Installation:
        """What reaches a repository to which issues go or went; of one that was left that of its account, if any."""
        mine, account = self.installation, repository.partition("/")[0]
        if repository_id in (None, self.repository_id) or account.lower() == mine.account.lower():
            return mine
        there = Installation.objects.filter(account__iexact=account, suspended_at=None)
        return there.order_by("-pk").first() or mine

    def is_on_its_account(self) -> bool:
        """Whether the repository belongs to the account that the app is installed on, by their names."""
        return self.repo_owner.lower() == self.installation.account.lower()

    @property
    def wants_alerts(self) -> bool:
        """Whether bad news is told by issues, or would be by default: not where everybody may read them."""
        is_private = self.repository_private and not self.was_public
        return is_private if self.alerts is None else self.alerts

    def note_visibility(self, *, private: bool) -> None:
        """Whether everybody may read the repository: if that is new, nobody was asked. Not saved."""
        if self.repository_private and not (private or self.was_public):
            self.alerts = None
        self.repository_private, self.was_public = private, False

    @property
    def stop(self) -> tuple[str, str]:
        """The first cause why nothing is sent now, and the reason; both empty if nothing stops it."""
        for cause, column, words in STOPS:
            if getattr(self, column):
                return cause, words
        return ("integration" if self.problem else ""), self.problem

    def is_uninstalled(self) -> bool:
        """Whether the app was uninstalled from its account."""
        return self.problem == self.installation.uninstalled

    def is_cut_off(self) -> bool:
        """Whether nothing is sent because the app was suspended or uninstalled, and for nothing else before."""
        return self.installation.suspended_at is not None and self.stop[0] == "integration"

    @property
    def obstacle(self) -> str:
        """Why nothing is sent now, as a sentence; empty if nothing stops it."""
        return self.stop[1]

    @cached_property
    def words_of_hold(self) -> str:
        """Why an operator holds all that its organization receives, as sentences; empty if none does."""
        hold = Hold.objects.of_organization(self.organization_id).first()
        return hold.words_of_all if hold else ""

    @property
    def why_silent(self) -> str:
        """Why nothing is sent now, be it for an operator or an `obstacle`; empty if nothing stops it."""
        return self.words_of_hold or self.obstacle

    def dressing_of(self, kind: str) -> Dressing:
        """The labels, assignees and type that the issue of a report of this kind gets."""
        return dressing.chosen(kind, self.labels or {}, self.assignees or [], self.issue_type)

    @property
    def not_applied_words(self) -> str:
        """Which of them GitHub did not take, and what to do; empty if it took all."""
        return dressing.in_words(self.not_applied, self.repository)

    def note_not_applied(self, kind: str, lacks: Dressing) -> None:
        """Save which of them GitHub did not take for an issue, unless something else was chosen since."""
        asked = self.dressing_of(kind)
        missing = dressing.still_missing(self.not_applied, asked=asked, lacks=lacks)
        if missing == self.not_applied:
            return
        with transaction.atomic():
            now = Integration.objects.select_for_update(no_key=True).filter(pk=self.pk).first()
            is_same = now and (now.repository_id, now.choice) == (self.repository_id, self.choice)
            if now and is_same:
                now.not_applied = dressing.still_missing(now.not_applied, asked=asked, lacks=lacks)
                now.save(update_fields=["not_applied"])

    @property
    def choice(self) -> tuple[Any, ...]:
        """Which labels, assignees and type are chosen."""
        return self.labels, self.assignees, self.issue_type

    def may_not_learn(self, full_name: str) -> bool:
        """Whether this is a new name of a private repository to which no member has push access any more."""
        is_new = full_name.lower() != self.repository.lower()
        return is_new and self.repository_private and self.rights_lost_at is not None

    def withholds(self, url: str) -> bool:
        """Whether members may not read reports about `url`, since none of them has push access.

        A page of a domain stays readable, since the DNS record proves that it is theirs.
        """
        return bool(self.rights_lost_at) and ownership.is_site_page(url)

    def postpone_probe(self, wait: timedelta) -> None:
        """Postpone the next probe by `wait`."""
        Integration.objects.filter(pk=self.pk).update(probe_at=clock.now() + wait)

    def record_right_found(self, github_id: int) -> None:
        """Save which member has push access."""
        self._update(
            rights_seen_at=clock.now(),
            rights_of=github_id,
            rights_absences=0,
            rights_absent_since=None,
            rights_lost_at=None,
            rights_asked_to=0,
        )

    def asked_about_some(self, last: int) -> None:
        """Save that nobody was found up to this membership; the next check continues there."""
        self._update(rights_asked_to=last)

    def record_right_missing(self) -> bool:
        """Count a check that found nobody with push access; True if this one stops sending."""
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

    def forget_issues(self) -> None:
        """Reset what is known about issues in the repository, because that changes. Not saved."""
        self.not_applied, self.issues_asked_at = "", None

    def forget_rights(self) -> None:
        """Reset what is known about push access, because the repository changes. Not saved."""
        self.rights_seen_at = self.rights_of = self.rights_absent_since = None
        self.rights_lost_at, self.rights_absences, self.rights_asked_to = None, 0, 0

    def _update(self, **columns: Any) -> None:
        Integration.objects.filter(pk=self.pk).update(**columns)
        self.refresh_from_db(fields=columns.keys())
