"""What members have said about two reports: the same problem, or not."""

from typing import Self

from django.db import models
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Now

from integrations.models.integration import Integration
from orgs.models import Organization
from reports.models import Report


class VerdictQuerySet(models.QuerySet["Verdict"]):
    """Queries over verdicts."""

    def of(self, organization: Organization) -> Self:
        """Those of an organization's members."""
        return self.filter(integration__organization=organization)

    def about(self, report_id: str) -> Self:
        """Those about a report, whichever of the two it is."""
        return self.filter(Q(report=report_id) | Q(other=report_id))

    def between(self, one: str, other: str) -> Self:
        """Those about these two reports, in either order."""
        return self.filter(Q(report=one, other=other) | Q(report=other, other=one))

    def latest_first(self) -> Self:
        """In the order in which they count."""
        return self.order_by("-made_at", "-pk")

    def readable(self) -> Self:
        """Those about two reports that the members of the organization may read."""
        return self.filter(report__withheld_for=None, other__withheld_for=None)

    def with_erased_words(self) -> Self:
        """Those that still have words of a report that was erased."""
        erased = Q(report__erased_at__isnull=False) | Q(other__erased_at__isnull=False)
        return self.filter(erased).exclude(words="")

    def noting_words(self) -> Self:
        """Adds the words that may be told, `words_told`: none of a report that was erased."""
        kept = Q(report__erased_at=None, other__erased_at=None)
        none = Value("", models.TextField())
        return self.annotate(words_told=Case(When(kept, then=F("words")), default=none))


class Verdict(models.Model):
    """Whether two reports are about the same problem, as a member said; the latest counts."""

    integration = models.ForeignKey(Integration, models.CASCADE, related_name="+")
    report = models.ForeignKey(Report, models.CASCADE, related_name="+")
    other = models.ForeignKey(Report, models.CASCADE, related_name="+", help_text="The lead.")
    is_same = models.BooleanField()
    made_by = models.CharField(max_length=255, help_text="The login of the member.")
    made_at = models.DateTimeField(db_default=Now())
    rule = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        help_text="The version of the rule that had found them alike, if any.",
    )
    words = models.TextField(blank=True, help_text="What the rule had found in common, in words.")
    with_all = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Whether all that had joined the lead were split off at once.",
    )

    words_told: str  # with `VerdictQuerySet.noting_words`

    objects = VerdictQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["report", "other"], name="verdict_once_per_pair"),
        ]

    def __str__(self) -> str:
        return f"{self.report_id} {'=' if self.is_same else '≠'} {self.other_id}"
