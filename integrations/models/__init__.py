"""Integrations, deliveries and their attempts, and alerts."""

from integrations.models.alert import Alert
from integrations.models.attempt import Attempt
from integrations.models.delivery import Delivery
from integrations.models.hold import Hold
from integrations.models.integration import Installation, Integration, Repository
from integrations.models.one_time_state import OneTimeState
from integrations.models.webhook import Webhook

__all__ = [
    "Alert",
    "Attempt",
    "Delivery",
    "Hold",
    "Installation",
    "Integration",
    "OneTimeState",
    "Repository",
    "Webhook",
]
