"""What the owner of a page tells the reporters of a known problem."""

from django.db import models

from integrations.models.delivery import Delivery

LONGEST = 500  # characters


class Answer(models.Model):
    """The answer to all who report the problem of one issue."""

    delivery = models.OneToOneField(
        Delivery, models.CASCADE, related_name="answer", help_text="That of the lead."
    )
    text = models.CharField(max_length=LONGEST)
    link = models.URLField(
        max_length=2048, blank=True, help_text="On a host that the organization has claimed."
    )
    made_by = models.CharField(max_length=255, help_text="The login of the member.")
    changed_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"Answer to {self.delivery_id}"
