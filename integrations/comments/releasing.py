"""An issue is gone: what joined it, and stands in no comment that was written there, is sent on its own."""

from datetime import timedelta

from core import batches
from integrations.folding import joining
from integrations.models import Comment, Delivery
from integrations.models.delivery import DeliveryQuerySet

COMMITTED = timedelta(
    minutes=1
)  # what joined before a list was made may be committed later than that


def release(comment: Comment, reason: str) -> None:
    """Note that the issue is gone, let go what nobody can have read there, and then end the comment.

    In this order: from the first step on nothing else joins the issue, and a process that ends on the way
    leaves a comment that is tried again.
    """
    lead = Delivery.objects.filter(pk=comment.lead_id)
    lead.update(issue_state=Delivery.IssueState.DELETED)
    unread = list(_unread(comment).values_list("pk", flat=True)[: batches.AT_ONCE + 1])
    for some in batches.of(unread[: batches.AT_ONCE]):
        joining.unfold(Delivery.objects.filter(pk__in=some))
    if len(unread) > batches.AT_ONCE:
        comment.leave(reason)
    else:
        comment.end(reason)


def _unread(comment: Comment) -> DeliveryQuerySet:
    joined = Delivery.objects.filter(lead=comment.lead_id).order_by("pk")
    if comment.purpose != Comment.Purpose.ALSO:
        return joined.none()
    if comment.comment_id is None or comment.written_at is None:
        return joined
    return joined.filter(folded_at__gt=comment.written_at - COMMITTED)
