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
from dataclasses import dataclass
from functools import partial
from typing import Any, Dict, List, Mapping, Optional, Tuple
from urllib.parse import urlsplit

from . import address, document
from .version import __version__

MAX_ANSWER = 1024 * 1024
USER_AGENT = f"docfeedback-python/{__version__}"


@dataclass(frozen=True)
class Request:
    """`public_only`: refuse to connect if the host's name resolves to a private address."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: Optional[bytes] = None
    public_only: bool = False


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


class LeadsToPrivate(Exception):
    """The name of `host` resolves to an address that is not public; nothing was connected."""

    def __init__(self, host: str) -> None:
        super().__init__(host)
        self.host = host


def exchange(request: Request, seconds: float) -> Answer:
    """The response, whatever its status. Raises Failed or LeadsToPrivate; after that, nothing is sent.

    Runs in a daemon thread, because neither name resolution nor slow headers can be given a time limit;
    at the end of the process nobody waits for it.
    """
    if seconds <= 0:
        raise Failed("timed_out")
    attempt = _Attempt(request, time.monotonic() + seconds)
    try:
        threading.Thread(target=attempt.run, name="docfeedback", daemon=True).start()
        answer, error = attempt.outcome.get(timeout=seconds)
    except queue.Empty:
        raise Failed("timed_out") from None
    finally:
        attempt.give_up()
    if answer is None:
        raise error or Failed("broken")
    return answer


class _Attempt:
    """One request in progress, which another thread may end."""

    def __init__(self, request: Request, deadline: float) -> None:
        self.outcome: queue.SimpleQueue[Tuple[Optional[Answer], Optional[BaseException]]]
        self.outcome = queue.SimpleQueue()
        self._request = request
        self._deadline = deadline
        self._proxied = _goes_through_a_proxy(request.url)
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
        hosts = public_addresses(*place) if guarded else [place[0]]
        sock = _connect_to_any(hosts, place[1], self._seconds_left())
        self._line = sock.dup()
        if self._given_up:
            self._hang_up()
        return sock

    def _hang_up(self) -> None:
        with contextlib.suppress(OSError):
            if self._line is not None:
                self._line.shutdown(socket.SHUT_RDWR)

    def _seconds_left(self) -> float:
        return max(self._deadline - time.monotonic(), 0.001)

    def _exchange(self) -> Answer:
        try:
            with self._open() as response:
                return Answer(response.status, response.headers, self._read(response))
        except (Failed, LeadsToPrivate):
            raise
        except (OSError, http.client.HTTPException, UnicodeError, ValueError) as error:
            raise Failed(_reason(error)) from error

    def _open(self) -> http.client.HTTPResponse:
        """`urllib` without the handlers that follow redirects or raise for a status."""
        opener = urllib.request.OpenerDirector()
        proxies: Optional[Dict[str, str]] = None if self._proxied else {}
        for handler in (urllib.request.ProxyHandler(proxies), _Handler(self)):
            opener.add_handler(handler)
        opener.addheaders = [("User-Agent", USER_AGENT)]
        request = self._request
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


class _HTTPConnection(http.client.HTTPConnection):
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
    """Whether a proxy resolves the name and connects. A Hub on this machine needs none."""
    parts = urlsplit(url)
    if address.is_loopback(url) or parts.scheme not in urllib.request.getproxies():
        return False
    return not urllib.request.proxy_bypass(parts.netloc)


def public_addresses(host: str, port: int) -> List[str]:
    """The IP addresses of `host`. Raises LeadsToPrivate if any of them is not public."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    ips = [str(entry[4][0]) for entry in found]
    if not all(address.is_public_ip(ip) for ip in ips):
        raise LeadsToPrivate(host)
    return ips


def _connect_to_any(hosts: List[str], port: int, timeout: float) -> socket.socket:
    for host in hosts[:-1]:
        try:
            return socket.create_connection((host, port), timeout)
        except OSError:
            continue
    return socket.create_connection((hosts[-1], port), timeout)


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
