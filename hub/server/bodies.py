"""Receives the bodies of requests, within a time and a size."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from django.conf import settings

from core.errors import ApiError
from core.json_body import MAX_BYTES
from hub.server.asgi import Receive, Scope
from hub.server.in_progress import InProgress
from hub.server.overload import Overloaded
from hub.server.threads import Threads

BODY_TIMEOUT = 10  # seconds from the headers to the end of the body
ALTOGETHER = 64 * 1024 * 1024  # bytes of all bodies that are held at one time
WEBHOOK = "/v1/webhooks/github"
LARGEST_FORM = 256 * 1024  # bytes: a template of 20,000 characters, each escaped as nine
SMALL_FORM = 16 * 1024  # of visitors
REPORT_FORM = "/report/"
LARGEST_REPORT = 128 * 1024  # bytes: the longest texts of a report, each character escaped as nine
FOR_MEMBERS = ("/settings/", "/admin/")


class TooSlow(ApiError):
    """408: the body did not arrive in time."""

    status_code = 408
    default_code = "request_timeout"
    default_detail = f"The body did not arrive within {BODY_TIMEOUT} seconds. Nothing was saved."


class BodyTooLarge(ApiError):
    """413: the body is too large."""

    status_code = 413
    default_code = "payload_too_large"


class Incomplete(ApiError):
    """400: the body is shorter than its length says."""

    status_code = 400
    default_code = "validation_error"
    default_detail = "The body is shorter than its Content-Length. Nothing was saved."


class GivenUp(Overloaded):
    """503: the bodies being received are too large together."""

    def __init__(self) -> None:
        super().__init__("The bodies being received are too large together")


class Bodies:
    """All bodies that are held.

    If they get too large together, the caller who holds most gives up the slowest of theirs, or if none arrives, the
    latest that waits for a thread: nobody can push out what others send by what waits. What a thread works on is not
    given up; if that is all that a caller holds, it is the turn of who holds most beside them.
    """

    def __init__(self) -> None:
        self._size = 0
        self._held: Counter[str] = Counter()  # bytes of each caller
        self._arriving: InProgress[asyncio.Timeout, bytearray] = InProgress()
        # Those that wait for a thread, and some with which one has begun.
        self._waiting: InProgress[asyncio.Future, _Whole] = InProgress()

    async def whole(self, scope: Scope, receive: Receive, caller: str) -> bytes:
        """The body of the request of `caller`. It has to be `held` at once.

        Empty if its length is missing, or too large for the API: Django refuses that without reading it.
        Raises `TooLarge`, `TooSlow`, `Incomplete` or `GivenUp`.
        """
        length = _length(scope)
        return await self._arrived(length, receive, caller) if length else b""

    @contextmanager
    def held(
        self, body: bytes, caller: str, threads: Threads, result: asyncio.Future
    ) -> Iterator[None]:
        """Hold a body of `caller`. While its request waits for `threads`, it may be given up; so ends the result."""
        whole = _Whole(len(body), partial(threads.refuse, result))
        self._hold(caller, whole.size)
        if body:
            self._waiting.add(caller, result, whole)
        try:
            yield
        finally:
            self._waiting.end(caller, result)
            self._hold(caller, -whole.size)

    async def _arrived(self, length: int, receive: Receive, caller: str) -> bytes:
        body = bytearray()
        try:
            async with asyncio.timeout(BODY_TIMEOUT) as deadline:
                self._arriving.add(caller, deadline, body)
                while len(body) < length:
                    self._add(caller, deadline, await _piece(receive))
                if self._arriving.get(caller, deadline) is None:  # with its last piece
                    raise GivenUp
        except TimeoutError:
            is_given_up = self._arriving.get(caller, deadline) is None
            raise (GivenUp() if is_given_up else TooSlow()) from None
        finally:
            self._hold(caller, -len(self._arriving.end(caller, deadline) or b""))
        return bytes(body)

    def _add(self, caller: str, deadline: asyncio.Timeout, piece: bytes) -> None:
        body = self._arriving.get(caller, deadline)
        if body is None:
            raise GivenUp
        body += piece
        self._hold(caller, len(piece))
        while self._size > ALTOGETHER and (callers := [*self._arriving, *self._waiting]):
            most = max(callers, key=self._held.__getitem__)
            self._hold(most, -self._give_up(most))

    def _give_up(self, caller: str) -> int:
        """Give up a body of `caller`: its size, or 0 if a thread has begun with it."""
        if caller in self._arriving:
            return len(self._arriving.give_up_oldest(caller) or b"")
        latest = self._waiting.end_latest(caller)
        return latest.give_up() if latest else 0

    def _hold(self, caller: str, size: int) -> None:
        self._size += size
        self._held[caller] += size
        if not self._held[caller]:
            del self._held[caller]


@dataclass(eq=False)
class _Whole:
    """A body that is whole. `refuse` refuses its request; False if that no longer waits for a thread."""

    size: int  # bytes that are held
    refuse: Callable[[GivenUp], bool]

    def give_up(self) -> int:
        """Refuse its request; returns how many bytes are held no longer."""
        if not self.refuse(GivenUp()):
            return 0
        size, self.size = self.size, 0
        return size


async def _piece(receive: Receive) -> bytes:
    message = await receive()
    if message["type"] == "http.disconnect":
        raise Incomplete(details=[])
    return message["body"]


def _length(scope: Scope) -> int:
    """The length of the body to be read, in bytes. Raises `TooLarge`."""
    length = next((v for name, v in scope["headers"] if name == b"content-length"), b"")
    if not length.isdigit() or len(length) > 10:
        return 0
    most = _most(scope)
    if int(length) <= most:
        return int(length)
    if scope["path"].startswith("/v1/"):
        return 0  # its view says so, to scripts of other origins as well
    is_visitor = most == SMALL_FORM and scope["path"].startswith(FOR_MEMBERS)
    advice = "Sign in again, then send it." if is_visitor else "Shorten it."
    raise BodyTooLarge(f"The form is over {most} bytes. {advice}", max_bytes=most)


def _most(scope: Scope) -> int:
    """The largest body that anything at its path accepts: parsing a form takes many times its size."""
    path = scope["path"]
    if path == WEBHOOK:
        return settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    if path.startswith("/v1/"):
        return MAX_BYTES
    if path == REPORT_FORM:
        return LARGEST_REPORT
    is_of_a_member = path.startswith(FOR_MEMBERS) and _has_session(scope)
    return LARGEST_FORM if is_of_a_member else SMALL_FORM


def _has_session(scope: Scope) -> bool:
    """Whether the request names a session; only Django can tell whether it is valid."""
    lines = (value for name, value in scope["headers"] if name == b"cookie")
    names = (each.partition(b"=")[0].strip() for each in b";".join(lines).split(b";"))
    return settings.SESSION_COOKIE_NAME.encode() in names
