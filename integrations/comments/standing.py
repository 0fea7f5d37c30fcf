"""Which comments on GitHub may still have the text of a report, and why the Hub does not take it out now."""

from typing import NamedTuple

from django.db.models import Q

from integrations import github_api
from integrations.delivery.holds import NO_REPOSITORY
from integrations.models import Attempt, Comment, Delivery, Verdict

NO_MORE = "The Hub does not change it any more."


class Standing(NamedTuple):
    """A comment: its URL, and why the Hub leaves it as it is, a sentence. Empty: it is written anew in minutes."""

    url: str
    why: str


def of(delivery: Delivery) -> list[Standing]:
    """The comments with its text, if it has joined an issue; of an erased one, those not written since then."""
    if delivery.lead is None:
        return []
    there = Comment.objects.still_there(delivery.lead).select_related("integration__installation")
    if erased_at := delivery.report.erased_at:
        is_older = Q(written_at__lte=erased_at) | Q(written_at=None)
        there = there.filter(is_older).exclude(status=Comment.Status.WRITTEN)
    return [Standing(each.comment_url, _why(each)) for each in there.order_by("pk")]


def may_be_below_another(delivery: Delivery) -> bool:
    """Whether it had joined an issue that it has left, so that a comment there may still have its text.

    Which one, nobody has noted.
    """
    was_joined = delivery.attempts.filter(outcome=Attempt.Outcome.FOLDED).exists()
    has_left = delivery.lead is None or bool(delivery.folded_by)  # for another, by a member
    told_apart = Verdict.objects.filter(report=delivery.report_id, is_same=False)
    return (was_joined and has_left) or told_apart.exists()


def _why(comment: Comment) -> str:
    if comment.status == Comment.Status.LEFT:
        return NO_MORE
    if comment.integration.repository_id is None:
        return NO_REPOSITORY
    is_locked = comment.reason == github_api.IS_LOCKED
    return comment.integration.obstacle or (comment.reason if is_locked else "")
