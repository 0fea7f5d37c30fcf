"""Waits for the bodies of requests, for a time and within a size."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from django.conf import settings

from hub.server.asgi import Receive, Scope
from hub.server.overload import Busy
from orgs.errors import ApiError
from reports.views import MAX_BYTES

PATIENCE = 10  # seconds from the headers to the end of the body
ALTOGETHER = 64 * 1024 * 1024  # bytes of all bodies that are held at one time
WEBHOOKS = "/v1/webhooks/"


class TooSlow(ApiError):
    status_code = 408
    default_code = "request_timeout"
    default_detail = f"The body did not arrive within {PATIENCE} seconds. Nothing was stored."


class Incomplete(ApiError):
    status_code = 400
    default_code = "validation_error"
    default_detail = "The body ended before its Content-Length. Nothing was stored."


class GivenUp(Busy):
    def __init__(self) -> None:
        super().__init__("The bodies that are arriving are too much together")


class Bodies:
    """All bodies that are held. Where they become too much, who has been slow the longest goes."""

    def __init__(self) -> None:
        self._size = 0
        self._arriving: dict[asyncio.Timeout, bytearray] = {}  # the longest wait first

    @asynccontextmanager
    async def whole(self, scope: Scope, receive: Receive) -> AsyncIterator[bytes]:
        """The body of the request, held until the block is left.

        Empty where the length is not given or too much: Django refuses that without reading.
        Raises `TooSlow`, `Incomplete` or `GivenUp`.
        """
        length = _length(scope)
        body = await self._arrived(length, receive) if length else b""
        self._size += len(body)
        try:
            yield body
        finally:
            self._size -= len(body)

    async def _arrived(self, length: int, receive: Receive) -> bytes:
        body = bytearray()
        try:
            async with asyncio.timeout(PATIENCE) as deadline:
                self._arriving[deadline] = body
                while len(body) < length:
                    self._hold(deadline, await _piece(receive))
        except TimeoutError:
            raise (TooSlow() if deadline in self._arriving else GivenUp()) from None
        finally:
            self._size -= len(self._arriving.pop(deadline, b""))
        return bytes(body)

    def _hold(self, deadline: asyncio.Timeout, piece: bytes) -> None:
        if deadline not in self._arriving:
            raise GivenUp
        self._arriving[deadline] += piece
        self._size += len(piece)
        while self._size > ALTOGETHER and self._arriving:
            self._give_up_on_the_slowest()

    def _give_up_on_the_slowest(self) -> None:
        deadline = next(iter(self._arriving))
        self._size -= len(self._arriving.pop(deadline))
        if not deadline.expired():
            deadline.reschedule(asyncio.get_running_loop().time())


async def _piece(receive: Receive) -> bytes:
    message = await receive()
    if message["type"] == "http.disconnect":
        raise Incomplete(details=[])
    return message["body"]


def _length(scope: Scope) -> int:
    """The length of the body that will be read, in bytes."""
    length = next((v for name, v in scope["headers"] if name == b"content-length"), b"")
    if not length.isdigit() or len(length) > 10:
        return 0
    return int(length) if int(length) <= _most(scope["path"]) else 0


def _most(path: str) -> int:
    """The largest body that anything at this path takes."""
    if path.startswith("/v1/") and not path.startswith(WEBHOOKS):
        return MAX_BYTES
    return settings.DATA_UPLOAD_MAX_MEMORY_SIZE
