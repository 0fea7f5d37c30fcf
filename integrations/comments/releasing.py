"""An issue is gone, or its repository was left: what joined it, and stands in no comment there, is sent on its own."""

from django.utils import timezone

from core import batches
from integrations.delivery import issue_states
from integrations.delivery.issue_states import IssueNews
from integrations.folding import joining
from integrations.models import Comment, Delivery


def release(comment: Comment, reason: str) -> None:
    """Note that the issue is gone, and let go what nobody can have read there.

    In this order: from the first step on nothing else joins the issue, and a process that ends on the way
    leaves a comment that is tried again.
    """
    repository, number = comment.place
    gone = IssueNews(Delivery.IssueState.DELETED, updated_at=timezone.now())
    issue_states.note(repository.id, number, gone)
    end(comment, reason)


def end(comment: Comment, reason: str) -> None:
    """Let go what nobody can have read there, and then end the comment: nothing can be written any more."""
    unread = list(comment.unread().values_list("pk", flat=True)[: batches.AT_ONCE + 1])
    for some in batches.of(unread[: batches.AT_ONCE]):
        joining.unfold(Delivery.objects.filter(pk__in=some))
    if len(unread) > batches.AT_ONCE:
        comment.leave(reason)
    else:
        comment.end(reason)
