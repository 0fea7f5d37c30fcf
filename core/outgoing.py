"""Sessions of `requests` in which no answer takes too much memory, or keeps its thread for too long."""

import io
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    NameResolutionError,
    NewConnectionError,
    ReadTimeoutError,
)

from core import lookups

LARGEST = 50 * 2**20  # bytes; GitHub's largest list, 100 issues of 65,536 characters, has 40 MB
LONGEST = 30  # seconds, until the last byte; whoever asked has left by then
AT_ONCE = 64 * 1024  # bytes
LOOKED_UP = 30.0  # seconds; each silent resolver takes some of them
PORTS = {"http": 80, "https": 443}
SILENT = "no server has said where it is"
FIRST = 2.0  # seconds to connect with an address of a host, where it has another


class TooMuch(requests.RequestException):
    """The answer is larger than `LARGEST`, or took longer than `LONGEST`."""


def session(*, once_connected: Callable[[], None] | None = None) -> requests.Session:
    """A session whose answers have bounds. It takes no credentials from a `.netrc` file.

    `once_connected` is called before the first byte of a request is sent; what it raises keeps that from being sent.
    """
    new = bounded(requests.Session(), once_connected)
    new.auth = lambda request: request
    return new


def expect(url: str) -> None:
    """Have the host of `url` looked up while another one is asked: the resolver may take seconds for each."""
    parts = urlsplit(url)
    lookups.begin(parts.hostname or "", parts.port or PORTS[parts.scheme])


def bounded(
    session: requests.Session, once_connected: Callable[[], None] | None = None
) -> requests.Session:
    """The session, whose answers have bounds from now on."""
    for scheme in ("http://", "https://"):
        session.mount(scheme, _Bounded(once_connected))
    return session


class _Bounded(HTTPAdapter):
    """Reads the whole answer before it is returned. Its text is UTF-8, as all JSON is, whatever it says."""

    def __init__(self, once_connected: Callable[[], None] | None) -> None:
        self._once_connected = once_connected
        super().__init__()

    def get_connection_with_tls_context(self, *request: Any, **options: Any) -> Any:
        pool = super().get_connection_with_tls_context(*request, **options)
        pool.ConnectionCls = _bounded(pool.ConnectionCls, self._once_connected)
        return pool

    def send(self, *request: Any, **options: Any) -> requests.Response:
        until = time.monotonic() + LONGEST
        answer = super().send(*request, **{**options, "stream": True})
        try:
            body = _read(answer.raw, until)
        except ReadTimeoutError as error:
            raise requests.ReadTimeout(error) from error
        except HTTPError as error:
            raise requests.ConnectionError(error) from error
        finally:
            answer.raw.close()
        answer.raw, answer.encoding = io.BytesIO(body), "utf-8"
        return answer


def _bounded(kind: Any, once_connected: Callable[[], None] | None) -> Any:
    """The kind of connections that neither a resolver nor an address that leads nowhere keeps for long."""

    class Bounded(kind):
        _dns_host: str
        timeout: float | None

        def connect(self) -> None:
            super().connect()
            if once_connected:
                once_connected()

        def _new_conn(self) -> socket.socket:
            host, patience = self._dns_host, self.timeout
            *others, last = self._addresses()
            try:
                for self._dns_host in others:
                    self.timeout = min(patience or FIRST, FIRST)
                    with suppress(ConnectTimeoutError, NewConnectionError):
                        return super()._new_conn()
                self._dns_host, self.timeout = last, patience
                return super()._new_conn()
            finally:  # a certificate is compared with the host
                self._dns_host, self.timeout = host, patience

        def _addresses(self) -> list[str]:
            host = self._dns_host.strip("[]")
            try:
                return lookups.addresses(host, self.port, timeout=LOOKED_UP)
            except TimeoutError:
                unknown = socket.gaierror(socket.EAI_AGAIN, SILENT)
            except (OSError, UnicodeError) as error:
                unknown = socket.gaierror(
                    socket.EAI_FAIL, getattr(error, "strerror", None) or str(error)
                )
            raise NameResolutionError(self.host, self, unknown) from unknown

    return Bounded


def _read(raw: Any, until: float) -> bytes:
    body = bytearray()
    while some := raw.read1(AT_ONCE, decode_content=True):
        body += some
        if len(body) > LARGEST or time.monotonic() > until:
            raise TooMuch("The answer is too large, or takes too long.")
    return bytes(body)
