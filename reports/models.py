"""What came in."""

from collections.abc import Iterable

from django.db import models
from django.db.models import Q

from orgs.ids import ULIDField
from orgs.models import Organization
from orgs.ownership import owner_of
from reports.screening import SCREENED, Notice, screened


class Report(models.Model):
    """One statement that a page is broken, incorrect, outdated, missing, unclear, or other.

    Only `reports.intake.accept` makes one. Its text has had secrets removed, and is otherwise as
    it was sent: it is made safe where it is shown. Lengths are checked at the door (`reports.shape`).
    """

    class Kind(models.TextChoices):
        BROKEN = "broken"
        INCORRECT = "incorrect"
        OUTDATED = "outdated"
        MISSING = "missing"
        UNCLEAR = "unclear"
        OTHER = "other"

    id = ULIDField()
    organization = models.ForeignKey(
        Organization,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="Whom it was received for; empty while the page is nobody's.",
    )
    received_at = models.DateTimeField(db_index=True)
    last_received_at = models.DateTimeField()
    times_reported = models.PositiveIntegerField(default=1)
    dedup_key = models.CharField(  # noqa: DJ001  (unique where there is one)
        max_length=80,
        unique=True,
        null=True,
        editable=False,
        help_text="Empty once it is older than the window in which a repeat counts as a duplicate.",
    )

    doc_url = models.TextField(help_text="As it was sent.")
    canonical_url = models.TextField()
    kind = models.CharField(max_length=10, choices=Kind)
    summary = models.TextField()
    details = models.TextField(blank=True)
    evidence = models.JSONField(default=list, blank=True, help_text="A list of {kind, text}.")
    suggested_fix = models.TextField(blank=True)
    agent_name = models.TextField()
    agent_version = models.TextField(blank=True)
    agent_vendor = models.TextField(blank=True)
    task_context = models.JSONField(
        default=dict, blank=True, help_text="{task_summary?, transcript_excerpt?}"
    )
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

    class Meta:
        indexes = [
            models.Index(fields=["organization", "-received_at", "-id"], name="report_latest"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(times_reported__gte=1), name="report_reported_at_least_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.id}: {self.summary[:60]}"

    def is_still_owned(self) -> bool:
        """Whether its page belongs to the organization that it was received for."""
        owner = owner_of(self.canonical_url)
        return owner is not None and owner.pk == self.organization_id

    def screen(self) -> tuple[list[str], list[Notice]]:
        """Remove what counts as a secret by now: the columns that changed, and what it was."""
        changed, notices = screened({name: getattr(self, name) for name in SCREENED})
        for name, value in changed.items():
            setattr(self, name, value)
        return list(changed), notices

    def note(self, notices: Iterable[Notice], changed: Iterable[str] = ()) -> None:
        """Save what was removed since it came in, and the columns it was removed from.

        Nobody hears of it: nothing has come in.
        """
        added = [notice._asdict() for notice in notices]
        self.notices += [each for each in added if each not in self.notices]
        columns = {name: getattr(self, name) for name in changed}
        Report.objects.filter(pk=self.pk).update(notices=self.notices, **columns)
