"""The filters of the lists of reports: which there are, what is wrong with them, and what they ask."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.db.models import OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Concat, Left, Right, StrIndex, Substr
from django.db.models.lookups import Exact, In

from core.searching import Mentions
from integrations.models import Delivery
from integrations.models.delivery import STATE
from orgs.domains import hosts
from reports import canonical
from reports.models import Report

DATES = {"since", "until"}  # found in the index that orders the list
FILTERS = {"q", "kind", "status", "page", "agent", "claim"} | DATES
NONE = "none"  # the status of a report that has no delivery
DISCARDED = str(Delivery.Cause.DISCARDED)
STATUSES = [NONE, *Delivery.Status.values, DISCARDED]
LONGEST_SEARCH = 200  # characters; the cost grows with them, times the text that is looked at
LONGEST_ADDRESS = 2048  # longer texts than a search must match a full URL
FIRST_YEAR, LAST_YEAR = 1970, 9998  # both databases and Python know the day after
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def is_filtered(asked: Mapping[str, str]) -> bool:
    """Whether there is a filter, so that not every report matches."""
    return not FILTERS.isdisjoint(asked)


def has_no_index(asked: Mapping[str, str]) -> bool:
    """Whether reports have to be looked at to know which of them match."""
    return not (FILTERS - DATES).isdisjoint(asked)


def faults(asked: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Every invalid filter, with a sentence about it."""
    if asked.get("status", NONE) not in STATUSES:
        yield "status", f"Must be one of {', '.join(STATUSES)}."
    if asked.get("kind", Report.Kind.OTHER) not in Report.Kind.values:
        yield "kind", f"Must be one of {', '.join(Report.Kind.values)}."
    if not _is_text(asked.get("q", ""), LONGEST_ADDRESS):
        yield "q", f"Must be at most {LONGEST_SEARCH} characters or a full URL, without NUL."
    if not _is_text(asked.get("agent", ""), LONGEST_SEARCH):
        yield "agent", f"Must be at most {LONGEST_SEARCH} characters, without NUL."
    if "page" in asked and _page(asked["page"]) is None:
        yield "page", "Must be the full address of a page, or its path, such as /install."
    if "claim" in asked and _claimed(asked["claim"]) is None:
        yield "claim", "Must be a domain such as docs.example.com, or the address of a site."
    yield from _faults_of_dates(asked)


def _faults_of_dates(asked: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    days = {name: _day(asked[name]) for name in sorted(DATES) if name in asked}
    for name, found in days.items():
        if found is None:
            yield name, "Must be a date such as 2026-11-30."
    first, last = days.get("since"), days.get("until")
    if first and last and last < first:
        yield "until", "Must not be before since."


def condition(asked: Mapping[str, str]) -> Q:
    """What the filters in `asked` (without `faults`) ask of a report `with_state`, besides the dates."""
    wanted = Q()
    if kind := asked.get("kind"):
        wanted &= Q(kind=kind)
    if agent := asked.get("agent"):
        wanted &= Q(agent_name=agent)
    if page := asked.get("page"):
        wanted &= _about(page)
    if claim := asked.get("claim"):
        wanted &= _within(claim)
    if text := asked.get("q"):
        wanted &= _mentioning(text)
    if status := asked.get("status"):
        wanted &= Q(state=None) if status == NONE else Q(state=status)
    return wanted


def with_state(reports: QuerySet[Report]) -> QuerySet[Report]:
    """The same, with what `condition` asks about."""
    delivery = Delivery.objects.filter(report=OuterRef("pk"))
    rest = Substr("canonical_url", StrIndex("canonical_url", Value("//")) + 2)
    return reports.alias(
        state=Subquery(delivery.values_list(STATE)),
        path=Substr(rest, StrIndex(rest, Value("/"))),
        host=_until(":", _until("/", rest)),
    )


def span(asked: Mapping[str, str]) -> tuple[datetime | None, datetime | None]:
    """From when on, and before when, the reports arrived; whole days in UTC."""
    first, last = (_day(asked.get(name, "")) for name in ("since", "until"))
    return (
        datetime.combine(first, time(), UTC) if first else None,
        datetime.combine(last + timedelta(days=1), time(), UTC) if last else None,
    )


def during(asked: Mapping[str, str]) -> Q:
    """The same as a condition."""
    since, until = span(asked)
    first = Q(received_at__gte=since) if since else Q()
    return first & Q(received_at__lt=until) if until else first


def _is_text(text: str, most: int) -> bool:
    return len(text) <= most and "\0" not in text


def _day(text: str) -> date | None:
    """The day in `text`; None if it is not one."""
    try:
        found = date.fromisoformat(text) if DAY.fullmatch(text) else None
    except ValueError:
        return None
    return found if found and FIRST_YEAR <= found.year <= LAST_YEAR else None


def _page(text: str) -> str | None:
    """The canonical URL of a page, or its path from the first slash on; None if `text` is neither."""
    is_path = text.startswith("/")
    try:
        if len(text) > LONGEST_ADDRESS:
            return None
        found = canonical.address(f"https://any.example{text}" if is_path else text)
    except canonical.InvalidURL:
        return None
    return found.url.removeprefix("https://any.example") if is_path else found.host and found.url


def _about(page: str) -> Q:
    found = _page(page)
    return Q(path=found) if page.startswith("/") else Q(canonical_url=found)


def _claimed(text: str) -> tuple[str, str] | None:
    """The host and path of a claim, of a domain without a path; None if `text` is neither."""
    if len(text) > LONGEST_ADDRESS or "\0" in text:
        return None
    try:
        if "://" not in text:
            return hosts.normalize(text), ""
        address = canonical.address(text)
    except ValueError:
        return None
    path = urlsplit(address.url).path.rstrip("/")
    return (address.host, f"{path}/") if address.host else None


def _within(claim: str) -> Q:
    """About a page of a domain or the names below it, or of a site."""
    host, path = _claimed(claim) or ("", "")
    if not path:
        return Q(host=host) | Q(Exact(Right("host", len(host) + 1), f".{host}"))
    if path == "/":
        return Q(host=host)
    inside = [f"{path[:-1]}{each}" for each in "/?"]
    is_inside = In(Left(Concat("path", Value("/")), len(path)), inside)
    return Q(host=host) & Q(is_inside)


def _mentioning(text: str) -> Q:
    if len(text) > LONGEST_SEARCH:
        return Q(doc_url=text) | Q(canonical_url=text)
    in_address = Q(Mentions("doc_url", text)) | Q(Mentions("canonical_url", text))
    return in_address | Q(Mentions("summary", text)) | Q(Mentions("agent_name", text))


def _until(end: str, text: Any) -> Substr:
    """What comes before the first `end` of a text; all of it without one."""
    return Substr(text, 1, StrIndex(Concat(text, Value(end)), Value(end)) - 1)
