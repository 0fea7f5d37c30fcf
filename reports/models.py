"""Reports and their further accounts."""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Any, Self

from django.conf import settings
from django.db import IntegrityError, models
from django.db.models import F, Func, Q

from core import keyset, prepared
from core.ids import ULIDField
from core.prepared import time_of
from core.unindexed import Unindexed
from orgs import renamed
from orgs.models import Organization
from orgs.ownership import Unclaimed, shared_name
from orgs.renamed import Received
from reports.cleaning import clean
from reports.screening import SCREENED, SecretNotice, screened
from reports.statements import OR_COUNT


class AlreadyThere(IntegrityError):
    """There is a report with the same key, or `unless_claimed` there is a claim; nothing was inserted."""


class Repeated(AlreadyThere):
    """It repeats an earlier report word by word, which has been counted once more."""

    def __init__(self, report_id: str, received_at: datetime, organization_id: str | None):
        super().__init__(report_id)
        self.report_id, self.received_at = report_id, time_of(received_at)
        self.organization_id = organization_id


PREFIX = (
    200  # characters of an address in the index of pages: no database takes those of any length
)
TEST = "test:"  # begins the keys of test reports; no client can send such a key
NEWEST = ("organization_id", "received_at", "id")
UNCLAIMED = ("unclaimed_name", "received_at", "id")


class StatementQuerySet(models.QuerySet):
    """Queries that reports and further accounts share."""

    def readable(self) -> Self:
        """Those that the members of the receiving organization may read."""
        return self.filter(withheld_for=None)


def _id_of(organization: Organization | str) -> str:
    return organization if isinstance(organization, str) else organization.pk


class ReportQuerySet(StatementQuerySet):
    """Queries over reports."""

    def tests(self) -> Self:
        """Those for which `is_test`."""
        return self.filter(dedup_key__startswith=TEST)

    def readable_by(
        self, organization: Organization | str, *, ids: Collection[str] | None = None
    ) -> Self:
        """Reports that the organization's members may read: all their pages, lists and files start here.

        With `ids` only these, which are looked up one by one.
        """
        if ids is None:
            return self.readable().filter(organization=organization)
        found = self.readable().alias(receiver=Unindexed("organization_id"))
        return found.filter(receiver=_id_of(organization), pk__in=ids)

    def newest_first(
        self, organization: Organization | str, *, before: Any = None, after: Any = None
    ) -> Self:
        """What `readable_by` finds, in the order of its index; between two `(received_at, id)` only.

        The organization is compared as a range. With an equality, PostgreSQL would know that the order by
        time alone is the same, and read the reports of all organizations by their time. Where a page begins is one
        condition: of two, PostgreSQL begins at the wider one, and reads all that lies before the page.
        """
        mine, found = _id_of(organization), self.readable()
        begun = found.filter(organization__lte=mine)
        older = keyset.before(found, NEWEST, (mine, *before)) if before else begun
        newer = keyset.after(older, NEWEST, (mine, *after)) if after else older
        within = newer.filter(organization__gte=mine)
        return within.order_by(*(f"-{each}" for each in NEWEST))


class Statement(models.Model):
    """What one sender said, as sent except that secrets were removed.

    It is made safe where it is shown. Lengths are checked on intake (`reports.shape`).
    """

    class Kind(models.TextChoices):
        """What is wrong with the page."""

        BROKEN = "broken"
        INCORRECT = "incorrect"
        OUTDATED = "outdated"
        MISSING = "missing"
        UNCLEAR = "unclear"
        OTHER = "other"

    kind = models.CharField(max_length=10, choices=Kind)
    summary = models.TextField()
    details = models.TextField(blank=True)
    evidence = models.JSONField(default=list, blank=True, help_text="A list of {kind, text}.")
    suggested_fix = models.TextField(blank=True)
    agent_version = models.TextField(blank=True)
    agent_vendor = models.TextField(blank=True)
    task_context = models.JSONField(
        default=dict, blank=True, help_text="{task_summary?, transcript_excerpt?}"
    )

    withheld_for = models.BigIntegerField(
        null=True,
        blank=True,
        help_text="Id of the GitHub repository to which nobody in the organization had push access "
        "when this arrived. Members cannot read it until one of them has.",
    )

    class Meta:
        abstract = True

    @property
    def words(self) -> list[Any]:
        """The texts that are compared to tell a mere repeat from a further account."""
        return [self.summary, self.details, self.evidence, self.suggested_fix]

    def withhold(self, repository_id: int | None) -> None:
        """Hide it from members until one of them has push access to this repository; None shows it."""
        type(self)._default_manager.filter(pk=self.pk).update(withheld_for=repository_id)
        self.withheld_for = repository_id


