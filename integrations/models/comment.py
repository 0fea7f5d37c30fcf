"""A comment of the Hub's on an issue that it has opened."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from core.ids import ULIDField
from integrations.models.delivery import Delivery
from integrations.models.integration import Integration


class Comment(models.Model):
    """What the Hub says, or does, below one issue on one occasion. Its row is the truth about it."""

    class Purpose(models.TextChoices):
        """What it is for."""

        ALSO = "also"  # lists who also reported the problem; one per issue, and it grows
        AGAIN = "again"  # says that the problem was reported again after the issue was closed
        REOPEN = "reopen"  # no comment: reopens the issue for that reason

    class Status(models.TextChoices):
        """How far it is."""

        PENDING = "pending"  # to be written, or written anew
        WRITTEN = "written"
        LEFT = "left"  # somebody else has edited or deleted it, so it stays as it is
        DROPPED = "dropped"  # never written: GitHub refused it, or the reason was gone before

    id = ULIDField()
    integration = models.ForeignKey(Integration, models.CASCADE, related_name="+", db_index=False)
    lead = models.ForeignKey(Delivery, models.CASCADE, related_name="comments", db_index=False)
    purpose = models.CharField(max_length=6, choices=Purpose)
    occasion = models.DateTimeField(
        help_text="When the issue was closed; for the list of reports, when the lead came in."
    )
    status = models.CharField(max_length=7, choices=Status, default=Status.PENDING)
    reason = models.TextField(blank=True, help_text="Why it has its status, in words.")
    created_at = models.DateTimeField(db_default=Now())
    due_at = models.DateTimeField(db_default=Now(), help_text="When to try next.")
    lease_until = models.DateTimeField(null=True, blank=True)
    last_tried_at = models.DateTimeField(null=True, blank=True)
    tries = models.PositiveIntegerField(default=0)

    # What was sent: saved before the call, and kept.
    posted_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When it was first sent. Without a comment: GitHub has not answered, so it is looked for.",
    )
    body = models.TextField(blank=True)
    body_before = models.TextField(
        blank=True, help_text="What it said before an edit whose answer is not known."
    )
    written_at = models.DateTimeField(null=True, blank=True, help_text="When GitHub last took it.")
    comment_id = models.BigIntegerField(null=True, blank=True, help_text="GitHub's.")
    comment_url = models.URLField(max_length=500, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["status", "due_at"], name="comment_due"),
            models.Index(fields=["integration", "-last_tried_at"], name="comment_pace"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["lead", "purpose", "occasion"], name="comment_once_per_occasion"
            ),
            models.CheckConstraint(
                condition=~Q(status="written") | Q(comment_id__isnull=False) | Q(purpose="reopen"),
                name="comment_written_is_there",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_purpose_display()} {self.lead_id}"
