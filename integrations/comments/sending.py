"""One attempt at a comment: whatever GitHub answers and however often this is called, there is one."""

from collections.abc import Callable
from datetime import datetime, timedelta

from core import connections
from core.watching import metrics
from integrations import github_api
from integrations.comments import again, again_words, listing, releasing, words
from integrations.delivery import leased, ownership_changes, pacing
from integrations.delivery.forwarding import SOON
from integrations.folding import joining
from integrations.github_api import IssueComment, IssueFacts
from integrations.models import Comment, Delivery
from integrations.models.comment import DELETED_BY_OTHERS, EDITED_BY_OTHERS, ON_HOLD

Purpose = Comment.Purpose
CHANGED = "The issue was reopened, or closed anew, before this was done."
UNOWNED = "The page no longer belongs to the organization, so nothing is written about it."
GONE = "Its issue is gone: it was deleted, or moved to another repository."


def is_anything_due() -> bool:
    """Whether any comment is to be written; cheap enough to ask every second."""
    return leased.is_anything_due(COMMENTS)


def send_due(go_on: Callable[[], bool] = lambda: True, slow: set[int] | None = None) -> int:
    """Write what is due, while `go_on` returns True; returns how many were tried.

    `slow` as in `leased.send_due`: for one call that begins where the last one ended.
    """
    return leased.send_due(COMMENTS, go_on, set() if slow is None else slow)


def send(comment_id: str) -> bool:
    """Write a comment as far as possible now; whether GitHub could be reached."""
    return leased.send(COMMENTS, comment_id)


def _attempt(comment: Comment, deadline: float) -> None:
    try:
        if comment.lead.issue_state == Delivery.IssueState.DELETED:
            releasing.release(comment, GONE)
        elif not comment.comment_id and words.are_on_hold(comment):
            comment.leave(ON_HOLD, leased.AGAIN)
        else:
            ACTS[comment.purpose](comment, deadline)
    except github_api.IssueGone as error:
        releasing.release(comment, str(error))
    except github_api.Locked as error:
        comment.wait(str(error), _longer(comment, str(error)))


def _wait_until_unlocked(comment: Comment) -> None:
    """GitHub would refuse it, which would count against the pace."""
    comment.leave(github_api.IS_LOCKED, _longer(comment, github_api.IS_LOCKED))


def _longer(comment: Comment, reason: str) -> timedelta:
    """An hour, then twice as long each time, up to a day: what is locked for good takes nobody's turns."""
    if comment.reason != reason:
        return leased.AGAIN
    return min(leased.AGAIN * 2 ** min(comment.tries - 1, 5), timedelta(days=1))


def write(comment: Comment, deadline: float) -> None:
    """Write the comment, or write it anew; GitHub may not have told that the issue was closed."""
    if _is_for_others(comment):
        comment.leave(UNOWNED, leased.AGAIN)
        return
    facts = _read_anew(comment, deadline)
    again.note_missed(comment.lead_id)
    if comment.comment_id is None:
        _look(comment, facts, deadline)
    else:
        _edit(comment, comment.comment_id, facts, deadline)


def write_again(comment: Comment, deadline: float) -> None:
    """Write it if the issue is still closed as it was on this occasion; later, write it anew."""
    if _is_for_others(comment):
        comment.leave(UNOWNED, leased.AGAIN)
        return
    if not (comment.comment_id or comment.posted_at or again_words.unerased(comment).exists()):
        comment.forget()  # before GitHub is asked anything
        return
    facts = _read_anew(comment, deadline)
    if comment.comment_id is None:
        _look(comment, facts, deadline, is_timely=again.is_still_closed(comment, facts))
    else:
        _edit(comment, comment.comment_id, facts, deadline)


def reopen(comment: Comment, deadline: float) -> None:
    """Reopen the issue if it is still closed as it was, and what came again still there; first it is said why."""
    if why := _why_never(comment):
        comment.drop(why)
    elif not _is_theirs(comment.lead):
        comment.leave(UNOWNED, leased.AGAIN)
    elif again.is_to_be_said_first(comment):
        comment.leave("The Hub says first why it reopens the issue.", SOON)
    elif not again_words.unerased(comment).exists():
        comment.forget()
    else:
        _reopen(comment, _read_anew(comment, deadline), deadline)


