"""What became of the issues that the Hub has opened, as far as GitHub has told."""

from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import transaction
from django.db.models import F, Q

from core import clock
from integrations.github_api import IssueFacts
from integrations.models import Comment, Delivery
from integrations.models.delivery import DeliveryQuerySet

COMPLETED = "completed"
REASONS = (COMPLETED, "not_planned", "duplicate")  # why an issue is closed
AFTER = timedelta(days=1)  # until then, reports are of those who have not seen the fix


class IssueNews(NamedTuple):
    """The state of an issue on GitHub; `updated_at`: GitHub's time of it, if known."""

    state: Delivery.IssueState
    reason: str = ""  # one of `REASONS` if it is closed and GitHub says why
    closed_at: datetime | None = None
    updated_at: datetime | None = None


def note(repository_id: int, number: int, news: IssueNews) -> None:
    """Save the state of an issue, if it is one of the Hub's, unless what is known of it is newer."""
    mine = Delivery.objects.filter(repository_id=repository_id, issue_number=number)
    is_closed = news.state == Delivery.IssueState.CLOSED
    columns = {
        "issue_state": news.state,
        "issue_state_reason": news.reason if is_closed else "",
        "issue_closed_at": news.closed_at if is_closed else None,
    }
    if news.updated_at:
        mine = mine.exclude(_is_newer(news.updated_at, news.state))
        columns["issue_updated_at"] = news.updated_at
    with transaction.atomic():  # what joined a deleted issue would else stay there
        if mine.update(**columns) and news.state == Delivery.IssueState.DELETED:
            Comment.objects.note_gone(repository_id, number)


def read(facts: IssueFacts) -> IssueNews:
    """What GitHub has said of an issue when it was asked."""
    states = Delivery.IssueState
    state = states.OPEN if facts.state == states.OPEN else states.CLOSED
    reason = facts.reason if facts.reason in REASONS else ""
    return IssueNews(state, reason, facts.closed_at, facts.updated_at)


def fixed() -> DeliveryQuerySet:
    """Those whose issue was closed as completed, a day ago or more, where their organization's issues go."""
    closed = Delivery.objects.filter(
        status=Delivery.Status.SENT,
        issue_state=Delivery.IssueState.CLOSED,
        issue_state_reason=COMPLETED,
        issue_closed_at__lte=clock.now() - AFTER,
        repository_id=F("integration__repository_id"),
    )
    return closed.select_related("integration")


def _is_newer(updated_at: datetime, state: Delivery.IssueState) -> Q:
    """Whether what is known is newer than that. Nothing happens to an issue after it was deleted."""
    known = Q(issue_updated_at__isnull=False)
    newer = known & Q(issue_updated_at__gt=updated_at)
    if state == Delivery.IssueState.DELETED:
        return newer & Q(issue_state=state)
    return newer | known & Q(issue_state=Delivery.IssueState.DELETED, issue_updated_at=updated_at)
