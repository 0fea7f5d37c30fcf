"""GitHub's responses, and what they say about rate limits and the time."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

from core import clock
from integrations.github_api.errors import FOR_OPERATORS, Limited, OtherTime, TooQuick, Unreachable

NONSENSE = timedelta(seconds=60)
OTHER_TIME = (
    "The clocks of this Hub's database and of GitHub differ by more than two hours, "
    "so it cannot be found out what was sent." + FOR_OPERATORS
)
MAX_DIGITS = 20  # of a number of seconds; more digits would not lengthen the wait
LONGEST_REASON = 500  # characters
SHORT = 120  # characters of what all reports of a repository wait for
MOST_ERRORS = 20  # of one answer, that are told
IN_WORDS = ("rate limit", "abuse detection")  # what a limit is called, the second on older hosts
TOO_QUICKLY = "was submitted too quickly"  # the end of an error of a 422 that is a limit
LONGEST_WAIT = timedelta(hours=1)
CLOCKS_DIFFER = timedelta(hours=2)  # the most that the clocks of the database and GitHub may differ


class GitHubAnswer(NamedTuple):
    """GitHub's response: the status, headers by lower-case name, and the JSON (None if it was not JSON)."""

    status: int
    headers: dict[str, str]
    body: Any

    @property
    def is_githubs(self) -> bool:
        """Whether GitHub itself says it: a refusal that is no JSON is the page of a proxy."""
        return not 400 <= self.status < 500 or isinstance(self.body, dict)

    @property
    def message(self) -> str:
        """GitHub's message; empty without one."""
        return _words(self.body.get("message") or "") if isinstance(self.body, dict) else ""

    @property
    def summary(self) -> str:
        """The beginning of its message, or the status: its errors may repeat what was sent."""
        return self.message[:SHORT].strip() or str(self.status)

    @property
    def reason(self) -> str:
        """What is wrong with the request: its errors if there are any, or the message, or the status."""
        return _words("; ".join(self.errors)) or self.message or str(self.status)

    @property
    def errors(self) -> list[str]:
        """The first errors of a refused request, each in words."""
        errors = self.body.get("errors") if isinstance(self.body, dict) else None
        listed = errors[:MOST_ERRORS] if isinstance(errors, list) else []
        return [_in_words(each) for each in listed]


def raise_for_limit(answer: GitHubAnswer) -> None:
    """Raise `Limited` if a rate limit is reached.

    https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api, and
    https://docs.github.com/en/rest/issues/issues (create an issue: 422 also where it "has been spammed")
    """
    if answer.status == 422 and any(map(_is_too_quick, answer.errors)):
        raise TooQuick(NONSENSE)
    if answer.status not in (403, 429):
        return
    headers = answer.headers
    if "retry-after" in headers:
        raise Limited(_wait(headers["retry-after"], answer))
    if headers.get("x-ratelimit-remaining") == "0":
        left = _number(headers.get("x-ratelimit-reset", "")) - date(answer).timestamp()
        raise Limited(_capped(left) if left > 0 else NONSENSE)
    if answer.status == 429 or any(each in answer.message.lower() for each in IN_WORDS):
        raise Limited(NONSENSE)


def limit_left(answer: GitHubAnswer) -> int | None:
    """How many calls are left in this hour; None if the response does not say."""
    text = answer.headers.get("x-ratelimit-remaining", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else None


@contextmanager
def making_sense() -> Iterator[None]:
    """Raise `Unreachable` if the block fails to read a response. Only for calls that create nothing."""
    try:
        yield
    except (LookupError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise Unreachable("GitHub's response could not be understood.") from error


def date(answer: GitHubAnswer) -> datetime:
    """GitHub's time if the response has it, else ours."""
    try:
        return parsedate_to_datetime(answer.headers["date"]).astimezone(UTC)
    except (KeyError, ValueError, OverflowError):
        return datetime.now(UTC)


def require_same_time(answer: GitHubAnswer, now: datetime) -> None:
    """Raise `OtherTime` if the database's clock, where it is `now`, is not GitHub's.

    What is missing among all that GitHub has updated since a time of ours proves nothing then.
    """
    if abs(date(answer) + clock.ahead - now) > CLOCKS_DIFFER:
        raise OtherTime(OTHER_TIME)


def _words(said: Any) -> str:
    """What is shown of a sentence. It may repeat what somebody wrote, and no column takes a NUL."""
    shown = str(said)[:LONGEST_REASON]
    return "".join(each if each.isprintable() else " " for each in shown).strip()


def _in_words(error: Any) -> str:
    """One error of a 422: its own message, or the field and a code such as `missing_field`."""
    if not isinstance(error, dict):
        return str(error)
    named = (error.get("field"), error.get("code"))
    return str(error.get("message") or " ".join(str(each) for each in named if each))


def _is_too_quick(error: str) -> bool:
    return error.rstrip(".").endswith(TOO_QUICKLY)


def _wait(retry_after: str, answer: GitHubAnswer) -> timedelta:
    """`Retry-After` in seconds or as a date (RFC 9110, 10.2.3)."""
    try:
        until = parsedate_to_datetime(retry_after).astimezone(UTC)
    except (ValueError, OverflowError):
        return _capped(_number(retry_after))
    return _capped((until - date(answer)).total_seconds())


def _number(text: str) -> float:
    """A number of seconds; NaN for nonsense."""
    return float(text[:MAX_DIGITS]) if text.isdecimal() else math.nan


def _capped(seconds: float) -> timedelta:
    if math.isnan(seconds):
        return NONSENSE
    return timedelta(seconds=min(max(seconds, 1), LONGEST_WAIT.total_seconds()))
