"""One attempt at a delivery."""

from django.db import models

KEPT = 100  # of one delivery: the first attempt and the latest


class Attempt(models.Model):
    """One attempt at a delivery: when it ran, and its result."""

    class Outcome(models.TextChoices):
        """The result of an attempt."""

        SENT = "sent"
        ADOPTED = "adopted"
        FOLDED = "folded"
        LATER = "later"
        UNKNOWN = "unknown"
        HELD = "held"
        REFUSED = "refused"

    delivery = models.ForeignKey(  # its constraint has an index that begins with it
        "integrations.Delivery", models.CASCADE, related_name="attempts", db_index=False
    )
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
        """The result, as shown to maintainers."""
        return {
            self.Outcome.SENT: "Issue opened",
            self.Outcome.ADOPTED: "Issue found",
            self.Outcome.FOLDED: "Joined an issue",
            self.Outcome.LATER: "Postponed",
            self.Outcome.UNKNOWN: "No answer from GitHub",
            self.Outcome.HELD: "Held",
            self.Outcome.REFUSED: "Refused",
        }.get(self.outcome, "In progress")  # type: ignore[call-overload]
