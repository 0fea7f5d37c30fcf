"""`reports`: a table of an organization's reports, or a line of JSON for each."""

from __future__ import annotations

import re
import sys
from typing import Any, Dict, Iterator, List, Optional, Pattern

from . import login, report_list, settings, terminal, words
from .arguments import Arguments, usage_error
from .contract import message
from .report import KINDS
from .report_list import Page
from .result import Result
from .visible import cut, json_line, plain, quoted, width

FLAGS = {
    "--status": "status",
    "--kind": "kind",
    "--query": "q",
    "--page": "page",
    "--agent": "agent",
    "--claim": "claim",
    "--since": "since",
    "--until": "until",
}
STATUSES = ("none", "pending", "sending", "sent", "folded", "held", "failed", "discarded")
DEFAULT_LIMIT = 50
COLUMNS = ("id_column", "received_column", "status_column", "summary_column")
WIDTHS = (26, 10, 9, 29)  # with two spaces between them, 80
SHAPES = (words.ULID, words.TIME, words.STATE)


def run(arguments: Arguments) -> Result:
    """List your organization's reports, newest first, as the Hub sends them."""
    limit = _limit(arguments.get("--limit"))
    _check(arguments)
    as_json = "--json" in arguments.flags
    shown = 0
    for page in _pages(arguments):
        some = page.reports if limit is None else page.reports[: limit - shown]
        if some and not shown and not as_json:
            terminal.write(sys.stdout, [_row([message(name) for name in COLUMNS])])
        terminal.write(sys.stdout, [json_line(it) if as_json else _line(it) for it in some])
        shown += len(some)
        if shown == limit and (page.following or len(some) < len(page.reports)):
            return Result([], {}, [message("more_reports", count=shown)])
        if shown == limit:
            break
    return Result([] if shown else [message("no_reports")], {})


def _check(arguments: Arguments) -> None:
    """Raise an error for a kind or a status that there is not; a blank one is refused like other filters."""
    kind, status = arguments.get("--kind"), arguments.get("--status")
    if kind and kind not in KINDS:
        raise usage_error("unknown_kind", name=kind)
    if status and status not in STATUSES:
        raise usage_error("unknown_status", name=status)


def _pages(arguments: Arguments) -> Iterator[Page]:
    hub_url = settings.required_hub_url(arguments.get("--hub-url"))
    seconds = settings.timeout()
    given = {name: arguments.get(flag) for flag, name in FLAGS.items()}
    checked = report_list.checked(given, {name: flag for flag, name in FLAGS.items()})

    def ask(asked: Dict[str, str]) -> Page:
        def fetch(token: str) -> Page:
            return report_list.fetch(hub_url, token, asked, seconds)

        return login.signed_in(hub_url, seconds, fetch)[0]

    return report_list.pages(hub_url, checked, ask)


def _limit(value: Optional[str]) -> Optional[int]:
    """How many reports to show; None for all of them."""
    if value is None:
        return DEFAULT_LIMIT
    if value != "all" and not re.fullmatch("[1-9][0-9]{0,8}", value):
        raise usage_error("bad_limit", name=value)
    return None if value == "all" else int(value)


def _line(report: Dict[str, Any]) -> str:
    summary = message("erased_summary") if report["erased_at"] else report["summary"]
    found = [report["id"], report["received_at"], _status(report["delivery"])]
    checked = [_checked(*each) for each in zip(found, SHAPES, WIDTHS)]
    return _row([*checked, summary])


def _checked(text: str, shape: Pattern[str], most: int) -> str:
    """The text, up to `most` columns of it, and in quotes unless it has this shape."""
    return text[:most] if shape.fullmatch(text) else f'"{cut(quoted(text), most - 2)}"'


def _status(delivery: Optional[Dict[str, Any]]) -> str:
    """As the filter `--status` names it."""
    if delivery is None:
        return "none"
    return "discarded" if delivery["held_for"] == "discarded" else str(delivery["status"])


def _row(cells: List[str]) -> str:
    return "  ".join(_fitted(plain(cell), most) for cell, most in zip(cells, WIDTHS)).rstrip()


def _fitted(cell: str, most: int) -> str:
    """The cell, as wide as its column."""
    shown = cut(cell, most)
    return shown + " " * (most - width(shown))
