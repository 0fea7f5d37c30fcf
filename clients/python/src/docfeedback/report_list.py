"""An organization's reports, newest first, in pages, as `GET /v1/orgs/me/reports` gives them."""

from __future__ import annotations

import re
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Set, Tuple
from urllib.parse import urlencode

from . import hub, settings, web
from .contract import message
from .document import an_object, objects, text, whole
from .errors import RateLimited, ServerError, ValidationError
from .shape import has_half_a_character
from .visible import is_blank

PATH = "/v1/orgs/me/reports"
NO_FLAGS: Mapping[str, str] = {}
FILTERS = ("status", "kind", "q", "page", "agent", "claim", "since", "until")
REQUIRED = ("id", "received_at", "doc_url", "kind", "summary", "agent_name")
CURSOR = re.compile(r"[\x21-\x7e]{1,200}")
MAX_PAGES = 20_000  # a million reports
MAX_EMPTY_PAGES = 10  # in a row
MAX_WAIT_SECONDS = (
    60  # before a page, where so many were asked for that the Hub takes no more for now
)
PATIENCE_SECONDS = 120  # for all pages together
PATIENCE_FOR_A_REPORT = 0.1  # more for each that came: a Hub of ours gives 1,000 in a minute


class Page(NamedTuple):
    """Some reports; `following` is the cursor of the next page, None on the last one."""

    reports: List[Dict[str, Any]]
    following: Optional[str]


def checked(
    filters: Mapping[str, Optional[str]], flags: Mapping[str, str] = NO_FLAGS
) -> Dict[str, str]:
    """The filters that are given. Raises ValidationError, since a wrong one would list everything.

    `flags`: what the person who gave them knows them by.
    """
    given = {name: value for name, value in filters.items() if value is not None}
    for name, value in given.items():
        if name not in FILTERS:
            raise ValidationError.of("unknown_filter", name=name, known=", ".join(FILTERS))
        if not isinstance(value, str) or is_blank(value) or has_half_a_character(value):
            raise ValidationError.of("invalid_filter", name=flags.get(name, name))
    return given


def fetch(
    hub_url: str, token: str, asked: Mapping[str, str], seconds: float, way: web.Way = web.DIRECT
) -> Page:
    """One page. Raises an error of `docfeedback.errors`."""
    url = f"{hub_url}{PATH}" + (f"?{urlencode(asked)}" if asked else "")
    headers = {**web.ACCEPT, "Authorization": f"Bearer {token}"}
    answer = hub.call(web.Request("GET", url, headers), seconds, way, is_answer=_has_reports)
    following = answer.body.get("next_cursor")
    if following is not None and not (isinstance(following, str) and CURSOR.fullmatch(following)):
        raise _endless(hub_url, answer.status)
    reports = objects(answer.body["reports"], *REQUIRED)
    return Page([_shaped(report) for report in reports], following)


def pages(
    hub_url: str,
    filters: Mapping[str, str],
    ask: Callable[[Dict[str, str]], Page],
    way: web.Way = web.DIRECT,
) -> Iterator[Page]:
    """All pages; `ask` fetches one. Raises ServerError if the list does not end.

    Raises RateLimited if the Hub has one wait for too long before a page, or before all of them together.
    """
    page = ask(dict(filters))
    seen: Set[str] = set()
    empty, patience = 0, float(PATIENCE_SECONDS)
    while True:
        yield page
        if page.following is None:
            return
        empty = 0 if page.reports else empty + 1
        if page.following in seen or len(seen) == MAX_PAGES or empty == MAX_EMPTY_PAGES:
            raise _endless(hub_url, 200)
        seen.add(page.following)
        patience += PATIENCE_FOR_A_REPORT * len(page.reports)
        most = min(MAX_WAIT_SECONDS, patience)
        page, waited = _next(ask, {**filters, "cursor": page.following}, most, way)
        patience -= waited


def _next(
    ask: Callable[[Dict[str, str]], Page], asked: Dict[str, str], most: float, way: web.Way
) -> Tuple[Page, int]:
    """A page after the first, as soon as the Hub takes another request, and the seconds until then.

    Raises RateLimited if these are more than `most`.
    """
    try:
        return ask(asked), 0
    except RateLimited as error:
        seconds = error.retry_after
        if seconds is None or seconds > most:
            raise
        way.pause(seconds)
    return ask(asked), seconds


def _has_reports(body: Dict[str, Any]) -> bool:
    return isinstance(body.get("reports"), list)


def _endless(hub_url: str, status: int) -> ServerError:
    return ServerError("endless_list", message("endless_list", url=hub_url), status=status)


def _shaped(report: Dict[str, Any]) -> Dict[str, Any]:
    return {
        **report,
        "times_reported": whole(report.get("times_reported")),
        "further_accounts": whole(report.get("further_accounts")),
        "erased_at": text(report.get("erased_at")),
        "delivery": _delivery(an_object(report.get("delivery"), "status")),
    }


def _delivery(delivery: Optional[Dict[str, Any]]) -> Optional[Dict[str, Any]]:
    if delivery is None:
        return None
    return {
        **delivery,
        "held_for": text(delivery.get("held_for")),
        "reason": text(delivery.get("reason")),
        "waits_for": an_object(delivery.get("waits_for"), "cause", "message"),
        "issue_url": settings.link(delivery.get("issue_url")),
        "attempts": whole(delivery.get("attempts")),
    }
