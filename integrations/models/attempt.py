"""One try of a delivery."""

from django.db import models


class Attempt(models.Model):
    """One try of a delivery: when, and what came of it."""

    class Outcome(models.TextChoices):
        SENT = "sent"
        ADOPTED = "adopted"
        LATER = "later"
        UNKNOWN = "unknown"
        HELD = "held"
        REFUSED = "refused"

    delivery = models.ForeignKey("integrations.Delivery", models.CASCADE, related_name="attempts")
    number = models.PositiveIntegerField()
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(max_length=10, choices=Outcome, blank=True)
    reason = models.TextField(blank=True)

    class Meta:
        ordering = ["number"]
        indexes = [models.Index(fields=["started_at"], name="attempt_oldest")]
        constraints = [
            models.UniqueConstraint(fields=["delivery", "number"], name="attempt_once_per_number"),
        ]

    def __str__(self) -> str:
        return f"Attempt {self.number}: {self.outcome or 'running'}"

    @property
    def in_words(self) -> str:
        """What came of it, for a maintainer."""
        return {
            self.Outcome.SENT: "The issue is there",
            self.Outcome.ADOPTED: "The issue was found",
            self.Outcome.LATER: "Put off",
            self.Outcome.UNKNOWN: "The answer was lost",
            self.Outcome.HELD: "Held",
            self.Outcome.REFUSED: "Refused",
        }.get(self.outcome, "Under way")  # type: ignore[call-overload]
