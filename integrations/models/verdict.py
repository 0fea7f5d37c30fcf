"""What members have said about two reports: the same problem, or not."""

from django.db import models
from django.db.models.functions import Now

from integrations.models.integration import Integration
from reports.models import Report


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

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["report", "other"], name="verdict_once_per_pair"),
        ]

    def __str__(self) -> str:
        return f"{self.report_id} {'=' if self.is_same else '≠'} {self.other_id}"
