"""`status --watch`: what changes about a report, until it is no longer being delivered."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from datetime import datetime, timezone
from typing import List

from . import outcome, terminal
from .answers import Receipt
from .client import Client
from .contract import message
from .errors import DocFeedbackError, RateLimited, ServerError, Unreachable
from .result import Result
from .visible import json_line

SETTLED = ("received", "forwarded")  # what changes then, if anything, a person does
FIRST_PAUSE_SECONDS = 2.0
MAX_PAUSE_SECONDS = 60.0
MAX_WAIT_SECONDS = 3600.0  # even if the Hub says more
TIMES_AWAY = 12  # without an answer, one after the other


def follow(client: Client, report: str, *, as_json: bool) -> Result:
    """Print the receipt and what changes about it, until the report is delivered or only kept.

    A Hub that cannot be reached meanwhile is asked again, ever more seldom.
    """
    receipt = client.receipt(report)
    _show(receipt, outcome.of_receipt(receipt), as_json=as_json)
    pause = FIRST_PAUSE_SECONDS
    while receipt.status not in SETTLED:
        now = _next(client, report, pause)
        if now == receipt:
            pause = _longer(pause)
            continue
        at = datetime.now().astimezone().strftime("%H:%M:%S")
        lines = [message("change_line", time=at, change=it) for it in outcome.changed(now, receipt)]
        _show(now, lines, as_json=as_json)
        receipt, pause = now, FIRST_PAUSE_SECONDS
    is_kept = receipt.status == "received"
    return Result([message("nothing_to_watch")] if is_kept and not as_json else [], {})


def _next(client: Client, report: str, pause: float) -> Receipt:
    """The next receipt. Raises the Hub's error once it was away for too long, or says that it is of no use."""
    times = 0
    while True:
        _wait(pause)
        try:
            return client.receipt(report)
        except (Unreachable, ServerError, RateLimited) as error:
            times += 1
            if times == TIMES_AWAY:
                raise
            if times == 1:
                note = message("hub_away", reason=str(error))
                terminal.write(sys.stderr, [message("note", text=note)])
            pause = max(_longer(pause), _asked_for(error))


def _wait(seconds: float) -> None:
    progress = terminal.Progress()
    progress.show(message("watching"))
    try:
        time.sleep(seconds)
    finally:
        progress.clear()


def _longer(pause: float) -> float:
    return min(2 * pause, MAX_PAUSE_SECONDS)


def _asked_for(error: DocFeedbackError) -> float:
    """The seconds in `Retry-After`, within reason."""
    return min(error.fields.get("retry_after") or 0.0, MAX_WAIT_SECONDS)


def _show(receipt: Receipt, lines: List[str], *, as_json: bool) -> None:
    if as_json:
        at = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        event = {"at": at, **asdict(receipt)}
        lines = [json_line(event)]
    terminal.write(sys.stdout, lines)
