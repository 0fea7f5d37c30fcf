"""Integrations, deliveries and their attempts, what they are like, comments, and alerts."""

from integrations.models.alert import Alert
from integrations.models.answer import Answer
from integrations.models.attempt import Attempt
from integrations.models.comment import Comment
from integrations.models.delivery import Delivery
from integrations.models.hold import Hold
from integrations.models.integration import Installation, Integration, Repository
from integrations.models.one_time_state import OneTimeState
from integrations.models.past_try import PastTry
from integrations.models.terms import Terms
from integrations.models.verdict import Verdict
from integrations.models.visibility import Visibility
from integrations.models.webhook import SEVERAL, News, Webhook

__all__ = [
    "SEVERAL",
    "Alert",
    "Answer",
    "Attempt",
    "Comment",
    "Delivery",
    "Hold",
    "Installation",
    "Integration",
    "News",
    "OneTimeState",
    "PastTry",
    "Repository",
    "Terms",
    "Verdict",
    "Visibility",
    "Webhook",
]