class Report(Statement):
    """One report that a page is broken, incorrect, outdated, missing, unclear, or other.

    Only `reports.intake.accept` creates one.
    """

    id = ULIDField()
    organization = models.ForeignKey(
        Organization,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="The organization that received it; empty while nobody has claimed the page.",
    )
    received_at = models.DateTimeField(db_index=True)
    last_received_at = models.DateTimeField()
    times_reported = models.PositiveIntegerField(default=1)
    further_accounts = models.PositiveSmallIntegerField(
        default=0, help_text="How many repeats that said something different are kept."
    )
    accounts_not_kept = models.PositiveIntegerField(
        default=0,
        help_text="How many further accounts were dropped because there were too many or they were too long.",
    )
    erased_at = models.DateTimeField(
        null=True, blank=True, help_text="When its text was erased on request."
    )
    dedup_key = models.CharField(  # noqa: DJ001  (unique where there is one)
        max_length=80,
        unique=True,
        null=True,
        editable=False,
        help_text="Empty once a repeat counts as a new report: this one is too old, was erased, or was another "
        "organization's.",
    )

    doc_url = models.TextField(help_text="As sent.")
    canonical_url = models.TextField()
    unclaimed_name = models.CharField(  # noqa: DJ001  (in an index that leaves NULL out)
        max_length=253,
        null=True,
        blank=True,
        editable=False,
        help_text="The registrable name of its page's host, until somebody who owns the page receives it.",
    )
    agent_name = models.TextField()
    submitted_at = models.CharField(
        max_length=64, blank=True, help_text="By the sender's clock, as sent."
    )
    locale = models.CharField(max_length=35, blank=True)
    client_capabilities = models.JSONField(default=list, blank=True)
    notices = models.JSONField(
        default=list,
        blank=True,
        help_text="The secrets that were removed from it: a list of {field, kind}.",
    )

    waits_for_its_turn = False  # True: its delivery does not start as soon as it is there
    source = ""  # from `core.client_address`, for the receivers of `post_save`; not stored here
    is_queued = False  # True: what it becomes is made later, by a receiver of `post_save`

    unless_claimed: Unclaimed | None = None  # then it is inserted only if its page is nobody's

    objects = ReportQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(
                fields=["organization", "received_at", "id"],
                condition=Q(organization__isnull=False, withheld_for__isnull=True),
                name="report_received",
            ),
            models.Index(
                fields=["organization", "withheld_for"],
                condition=Q(withheld_for__isnull=False),
                name="report_withheld",
            ),
            models.Index(  # as in `integrations/answers/known.py`
                Func(
                    F("organization"),
                    Func(F("canonical_url"), 1, PREFIX, function="SUBSTR"),
                    template="(%(expressions)s)",
                    arg_joiner=" || ",
                    output_field=models.TextField(),
                ),
                F("received_at"),
                F("id"),
                condition=Q(organization__isnull=False, withheld_for__isnull=True),
                name="report_of_page",
            ),
            models.Index(
                fields=UNCLAIMED,
                condition=Q(unclaimed_name__isnull=False),
                name="report_unclaimed",
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(times_reported__gte=1), name="report_reported_at_least_once"
            ),
        ]

    def __str__(self) -> str:
        return self.id  # not its text, because the admin's history keeps this

    def _save_table(self, raw: bool, cls: Any, force_insert: bool, *args: Any) -> bool:
        """Django's hook for the statement of `save()`: its INSERT is ours. Raises `AlreadyThere` or `Repeated`."""
        if raw or not (force_insert or self._state.adding):
            return super()._save_table(raw, cls, force_insert, *args)  # type: ignore[misc]
        only_if, values = self.unless_claimed or Unclaimed("", ())
        row = prepared.insert(
            self,
            unique="dedup_key",
            only_if=only_if,
            on_conflict=OR_COUNT,
            values=[*values, self.too_old_to_repeat],
        )
        if row is None:
            raise AlreadyThere
        if row[0] != self.pk:
            raise Repeated(*row)
        return False

    @property
    def too_old_to_repeat(self) -> datetime:
        """Reports that arrived until then are too old for this one to be their duplicate."""
        return self.received_at - timedelta(days=settings.HUB_DEDUP_DAYS)

    @property
    def is_test(self) -> bool:
        """Whether a maintainer sent it from the Hub, to see that everything works; False once erased."""
        return (self.dedup_key or "").startswith(TEST)

    @property
    def title(self) -> str:
        """The title shown on pages, without what nobody sees."""
        if not self.summary:
            return "Erased report"
        shown = clean(self.summary)
        return shown if shown.strip() else "Nothing that can be seen"

    @property
    def was_anothers(self) -> bool:
        """Whether an organization has received it that is gone."""
        is_nobodys = self.organization_id is None and self.unclaimed_name is None
        return is_nobodys and shared_name(self.canonical_url) is not None

    def receive(self, organization_id: str) -> list[str]:
        """It had no owner, and now has this one. Not saved; returns the columns that changed."""
        self.organization_id, self.unclaimed_name = organization_id, None
        return ["organization_id", "unclaimed_name"]

    def is_still_owned(self) -> bool:
        """Whether its page still belongs to the organization that received it."""
        return self._address_now() is not None

    def follow_page(self) -> bool:
        """The same; and if its repository was renamed, it is about the page by the new name from now on."""
        address = self._address_now()
        if address and address != self.canonical_url:
            Report.objects.filter(pk=self.pk).update(canonical_url=address)
            self.canonical_url = address
        return address is not None

    def _address_now(self) -> str | None:
        if self.organization_id is None:
            return None
        return renamed.address_now(Received(self.canonical_url, self.organization_id))

    def screen(self) -> tuple[list[str], list[SecretNotice]]:
        """Remove what today counts as a secret; returns the changed columns and what was removed."""
        changed, notices = screened({name: getattr(self, name) for name in SCREENED})
        for name, value in changed.items():
            setattr(self, name, value)
        return list(changed), notices

    def note(self, notices: Iterable[SecretNotice], changed: Iterable[str] = ()) -> None:
        """Add to `notices` the secrets found after intake, and save the columns that changed.

        Sends no `post_save`, because nothing has arrived.
        """
        added = [notice._asdict() for notice in notices]
        self.notices += [each for each in added if each not in self.notices]
        columns = {name: getattr(self, name) for name in changed}
        mine = Report.objects.filter(
            pk=self.pk, erased_at=None
        )  # otherwise its text would come back
        mine.update(notices=self.notices, **columns)


class Account(Statement):
    """The words of a repeat that differ from the first report: kept with it, never sent to GitHub.

    Only `reports.accounts.keep` creates one.
    """

    report = models.ForeignKey(  # its constraint has an index that begins with it
        Report, models.CASCADE, related_name="accounts", db_index=False
    )
    received_at = models.DateTimeField()
    last_received_at = models.DateTimeField()
    times_received = models.PositiveIntegerField(default=1)
    words_hash = models.CharField(max_length=64, editable=False)
    size = models.PositiveIntegerField(editable=False, help_text="In bytes.")

    objects = StatementQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        indexes = [
            models.Index(
                fields=["withheld_for"],
                condition=Q(withheld_for__isnull=False),
                name="account_withheld",
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=["report", "words_hash"], name="account_once_a_report"),
        ]

    def __str__(self) -> str:
        return f"Account {self.pk} of {self.report_id}"
