"""Which webhooks were received, so that a replay changes nothing."""

from datetime import timedelta

from django.db import models
from django.db.models.functions import Now

KEPT = timedelta(days=30)  # GitHub repeats one for three days at most


class WebhookQuerySet(models.QuerySet["Webhook"]):
    """Queries over webhooks."""

    def is_new(self, delivery_id: str) -> bool:
        """True once for each `X-GitHub-Delivery`, if the surrounding transaction commits."""
        return self.get_or_create(delivery_id=delivery_id)[1]


class Webhook(models.Model):
    """A webhook that was received and applied."""

    delivery_id = models.CharField(max_length=64, unique=True)
    received_at = models.DateTimeField(db_default=Now(), db_index=True)

    objects = WebhookQuerySet.as_manager()

    def __str__(self) -> str:
        return self.delivery_id
