"""Calls to a Hub, with one retry; every response is a JSON object or an error."""

from __future__ import annotations

import re
import time
from typing import Any, Callable, Dict, NamedTuple, Optional

from . import settings, web, words
from .contract import message
from .errors import DocFeedbackError, PrivateAddress, ServerError, Unreachable, from_answer
from .visible import quoted

PAUSE_SECONDS = 0.25
AGAIN_STATUSES = (502, 503, 504)
WAIT_STATUSES = (429, 503)  # a Hub that says when to come again
AGAIN_REASONS = ("refused", "unknown_host", "broken")

_was_asked = False


def was_asked() -> bool:
    """Whether this process has begun a request to a Hub, so that something may have been sent."""
    return _was_asked


class Answered(NamedTuple):
    """A 2xx response."""

    status: int
    body: Dict[str, Any]


def has_id(body: Dict[str, Any]) -> bool:
    """Whether it has an `id`, like the response of a Hub about one thing."""
    return isinstance(body.get("id"), str)


def call(
    request: web.Request,
    seconds: float,
    way: web.Way = web.DIRECT,
    *,
    again: bool = True,
    is_answer: Callable[[Dict[str, Any]], bool] = has_id,
) -> Answered:
    """The Hub's response within `seconds`, including the retry. Raises an error of `docfeedback.errors`.

    `again`: whether to try a second time if the first request may have been lost. `is_answer`: whether a
    2xx response is what a Hub answers to this request.
    """
    hub_url = _named(request)
    answer = exchange(request, seconds, hub_url, way, again=again)
    body = answer.json()
    if 200 <= answer.status < 300 and isinstance(body, dict) and is_answer(body):
        return Answered(answer.status, body)
    raise refusal(answer, hub_url)


def _named(request: web.Request) -> str:
    """The Hub's URL, in quotes unless the user names it: its path has room for words of others."""
    hub_url = request.url.split("/v1/")[0]
    return words.quote(hub_url) if request.public_only else hub_url


def exchange(
    request: web.Request,
    seconds: float,
    hub_url: str,
    way: web.Way = web.DIRECT,
    *,
    again: bool = True,
) -> web.Answer:
    """The response of the Hub at `hub_url`, whatever its status. Raises PrivateAddress or Unreachable."""
    global _was_asked
    _was_asked = True
    try:
        return _twice(request, seconds, way) if again else way.exchange(request, seconds)
    except web.NotPublic as error:
        sentence = message(error.code, host=error.host)
        raise PrivateAddress("private_address", sentence) from None
    except web.Failed as failed:
        reason = message(failed.reason)
        raise Unreachable.of("unreachable", url=hub_url, reason=reason) from failed


def _twice(request: web.Request, seconds: float, way: web.Way) -> web.Answer:
    deadline = time.monotonic() + seconds
    pause: Optional[float]
    try:
        answer = way.exchange(request, deadline - time.monotonic())
    except web.Failed as failed:
        if failed.reason not in AGAIN_REASONS:
            raise
        pause = max(0, min(PAUSE_SECONDS, deadline - time.monotonic()))
    else:
        pause = _pause_after(answer)
        if pause is None or pause > deadline - time.monotonic():
            return answer
    way.pause(pause)
    return way.exchange(request, deadline - time.monotonic())


def _pause_after(answer: web.Answer) -> Optional[float]:
    """How many seconds to wait before the second try; None if there is none."""
    wished = _retry_after(answer)
    if answer.status in WAIT_STATUSES and wished is not None:
        return max(wished, PAUSE_SECONDS)
    return PAUSE_SECONDS if answer.status in AGAIN_STATUSES else None


def _retry_after(answer: web.Answer) -> Optional[int]:
    """The whole seconds in the header, if that has some."""
    text = answer.headers.get("Retry-After", "")
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else None


def refusal(answer: web.Answer, hub_url: str) -> DocFeedbackError:
    """The error for a response that is not what a Hub answers to the request."""
    status, body = answer.status, answer.json()
    if 300 <= status < 400:
        location = quoted(settings.without_user_info(answer.headers.get("Location", "")))
        sentence = message("redirected", url=hub_url, location=location)
        return ServerError("redirected", sentence, status=status)
    if status >= 400 and (isinstance(body, dict) or status not in (404, 405)):
        return from_answer(
            status,
            body,
            retry_after=_retry_after(answer),
            request_id=answer.headers.get("X-Request-Id"),
        )
    return unlike_a_hub(answer, hub_url)


def unlike_a_hub(answer: web.Answer, hub_url: str) -> ServerError:
    """The error for a response that no Hub gives."""
    sentence = message("not_a_hub", url=hub_url, status=answer.status)
    return ServerError("not_a_hub", sentence, status=answer.status)
