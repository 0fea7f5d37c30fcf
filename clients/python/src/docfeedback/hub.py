"""Calls to a Hub, with one retry; every response is a JSON object or an error."""

from __future__ import annotations

import time
from typing import Any, Callable, Dict, NamedTuple

from . import web
from .contract import message
from .errors import DocFeedbackError, PrivateAddress, ServerError, Unreachable, from_answer

PAUSE_SECONDS = 0.25
AGAIN_STATUSES = (502, 503, 504)
AGAIN_REASONS = ("refused", "unknown_host", "broken")


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
    *,
    again: bool = True,
    is_answer: Callable[[Dict[str, Any]], bool] = has_id,
) -> Answered:
    """The Hub's response within `seconds`, including the retry. Raises an error of `docfeedback.errors`.

    `again`: whether to try a second time if the first request may have been lost. `is_answer`: whether a
    2xx response is what a Hub answers to this request.
    """
    hub_url = request.url.split("/v1/")[0]
    answer = exchange(request, seconds, hub_url, again=again)
    body = answer.json()
    if 200 <= answer.status < 300 and isinstance(body, dict) and is_answer(body):
        return Answered(answer.status, body)
    raise refusal(answer, hub_url)


def exchange(
    request: web.Request, seconds: float, hub_url: str, *, again: bool = True
) -> web.Answer:
    """The response of the Hub at `hub_url`, whatever its status. Raises PrivateAddress or Unreachable."""
    once_or_twice = _exchange_with_retry if again else web.exchange
    try:
        return once_or_twice(request, seconds)
    except web.LeadsToPrivate as error:
        sentence = message("resolves_private", host=error.host)
        raise PrivateAddress("private_address", sentence) from None
    except web.Failed as failed:
        reason = message(failed.reason)
        raise Unreachable.of("unreachable", url=hub_url, reason=reason) from failed


def _exchange_with_retry(request: web.Request, seconds: float) -> web.Answer:
    deadline = time.monotonic() + seconds
    try:
        answer = web.exchange(request, deadline - time.monotonic())
        if answer.status not in AGAIN_STATUSES:
            return answer
    except web.Failed as failed:
        if failed.reason not in AGAIN_REASONS:
            raise
    time.sleep(max(0, min(PAUSE_SECONDS, deadline - time.monotonic())))
    return web.exchange(request, deadline - time.monotonic())


def refusal(answer: web.Answer, hub_url: str) -> DocFeedbackError:
    """The error for a response that is not what a Hub answers to the request."""
    status, body = answer.status, answer.json()
    if 300 <= status < 400:
        location = answer.headers.get("Location", "")
        sentence = message("redirected", url=hub_url, location=location)
        return ServerError("redirected", sentence, status=status)
    if status >= 400 and (isinstance(body, dict) or status not in (404, 405)):
        return from_answer(status, body, retry_after=answer.headers.get("Retry-After"))
    return unlike_a_hub(answer, hub_url)


def unlike_a_hub(answer: web.Answer, hub_url: str) -> ServerError:
    """The error for a response that no Hub gives."""
    sentence = message("not_a_hub", url=hub_url, status=answer.status)
    return ServerError("not_a_hub", sentence, status=answer.status)
