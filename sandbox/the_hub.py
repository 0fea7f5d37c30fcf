"""The Hub, asked over HTTP as any agent may ask it."""

import json
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import quote, urlsplit

TIMEOUT = 20.0
LARGEST = 1024 * 1024  # bytes of an answer

Json = dict[str, Any]


class NoAnswer(Exception):
    """The Hub gave no answer that can be shown; the message is a sentence."""


def send(hub_url: str, report: Json) -> Json:
    """`POST /v1/reports`. Raises `NoAnswer`, also if the Hub refuses the report."""
    return _ask(hub_url, "POST", "/v1/reports", report)


def receipt(hub_url: str, report_id: str) -> Json:
    """`GET /v1/reports/<id>`. Raises `NoAnswer`."""
    return _ask(hub_url, "GET", f"/v1/reports/{quote(report_id, safe='')}")


def _ask(hub_url: str, method: str, path: str, body: Json | None = None) -> Json:
    target = urlsplit(hub_url)
    connect = HTTPSConnection if target.scheme == "https" else HTTPConnection
    connection = connect(target.hostname or "", target.port, timeout=TIMEOUT)
    sent = None if body is None else json.dumps(body).encode()
    try:
        connection.request(method, path, sent, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return _read(answer.status, answer.read(LARGEST))
    except (OSError, HTTPException) as error:
        raise NoAnswer(f"The Hub at {hub_url} does not answer ({error}). Is it running?") from None
    finally:
        connection.close()


def _read(status: int, body: bytes) -> Json:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise NoAnswer(f"The Hub answered {status}, and not in JSON.")
    if status >= 400:
        raise NoAnswer(f"The Hub answered {status}: {answer.get('message', '')}")
    return answer
