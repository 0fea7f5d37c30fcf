"""What a report says, in terms that can be compared: what its likeness to others is computed from."""

from django.db import models

from integrations.models.delivery import Delivery
from integrations.models.integration import Integration


class Terms(models.Model):
    """The terms of one report. They can be computed anew from its text at any time."""

    delivery = models.OneToOneField(
        Delivery, models.CASCADE, primary_key=True, related_name="terms"
    )
    integration = models.ForeignKey(Integration, models.CASCADE, related_name="+", db_index=False)
    page = models.CharField(max_length=32, help_text="A hash of the canonical URL.")
    rule = models.PositiveSmallIntegerField(help_text="The version of the rule that parsed them.")
    terms = models.JSONField()
    may_lead = models.BooleanField(
        default=True, help_text="Whether others may join it: false for one that has joined another."
    )

    class Meta:
        verbose_name_plural = "terms"
        indexes = [
            models.Index(
                fields=["integration", "page", "may_lead", "-delivery"], name="terms_of_page"
            ),
        ]

    def __str__(self) -> str:
        return f"Terms of {self.delivery_id}"
