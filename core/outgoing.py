"""Sessions of `requests` in which no answer takes too much memory, or keeps its thread for too long."""

import io
import time
from collections.abc import Callable
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError, ReadTimeoutError

LARGEST = 50 * 2**20  # bytes; GitHub's largest list, 100 issues of 65,536 characters, has 40 MB
LONGEST = 30  # seconds, until the last byte; whoever asked has left by then
AT_ONCE = 64 * 1024  # bytes


class TooMuch(requests.RequestException):
    """The answer is larger than `LARGEST`, or took longer than `LONGEST`."""


def session(*, once_connected: Callable[[], None] | None = None) -> requests.Session:
    """A session whose answers have bounds. It takes no credentials from a `.netrc` file.

    `once_connected` is called before the first byte of a request is sent; what it raises keeps that from being sent.
    """
    new = bounded(requests.Session(), once_connected)
    new.auth = lambda request: request
    return new


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
        if self._once_connected:
            pool.ConnectionCls = _telling(pool.ConnectionCls, self._once_connected)
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


def _telling(kind: Any, once_connected: Callable[[], None]) -> Any:
    """The kind of connections that say so once they are there: a name can take minutes to be looked up."""

    class Telling(kind):
        def connect(self) -> None:
            super().connect()
            once_connected()

    return Telling


def _read(raw: Any, until: float) -> bytes:
    body = bytearray()
    while some := raw.read1(AT_ONCE, decode_content=True):
        body += some
        if len(body) > LARGEST or time.monotonic() > until:
            raise TooMuch("The answer is too large, or takes too long.")
    return bytes(body)
