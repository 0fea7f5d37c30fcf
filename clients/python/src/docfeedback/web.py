"""One request and its response, within a time limit; redirects and retries are up to the caller."""

from __future__ import annotations

import contextlib
import http.client
import queue
import socket
import ssl
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Set, Tuple
from urllib.parse import urlsplit

from . import address, document, threads, verbose
from .errors import DocFeedbackError, Unreachable
from .version import __version__

MAX_ANSWER = 1024 * 1024
MAX_INTERIM = 20  # responses of status 1xx before the final one
MAX_ADDRESSES = 4  # of IPv4 and of IPv6, of a name that may have a hundred
ACCEPT = {"Accept": "application/json"}
USER_AGENT = f"docfeedback-python/{__version__}"

Found = Tuple[int, int, int, str, Any]  # an address, as `socket.getaddrinfo` returns it


@dataclass(frozen=True)
class Request:
    """`public_only`: send nothing if the host's name resolves to a private address or not in time.

    Nor through a proxy.

    `timeout`: for how many seconds somebody waits for the response, as far as that is known.
    """

    method: str
    url: str
    headers: Mapping[str, str] = field(repr=False)  # there may be a token
    body: Optional[bytes] = None
    public_only: bool = False
    timeout: Optional[float] = None


@dataclass(frozen=True)
class Response:
    """What a transport returns; the names of the headers may be in any case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


Transport = Callable[[Request], Response]


@dataclass(frozen=True)
class Answer:
    """A response; `headers` ignore case."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def json(self) -> Any:
        """The parsed body; None if it is not JSON."""
        try:
            return document.parse(self.body)
        except document.NoDocument:
            return None


