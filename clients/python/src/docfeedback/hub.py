"""Calls to a Hub, with one retry; every response is a JSON object or an error."""

from __future__ import annotations

import time
from typing import Any, Dict, NamedTuple

from . import web
from .contract import message
from .errors import DocFeedbackError, PrivateAddress, ServerError, Unreachable, from_answer

PAUSE_SECONDS = 0.25
AGAIN_STATUSES = (502, 503, 504)
AGAIN_REASONS = ("refused", "unknown_host", "broken")


class Answered(NamedTuple):
    """A 2xx response; `body` has an `id`, like every response of a Hub."""

    status: int
    body: Dict[str, Any]


def call(request: web.Request, seconds: float, *, again: bool = True) -> Answered:
    """The Hub's response within `seconds`, including the retry. Raises an error of `docfeedback.errors`.

    `again`: whether to try a second time if the first request may have been lost.
    """
    exchange = _exchange_with_retry if again else web.exchange
    try:
        answer = exchange(request, seconds)
    except web.LeadsToPrivate as error:
        sentence = message("resolves_private", host=error.host)
        raise PrivateAddress("private_address", sentence) from None
    except web.Failed as failed:
        reason = message(failed.reason)
        raise Unreachable.of("unreachable", url=_hub(request), reason=reason) from failed
    body = answer.json()
    has_id = isinstance(body, dict) and isinstance(body.get("id"), str)
    if 200 <= answer.status < 300 and has_id:
        return Answered(answer.status, body)
    raise _error(request, answer, body)


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


def _error(request: web.Request, answer: web.Answer, body: Any) -> DocFeedbackError:
    status, url = answer.status, _hub(request)
    if 300 <= status < 400:
        location = answer.headers.get("Location", "")
        sentence = message("redirected", url=url, location=location)
        return ServerError("redirected", sentence, status=status)
    if status >= 400 and (isinstance(body, dict) or status not in (404, 405)):
        return from_answer(status, body, retry_after=answer.headers.get("Retry-After"))
    sentence = message("not_a_hub", url=url, status=status)
    return ServerError("not_a_hub", sentence, status=status)


def _hub(request: web.Request) -> str:
    return request.url.split("/v1/")[0]
