"""What a comment says, by its purpose, with the mark by which the Hub finds it and knows that nobody has edited it."""

from collections.abc import Callable
from datetime import UTC
from hashlib import sha256

from integrations.comments import again_words, listing
from integrations.models import Comment, Delivery
from integrations.models.delivery import DeliveryQuerySet

TEXTS: dict[str, Callable[[Comment], str | None]] = {
    Comment.Purpose.ALSO: listing.text,
    Comment.Purpose.AGAIN: again_words.text,
}
ABOUT: dict[str, Callable[[Comment], DeliveryQuerySet]] = {
    Comment.Purpose.ALSO: listing.reports,
    Comment.Purpose.AGAIN: again_words.unerased,
    Comment.Purpose.REOPEN: again_words.unerased,
}
_END = " -->"


def of(comment: Comment) -> str | None:
    """All that it is to say now; None if there is nothing to say."""
    text = TEXTS[comment.purpose](comment)
    mark = _last_marker if _is_over(comment) else marker
    return text and f"{text}\n\n{mark(comment)}{_digest(text)}{_END}"


def are_on_hold(comment: Comment) -> bool:
    """Whether operators hold all reports that it is about."""
    pks = set(ABOUT[comment.purpose](comment).values_list("pk", flat=True))
    return bool(pks) and Delivery.objects.on_hold(pks) == pks


def marker(comment: Comment) -> str:
    """The mark without its end; the same for a comment that a Hub before a restored backup has written."""
    occasion = comment.occasion.astimezone(UTC)
    return f"<!-- hub:{comment.lead.report_id} {comment.purpose} {occasion:%Y%m%dT%H%M%SZ} "


def is_unedited(comment: Comment, body: str) -> bool:
    """Whether it says what the Hub has once written, whenever that was: the mark has a digest of the text."""
    return _is_whole(body, marker(comment))


def is_last(comment: Comment, body: str) -> bool:
    """Whether it says, as the Hub has written it, that nothing is left for which it was written.

    It is not found again, so what comes after that is said in a comment of its own.
    """
    return _is_whole(body, _last_marker(comment))


def are_same(body: str, other: str) -> bool:
    """Whether two texts differ at most in line ends and spaces that nobody sees."""
    return _plain(body) == _plain(other)


def _is_over(comment: Comment) -> bool:
    return comment.purpose == Comment.Purpose.AGAIN and again_words.is_over(comment)


def _last_marker(comment: Comment) -> str:
    return f"<!-- hub:{comment.lead.report_id} over {comment.comment_id} "


def _is_whole(body: str, marker: str) -> bool:
    text, _, mark = _plain(body).rpartition(marker)
    return mark == f"{_digest(text)}{_END}"


def _digest(text: str) -> str:
    return sha256(_plain(text).encode()).hexdigest()[:32]


def _plain(text: str) -> str:
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip() for line in lines).strip()