class Failed(Exception):
    """No complete response. `reason` is its message in `messages.json`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class NotPublic(Exception):
    """The name of `host` resolves to an address that is not public, or did not resolve in time.

    Nothing was connected. `code` is its message in `messages.json`: `resolves_private` or `unresolved`.
    """

    def __init__(self, host: str, code: str) -> None:
        super().__init__(host, code)
        self.host = host
        self.code = code


class Way:
    """How requests leave: by the transport that was given, or else by ours; until they are stopped."""

    def __init__(self, transport: Optional[Transport] = None) -> None:
        self._transport = transport
        self._stopped = threading.Event()
        self._attempts: Set[_Attempt] = set()

    @property
    def is_ours(self) -> bool:
        """Whether `public_only` holds, since it is our transport."""
        return self._transport is None

    @verbose.shown
    def exchange(self, request: Request, seconds: float) -> Answer:
        """The response, whatever its status. Raises Failed, NotPublic or Unreachable; then nothing more is sent.

        Runs in a daemon thread, because neither name resolution nor slow headers can be given a time
        limit; at the end of the process nobody waits for it.
        """
        if seconds <= 0:
            raise Failed("timed_out")
        timed = replace(request, timeout=seconds)
        attempt = _Attempt(timed, time.monotonic() + seconds, self._transport)
        self._attempts.add(attempt)
        try:
            self.pause(0)
            threads.start(attempt.run)
            return attempt.answer(seconds)
        finally:
            attempt.give_up()
            self._attempts.discard(attempt)

    def pause(self, seconds: float) -> None:
        """Wait. Raises Unreachable as soon as it was stopped."""
        if self._stopped.wait(seconds):
            raise Unreachable.of("interrupted")

    def stop(self) -> None:
        """End what is in progress; nothing leaves from now on."""
        self._stopped.set()
        for attempt in tuple(self._attempts):
            attempt.outcome.put((None, Unreachable.of("interrupted")))
            attempt.give_up()


DIRECT = Way()  # ours, and nobody stops it


class _Attempt:
    """One request in progress, which another thread may end."""

    def __init__(
        self, request: Request, deadline: float, transport: Optional[Transport] = None
    ) -> None:
        self.outcome: queue.SimpleQueue[Tuple[Optional[Answer], Optional[BaseException]]]
        self.outcome = queue.SimpleQueue()
        self._request = request
        self._deadline = deadline
        self._transport = transport or self._send
        self._proxied = False
        self._is_unresolved = request.public_only and transport is None
        self._given_up = False
        self._line: Optional[socket.socket] = None  # a second handle of the connection

    def run(self) -> None:
        try:
            self.outcome.put((self._exchange(), None))
        except BaseException as error:
            self.outcome.put((None, error))
        finally:
            if self._line is not None:
                self._line.close()

    def answer(self, seconds: float) -> Answer:
        """What came of it within the time; raises the error if that is one."""
        try:
            answer, error = self.outcome.get(timeout=seconds)
        except queue.Empty:
            if self._is_unresolved:
                raise NotPublic(urlsplit(self._request.url).hostname or "", "unresolved") from None
            raise Failed("timed_out") from None
        if answer is None:
            raise error or Failed("broken")
        return answer

    def give_up(self) -> None:
        """End it; what has not been sent by now is not sent any more."""
        self._given_up = True
        self._hang_up()

    def go_on(self) -> None:
        """Raise Failed if nobody waits for the response any more."""
        if self._given_up or time.monotonic() > self._deadline:
            raise Failed("timed_out")

    def connect(self, place: Tuple[str, int], *_: Any) -> socket.socket:
        """A connection to the host and port; if it must be public, to the address that was checked.

        So a second lookup of the name cannot give another address.
        """
        guarded = self._request.public_only and not self._proxied
        found = public_addresses(*place) if guarded else _addresses(*place)
        self._is_unresolved = False
        sock = self._connect_to_any(_few(found))
        self._line = sock.dup()
        if self._given_up:
            self._hang_up()
        return sock

    def _connect_to_any(self, found: Sequence[Found]) -> socket.socket:
        """A connection to the first address that answers while somebody waits for it."""
        failure = OSError()
        for each in found:
            self.go_on()
            try:
                return _connected(each, self._seconds_left())
            except OSError as error:
                failure = error
        raise failure

    def _hang_up(self) -> None:
        with contextlib.suppress(OSError):
            if self._line is not None:
                self._line.shutdown(socket.SHUT_RDWR)

    def _seconds_left(self) -> float:
        return max(self._deadline - time.monotonic(), 0.001)

    def _exchange(self) -> Answer:
        headers = {**self._request.headers, "User-Agent": USER_AGENT}
        try:
            return _answer(self._transport(replace(self._request, headers=headers)))
        except (Failed, NotPublic, DocFeedbackError):
            raise
        except Exception as error:  # of a transport that we do not know
            raise Failed(_reason(error)) from error

    def _send(self, request: Request) -> Response:
        """Our own transport."""
        self._proxied = _goes_through_a_proxy(request.url)
        if self._proxied and request.public_only:
            _refuse_private(request.url, self._seconds_left() / 2)
            self._is_unresolved = False
        with self._open(request) as response:
            return Response(response.status, dict(response.headers), self._read(response))

    def _open(self, request: Request) -> http.client.HTTPResponse:
        """`urllib` without the handlers that follow redirects or raise for a status."""
        opener = urllib.request.OpenerDirector()
        proxies: Optional[Dict[str, str]] = None if self._proxied else {}
        for handler in (urllib.request.ProxyHandler(proxies), _Handler(self)):
            opener.add_handler(handler)
        opener.addheaders = []
        message = urllib.request.Request(  # noqa: S310 (the scheme was checked: http or https)
            request.url, request.body, dict(request.headers), method=request.method
        )
        response: http.client.HTTPResponse = opener.open(message, timeout=self._seconds_left())
        return response

    def _read(self, response: http.client.HTTPResponse) -> bytes:
        """The whole body: a time-out bounds each read, so slow bodies are bounded here."""
        chunks: List[bytes] = []
        size = 0
        while chunk := response.read1(65536):
            chunks.append(chunk)
            size += len(chunk)
            if size > MAX_ANSWER:
                raise Failed("too_long")
            self.go_on()
        if response.length:
            raise http.client.IncompleteRead(b"".join(chunks), response.length)
        return b"".join(chunks)


def _answer(response: Any) -> Answer:
    """What a transport returned. Raises Failed if that is no response."""
    headers = http.client.HTTPMessage()
    try:
        for name, value in response.headers.items():
            headers[str(name)] = str(value)
        status, body = response.status, response.body
    except (AttributeError, TypeError, ValueError):
        raise Failed("no_response") from None
    if not isinstance(status, int) or not isinstance(body, bytes) or not 100 <= status <= 599:
        raise Failed("no_response")
    if len(body) > MAX_ANSWER:
        raise Failed("too_long")
    return Answer(status, headers, body)


class _Handler(urllib.request.AbstractHTTPHandler):
    """Handles both schemes with the connections of an attempt."""

    def __init__(self, attempt: _Attempt) -> None:
        super().__init__()
        self._attempt = attempt

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(partial(_HTTPConnection, attempt=self._attempt), req)

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(partial(_HTTPSConnection, attempt=self._attempt), req)

    http_request = https_request = urllib.request.AbstractHTTPHandler.do_request_


class _HTTPResponse(http.client.HTTPResponse):
    def _read_status(self) -> Tuple[str, int, str]:
        """The first line of the final response (RFC 9110, 15.2): `http.client` passes over 100 alone.

        Raises Failed after too many others.
        """
        for _ in range(MAX_INTERIM + 1):
            head: Tuple[str, int, str] = super()._read_status()  # type: ignore[misc]
            if head[1] == 101 or not 100 <= head[1] <= 199:
                return head
            http.client.parse_headers(self.fp)
        raise Failed("too_long")


class _HTTPConnection(http.client.HTTPConnection):
    response_class = _HTTPResponse

    def __init__(self, host: str, *, attempt: _Attempt, timeout: float) -> None:
        super().__init__(host, timeout=timeout)
        self._create_connection = attempt.connect
        self._attempt = attempt

    def connect(self) -> None:
        super().connect()
        self._attempt.go_on()  # the request is sent next


class _HTTPSConnection(_HTTPConnection, http.client.HTTPSConnection):
    pass


def _goes_through_a_proxy(url: str) -> bool:
    """Whether a proxy resolves the name and connects. A Hub on this machine needs none.

    Raises DocFeedbackError for one that would be sent a password without TLS, against its address.
    """
    parts = urlsplit(url)
    proxy = urllib.request.getproxies().get(parts.scheme)
    if proxy is None or address.is_loopback(url) or urllib.request.proxy_bypass(parts.netloc):
        return False
    if proxy.strip().lower().startswith("https:") and "@" in proxy:
        raise DocFeedbackError.of("insecure_proxy", name=f"{parts.scheme}_proxy")
    return True


def _refuse_private(url: str, seconds: float) -> None:
    """Raise NotPublic if the host's name resolves here to a private address, or takes longer to resolve.

    In some networks only the proxy resolves names, so a lookup that fails ends nothing.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    found: List[NotPublic] = []

    def look_up() -> None:
        with contextlib.suppress(OSError, UnicodeError):
            try:
                public_addresses(host, parts.port or 443)
            except NotPublic as error:
                found.append(error)

    thread = threads.start(look_up)
    thread.join(seconds)
    if found:
        raise found[0]
    if thread.is_alive():
        raise NotPublic(host, "unresolved")


