"""What an installation has tried of late for an integration that has left it."""

from django.db import models

from integrations.models.integration import Installation


class PastTry(models.Model):
    """One try that still counts against the pace of an installation, though its delivery no longer does.

    The organization was deleted, or has moved to another installation.
    """

    installation = models.ForeignKey(
        Installation, models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    source = models.CharField(max_length=16, blank=True, help_text="As of the delivery.")
    last_tried_at = models.DateTimeField(db_index=True)

    class Meta:
        verbose_name_plural = "past tries"
        indexes = [models.Index(fields=["installation", "-last_tried_at"], name="past_try_pace")]

    def __str__(self) -> str:
        return f"at {self.last_tried_at}"
