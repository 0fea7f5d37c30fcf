"""Webhooks as GitHub sends them: one POST, signed over the raw body, never tried again.

https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
"""

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

from .records import App

TIMEOUT = 10.0


@dataclass(frozen=True)
class Event:
    """One webhook. `id` is its `X-GitHub-Delivery`: the same event sent again keeps it."""

    name: str
    payload: Mapping[str, Any]
    id: str


@dataclass(frozen=True)
class Sent:
    """What became of an event: the receiver's status, or None and the reason why there was none."""

    event: Event
    status: int | None
    problem: str = ""
    at: datetime | None = None


def send(event: Event, app: App) -> Sent:
    """POSTs the event to the app's webhook URL and waits for the answer, ten seconds at most."""
    target = urlsplit(app.webhook_url)
    connect = HTTPSConnection if target.scheme == "https" else HTTPConnection
    connection = connect(target.hostname or "", target.port, timeout=TIMEOUT)
    body = json.dumps(event.payload).encode()
    try:
        connection.request("POST", target.path or "/", body, headers=headers(event, body, app=app))
        answer = connection.getresponse()
        answer.read()
        return Sent(event, answer.status)
    except (OSError, HTTPException) as error:
        return Sent(event, None, f"{type(error).__name__}: {error}")
    finally:
        connection.close()


def headers(event: Event, body: bytes, *, app: App) -> dict[str, str]:
    """The headers of a webhook, with its signature."""
    return {
        "Content-Type": "application/json",
        "User-Agent": "GitHub-Hookshot/sandbox",
        "X-GitHub-Event": event.name,
        "X-GitHub-Delivery": event.id,
        "X-GitHub-Hook-Installation-Target-ID": str(app.id),
        "X-GitHub-Hook-Installation-Target-Type": "integration",
        "X-Hub-Signature-256": signature(body, app.webhook_secret),
    }


def signature(body: bytes, secret: str) -> str:
    """The signature of a body, as in `X-Hub-Signature-256`."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
