"""An issue is gone: what joined it, and stands in no comment that was written there, is sent on its own."""

from datetime import timedelta

from django.db import transaction

from integrations.models import Comment, Delivery

COMMITTED = timedelta(
    minutes=1
)  # what joined before a list was made may be committed later than that


def release(comment: Comment, reason: str) -> None:
    """Note that the issue is gone, and let go what nobody can read there."""
    lead = comment.lead
    with transaction.atomic():
        Delivery.objects.filter(pk=lead.pk).update(issue_state=Delivery.IssueState.DELETED)
        comment.end(reason)
        _unread(comment).unfold()


def _unread(comment: Comment):
    joined = Delivery.objects.filter(lead=comment.lead)
    if comment.purpose != Comment.Purpose.ALSO:
        return joined.none()
    if comment.comment_id is None or comment.written_at is None:
        return joined
    return joined.filter(folded_at__gt=comment.written_at - COMMITTED)