def _look(comment: Comment, facts: IssueFacts, deadline: float, *, is_timely: bool = True) -> None:
    """Write the comment, unless an attempt before has, also one of a Hub before a restored backup."""
    since = (comment.posted_at or comment.lead.created_at) - github_api.CLOCKS_DIFFER
    connections.give_back()  # hold no connection while waiting for GitHub
    marker = words.marker(comment)
    found = github_api.find_comment(
        *comment.place, marker, since=since, now=comment.started_at, deadline=deadline
    )
    if found:
        comment.found(found.id, found.url)
    elif not comment.has_settled():
        comment.look_once_settled()
    elif why := _why_never(comment):
        releasing.end(comment, why)
    elif not _is_theirs(comment.lead):
        comment.leave(UNOWNED, leased.AGAIN)
    elif not is_timely:
        comment.drop(CHANGED)
    elif facts.is_locked:
        _wait_until_unlocked(comment)
    else:
        _post(comment, deadline)


def _is_for_others(comment: Comment) -> bool:
    """Whether it was never sent, and its page is lost: as long as that lasts, GitHub is asked nothing."""
    is_sent = comment.comment_id or comment.posted_at
    return not (is_sent or _why_never(comment) or _is_theirs(comment.lead))


def _is_theirs(lead: Delivery) -> bool:
    """Whether its page, or one of those that a member let join it, belongs to the organization."""
    newest = joining.joined(lead).values_list("pk", flat=True)[: listing.LISTED]
    return bool(ownership_changes.owned([lead.pk, *newest]))


def _why_never(comment: Comment) -> str:
    """Why it is not written any more, whatever GitHub says; empty if it may be."""
    if comment.has_left():
        return f"The issues go to {comment.integration.repository} now."
    return "" if again.is_wanted(comment) else "A member has chosen something else."


def _read_anew(comment: Comment, deadline: float) -> IssueFacts:
    """The issue as GitHub has it now, which is saved."""
    connections.give_back()
    facts = github_api.read_issue(*comment.place, deadline=deadline)
    again.note_read(comment.lead, facts)
    return facts


def _reopen(comment: Comment, facts: IssueFacts, deadline: float) -> None:
    if again.is_still_closed(comment, facts):
        comment.record(None)
        comment.posted_at = comment.started_at  # an answer that is lost does not undo it
        connections.give_back()
        now = github_api.reopen_issue(*comment.place, deadline=deadline)
        again.note_read(comment.lead, now)
        comment.edited(None)
        metrics.comments.up("reopened")
    elif comment.posted_at and facts.closed_at is None:
        comment.edited(None)  # by an attempt whose answer was lost
    else:
        comment.drop(CHANGED)


def _post(comment: Comment, deadline: float) -> None:
    until = comment.lead.last_joined_at()  # first: what joins meanwhile may be in the text
    if not (text := words.of(comment)):
        comment.forget()
        return
    comment.record(until)
    connections.give_back()
    made = github_api.create_comment(*comment.place, text, deadline=deadline)
    comment.made(made.id, made.url)
    _note("made", comment, made)


def _edit(comment: Comment, comment_id: int, facts: IssueFacts, deadline: float) -> None:
    """Write it anew if it is still as the Hub wrote it, and is to say something else now."""
    connections.give_back()
    there = github_api.read_comment(*comment.place, comment_id, deadline=deadline)
    until = comment.lead.last_joined_at()
    if there is None:
        comment.left(DELETED_BY_OTHERS)
    elif words.is_last(comment, there.body):  # by an attempt whose answer was lost
        comment.begin_anew()
    elif not words.is_unedited(comment, there.body):
        comment.left(EDITED_BY_OTHERS)
    elif not (text := words.of(comment)) or words.are_same(there.body, text):
        comment.is_as_it_was(until)
    elif facts.is_locked:
        _wait_until_unlocked(comment)
    else:
        _patch(comment, comment_id, text, until, deadline)


def _patch(
    comment: Comment, comment_id: int, text: str, until: datetime | None, deadline: float
) -> None:
    connections.give_back()
    edited = github_api.edit_comment(*comment.place, comment_id, text, deadline=deadline)
    if edited is None:
        comment.left(DELETED_BY_OTHERS)
        return
    if words.is_last(comment, text):
        comment.begin_anew()
    else:
        comment.edited(until)
    _note("edited", comment, edited)


def _note(what: str, comment: Comment, there: IssueComment) -> None:
    metrics.comments.up(what)
    comment.installation.note_limit(there.limit_left)


ACTS: dict[str, Callable[[Comment, float], None]] = {
    Purpose.ALSO: write,
    Purpose.AGAIN: write_again,
    Purpose.REOPEN: reopen,
}
COMMENTS = leased.Work(Comment, _attempt, releasing.end, pacing.COMMENTS)
