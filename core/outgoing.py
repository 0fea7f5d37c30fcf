"""Sessions of `requests` in which no answer takes too much memory, or keeps its thread for too long."""

import io
import time
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError, ReadTimeoutError

LARGEST = 50 * 2**20  # bytes; GitHub's largest list, 100 issues of 65,536 characters, has 40 MB
LONGEST = 30  # seconds, until the last byte; whoever asked has left by then
AT_ONCE = 64 * 1024  # bytes


class TooMuch(requests.RequestException):
    """The answer is larger than `LARGEST`, or took longer than `LONGEST`."""


def session() -> requests.Session:
    """A session whose answers have bounds. It takes no credentials from a `.netrc` file."""
    new = bounded(requests.Session())
    new.auth = lambda request: request
    return new


def bounded(session: requests.Session) -> requests.Session:
    """The session, whose answers have bounds from now on."""
    for scheme in ("http://", "https://"):
        session.mount(scheme, _Bounded())
    return session


class _Bounded(HTTPAdapter):
    """Reads the whole answer before it is returned. Its text is UTF-8, as all JSON is, whatever it says."""

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


def _read(raw: Any, until: float) -> bytes:
    body = bytearray()
    while some := raw.read1(AT_ONCE, decode_content=True):
        body += some
        if len(body) > LARGEST or time.monotonic() > until:
            raise TooMuch("The answer is too large, or takes too long.")
    return bytes(body)
