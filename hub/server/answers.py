"""Responses: produced completely in a thread, then sent as fast as the client reads."""

import asyncio
import json
import logging
from collections.abc import Iterable
from contextlib import closing, suppress
from io import SEEK_END, BytesIO
from typing import IO, Any, NamedTuple

from core import client_address, cors, error_answers
from core.errors import ApiError
from core.watching import current
from core.watching.current import Asked
from hub.server import environ, health, spool
from hub.server.asgi import Application, Headers, Scope, Send
from hub.server.overload import Overloaded
from hub.server.untaken import Untaken

log = logging.getLogger(__name__)

PIECE = 4 * 1024  # bytes that are sent at once; the server keeps about four, and waits for nobody
SEND_TIMEOUT = 30  # seconds in which a client has to take one piece
LOCKED_DOWN = {  # of what is answered without Django, which has more
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "same-origin",
}


class HttpAnswer(NamedTuple):
    """A complete response: status, headers and body."""

    status: int
    headers: Headers
    body: IO[bytes]


def of(application: Application, scope: Scope, body: bytes, asked: Asked) -> HttpAnswer:
    """Let `application` produce its response to the end, so that nothing is sent if it fails midway.

    Raises `Overloaded` if there is no room for the response.
    """
    with current.answering(asked):
        try:
            return _made(application, environ.of(scope, body))
        except Overloaded as error:  # without the frames, which hold the whole response
            raise error.with_traceback(None) from None
        except BaseException:  # SystemExit, too, which would end the event loop
            log.exception("Internal error at %s", current.place(scope["path"]))
            return refusal(error_answers.InternalError(), scope["path"])


def _made(application: Application, asked: dict[str, Any]) -> HttpAnswer:
    head: list[Any] = []
    with closing(application(asked, lambda *args: head.extend(args))) as pieces:
        body = spool.whole(pieces, whose=lambda: _whose(asked))
    status, headers = head[:2]
    return HttpAnswer(int(status[:3]), _encoded(headers), body)


def _whose(asked: dict[str, Any]) -> str:
    network = client_address.network(asked["REMOTE_ADDR"], asked.get("HTTP_X_FORWARDED_FOR"))
    return asked.get(spool.WHOSE, network)


def refusal(error: ApiError, path: str) -> HttpAnswer:
    """An error response in JSON. The rest of the request is not read."""
    headers = {
        "Content-Type": "application/json",
        "Cache-Control": "no-store",
        "Connection": "close",
        **LOCKED_DOWN,
        **error.headers,
    }
    if path.startswith("/v1/reports"):
        headers |= cors.HEADERS
    body = json.dumps(error_answers.body_at(path, error)).encode()
    return HttpAnswer(error.status_code, _encoded(headers.items()), BytesIO(body))


def alive() -> HttpAnswer:
    """The response to `/healthz`."""
    headers = {"Content-Type": "text/plain", **LOCKED_DOWN}
    return HttpAnswer(200, _encoded(headers.items()), BytesIO(health.ALIVE.encode()))


async def send(answer: HttpAnswer, send: Send, caller: str, untaken: Untaken) -> None:
    """Send the whole response to `caller`, or give up on a client that is gone or does not read.

    `listening.py` closes the connection of one that does not read.
    """
    with closing(answer.body) as body, suppress(OSError):
        length = body.seek(0, SEEK_END)
        body.seek(0)
        start = {"type": "http.response.start", "status": answer.status}
        await send({**start, "headers": _with_length(answer.headers, length)})
        if length <= PIECE:
            await send({"type": "http.response.body", "body": body.read(), "more_body": False})
            return
        async with asyncio.timeout(SEND_TIMEOUT) as deadline:
            with untaken.one(caller, deadline):
                for left in range(length, 0, -PIECE):
                    untaken.go_on(caller, deadline, SEND_TIMEOUT)
                    more = left > PIECE
                    piece = body.read(PIECE)
                    await send({"type": "http.response.body", "body": piece, "more_body": more})


def _with_length(headers: Headers, length: int) -> Headers:
    """Add the length, so that a truncated response can be recognized."""
    if length <= PIECE or any(name == b"content-length" for name, _ in headers):
        return headers
    return [*headers, (b"content-length", str(length).encode())]


def _encoded(headers: Iterable[tuple[str, str]]) -> Headers:
    return [(n.lower().encode("latin-1"), v.encode("latin-1")) for n, v in headers]
