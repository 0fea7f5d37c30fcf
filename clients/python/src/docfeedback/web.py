"""One request, one answer, in a bounded time; redirects and retries are up to the caller."""

from __future__ import annotations

import http.client
import json
import queue
import socket
import ssl
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any, Callable, List, Mapping, Optional, Tuple, TypeVar
from urllib.parse import urlsplit

from . import address
from .version import __version__

MAX_ANSWER = 1024 * 1024
USER_AGENT = f"docfeedback-python/{__version__}"

T = TypeVar("T")


@dataclass(frozen=True)
class Request:
    """`public_only`: refuse to connect where the host's name leads to a private address."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: Optional[bytes] = None
    public_only: bool = False


@dataclass(frozen=True)
class Answer:
    """`headers` is without regard to case."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def json(self) -> Any:
        """The parsed body, or None where it is not JSON."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None


class Failed(Exception):
    """No answer, or half of one. `reason` is its sentence in `messages.json`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class LeadsToPrivate(Exception):
    """The name of `host` resolves to an address that is not public; nothing was connected."""

    def __init__(self, host: str) -> None:
        super().__init__(host)
        self.host = host


def exchange(request: Request, seconds: float) -> Answer:
    """The answer of any status, or Failed, or LeadsToPrivate."""
    if seconds <= 0:
        raise Failed("timed_out")
    deadline = time.monotonic() + seconds
    return _within(seconds, lambda: _exchange(request, deadline))


def _exchange(request: Request, deadline: float) -> Answer:
    try:
        with _open(request, max(deadline - time.monotonic(), 0.001)) as response:
            return Answer(response.status, response.headers, _read(response, deadline))
    except (Failed, LeadsToPrivate):
        raise
    except (OSError, http.client.HTTPException, UnicodeError, ValueError) as error:
        raise Failed(_reason(error)) from error


def _open(request: Request, seconds: float) -> http.client.HTTPResponse:
    """`urllib` without the handlers that follow redirects or raise for a status."""
    opener = urllib.request.OpenerDirector()
    guarded = request.public_only and not _goes_through_a_proxy(request.url)
    https = _PublicHTTPSHandler() if guarded else urllib.request.HTTPSHandler()
    for handler in (urllib.request.ProxyHandler(), urllib.request.HTTPHandler(), https):
        opener.add_handler(handler)
    opener.addheaders = [("User-Agent", USER_AGENT)]
    message = urllib.request.Request(  # noqa: S310 (the scheme was checked: http or https)
        request.url, request.body, dict(request.headers), method=request.method
    )
    response: http.client.HTTPResponse = opener.open(message, timeout=seconds)
    return response


def _read(response: http.client.HTTPResponse, deadline: float) -> bytes:
    """The whole body: `timeout` bounds each read, so a slow drip is bounded here."""
    chunks: List[bytes] = []
    size = 0
    while chunk := response.read1(65536):
        chunks.append(chunk)
        size += len(chunk)
        if size > MAX_ANSWER:
            raise Failed("too_long")
        if time.monotonic() > deadline:
            raise Failed("timed_out")
    if response.length:
        raise http.client.IncompleteRead(b"".join(chunks), response.length)
    return b"".join(chunks)


def _within(seconds: float, work: Callable[[], T]) -> T:
    """What `work` returns or raises, or Failed.

    In a daemon thread, because neither name resolution nor a header that drips in can be given a
    time; at the end of the process nobody waits for it.
    """
    outcome: queue.SimpleQueue[Tuple[Optional[T], Optional[BaseException]]] = queue.SimpleQueue()

    def run() -> None:
        try:
            outcome.put((work(), None))
        except BaseException as error:
            outcome.put((None, error))

    threading.Thread(target=run, name="docfeedback", daemon=True).start()
    try:
        result, error = outcome.get(timeout=seconds)
    except queue.Empty:
        raise Failed("timed_out") from None
    if error is not None:
        raise error
    return result  # type: ignore[return-value]  # (no error, so it is a T)


def _goes_through_a_proxy(url: str) -> bool:
    """Then the proxy resolves the name, and connects."""
    parts = urlsplit(url)
    return parts.scheme in urllib.request.getproxies() and not urllib.request.proxy_bypass(
        parts.netloc
    )


def public_addresses(host: str, port: int) -> List[str]:
    """The IP addresses of `host`, or LeadsToPrivate where any of them is not public."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    ips = [str(entry[4][0]) for entry in found]
    if not all(address.is_public_ip(ip) for ip in ips):
        raise LeadsToPrivate(host)
    return ips


class _PublicHTTPSConnection(http.client.HTTPSConnection):
    """Connects to the very addresses that were checked, so that no second look-up can differ."""

    def connect(self) -> None:
        ips = public_addresses(self.host.strip("[]"), self.port)
        sock = _connect_to_any(ips, self.port, self.timeout)
        self.sock = ssl.create_default_context().wrap_socket(sock, server_hostname=self.host)


class _PublicHTTPSHandler(urllib.request.HTTPSHandler):
    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_PublicHTTPSConnection, req)


def _connect_to_any(ips: List[str], port: int, timeout: Optional[float]) -> socket.socket:
    for ip in ips[:-1]:
        try:
            return socket.create_connection((ip, port), timeout)
        except OSError:
            continue
    return socket.create_connection((ips[-1], port), timeout)


def _reason(error: BaseException) -> str:
    """The name in `messages.json` of why there was no answer."""
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