def public_addresses(host: str, port: int) -> Sequence[Found]:
    """The addresses of `host`. Raises NotPublic if any of them is not public."""
    found = _addresses(host, port)
    if not all(address.is_public_ip(str(where[0])) for *_, where in found):
        raise NotPublic(host, "resolves_private")
    return found


def _addresses(host: str, port: int) -> Sequence[Found]:
    return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)


def _few(found: Sequence[Found]) -> Sequence[Found]:
    """The first ones of IPv4 and of IPv6, in their order: one of both may lead nowhere."""
    few: List[Found] = []
    for each in found:
        if sum(other[0] == each[0] for other in few) < MAX_ADDRESSES:
            few.append(each)
    return few


def _connected(found: Found, seconds: float) -> socket.socket:
    family, kind, protocol, _, where = found
    sock = socket.socket(family, kind, protocol)
    try:
        sock.settimeout(seconds)
        sock.connect(where)
    except BaseException:
        sock.close()
        raise
    return sock


def _reason(error: BaseException) -> str:
    """The name in `messages.json` of why there was no response."""
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(cause, socket.timeout):  # TimeoutError only since Python 3.10
        return "timed_out"
    if isinstance(cause, ConnectionRefusedError):
        return "refused"
    if isinstance(cause, (socket.gaierror, UnicodeError)):
        return "unknown_host"
    if isinstance(cause, ssl.SSLCertVerificationError):
        return "untrusted"
    return "broken"
