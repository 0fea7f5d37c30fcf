"""The reports of an organization, newest first, in pages: for `GET /v1/orgs/me/reports` and the settings."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef, Q, QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from core import rates
from integrations.models import Delivery
from integrations.models.delivery import DeliveryQuerySet
from orgs.api.authentication import MaintainerView
from orgs.api.request_body import InvalidRequest
from orgs.models import Organization
from reports.models import Report

PAGE_SIZE = 50
BATCH = 500  # reports read at once for a CSV file
NONE = "none"  # the status of a report that has no delivery
DISCARDED = str(Delivery.Cause.DISCARDED)
STATUSES = [NONE, *Delivery.Status.values, DISCARDED]
LONGEST_SEARCH = 200  # characters; the cost grows with them, times the text of all reports
LONGEST_ADDRESS = 2048  # longer texts than a search must match a full URL
SEARCHES = "20/minute"  # by the members of one organization
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
CURSOR = re.compile(r"(?P<microseconds>[0-9]{1,16})-(?P<id>[0-9A-Z]{26})")
LIST_COLUMNS = [
    "id", "received_at", "doc_url", "kind", "summary", "agent_name", "times_reported",
    "further_accounts", "erased_at",
]  # fmt: skip


class Cursor(NamedTuple):
    """The last report of a page. The next page starts after it, whatever has arrived in between."""

    received_at: datetime
    id: str

    @classmethod
    def parse(cls, text: str) -> "Cursor | None":
        """The cursor in `text`; None if it is not one."""
        match = CURSOR.fullmatch(text)
        if match is None:
            return None
        age = timedelta(microseconds=int(match["microseconds"]))
        return cls(EPOCH + age, match["id"])

    def __str__(self) -> str:
        return f"{(self.received_at - EPOCH) // timedelta(microseconds=1)}-{self.id}"


class Received(NamedTuple):
    """A report with its delivery, if it has one. `status` is one of `STATUSES`."""

    report: Report
    delivery: Delivery | None

    @property
    def status(self) -> str:
        """The delivery's state; `NONE` without a delivery."""
        return self.delivery.state if self.delivery else NONE


class ReportPage(NamedTuple):
    """Some reports; `following` is the cursor of the next page, None on the last page."""

    reports: list[Received]
    following: str | None


class ReceivedReports(MaintainerView):
    """`GET /v1/orgs/me/reports`: three queries a page, however many reports there are."""

    def get(self, request: Request) -> Response:
        asked = asked_in(request.query_params)
        if details := [{"path": f"query:{name}", "message": text} for name, text in faults(asked)]:
            raise InvalidRequest(details=details)
        check_rate(self.organization, asked)
        found = page(self.organization, asked)
        shown = [shape(each) for each in found.reports]
        return Response({"reports": shown, "next_cursor": found.following})


def asked_in(parameters: Mapping[str, Any]) -> dict[str, str]:
    """The filters in a query string; an empty parameter counts as absent."""
    return {name: str(value) for name, value in parameters.items() if value}


def check_rate(organization: Organization, asked: Mapping[str, str]) -> None:
    """Count a search, which reads all reports of the organization. Raises `rates.RateLimited`."""
    if "q" in asked:
        rates.check(SEARCHES, "search", organization.pk, what="searches")


def faults(asked: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Every invalid filter, with a sentence about it."""
    if "cursor" in asked and Cursor.parse(asked["cursor"]) is None:
        yield "cursor", "Must be the next_cursor of the previous page."
    if asked.get("status", NONE) not in STATUSES:
        yield "status", f"Must be one of {', '.join(STATUSES)}."
    if asked.get("kind", Report.Kind.OTHER) not in Report.Kind.values:
        yield "kind", f"Must be one of {', '.join(Report.Kind.values)}."
    if len(asked.get("q", "")) > LONGEST_ADDRESS or "\0" in asked.get("q", ""):
        yield "q", f"Must be at most {LONGEST_SEARCH} characters or a full URL, without NUL."


def page(
    organization: Organization, asked: Mapping[str, str], *, size: int = PAGE_SIZE
) -> ReportPage:
    """The reports that match `asked` (without `faults`), at most `size`, in two queries."""
    found = list(_received(organization, asked).only(*LIST_COLUMNS)[: size + 1])
    more, found = len(found) > size, found[:size]
    following = str(Cursor(found[-1].received_at, found[-1].id)) if more else None
    return ReportPage(_with_deliveries(found), following)


def deliveries(organization: Organization, asked: Mapping[str, str]) -> DeliveryQuerySet:
    """The deliveries of all reports that match the filters in `asked`."""
    filters = {name: value for name, value in asked.items() if name != "cursor"}
    reports = _filtered(Report.objects.readable_by(organization), filters)
    return Delivery.objects.filter(report__in=reports.values("pk"))


def everything(organization: Organization, asked: Mapping[str, str]) -> Iterator[Received]:
    """All reports that match `asked`, starting at its cursor, read `BATCH` at a time."""
    following: str | None = asked.get("cursor", "")
    while following is not None:
        found = page(organization, {**asked, "cursor": following}, size=BATCH)
        yield from found.reports
        following = found.following


def _received(organization: Organization, asked: Mapping[str, str]) -> QuerySet[Report]:
    mine = _filtered(Report.objects.readable_by(organization), asked)
    return mine.order_by("-received_at", "-id")


def _mentioning(text: str) -> Q:
    if len(text) > LONGEST_SEARCH:
        return Q(doc_url=text) | Q(canonical_url=text)
    in_address = Q(doc_url__icontains=text) | Q(canonical_url__icontains=text)
    return in_address | Q(summary__icontains=text) | Q(agent_name__icontains=text)


def _filtered(reports: QuerySet[Report], asked: Mapping[str, str]) -> QuerySet[Report]:
    if kind := asked.get("kind"):
        reports = reports.filter(kind=kind)
    if text := asked.get("q"):
        reports = reports.filter(_mentioning(text))
    if status := asked.get("status"):
        delivery = Delivery.objects.filter(report=OuterRef("pk"))
        delivered = Exists(delivery if status == NONE else delivery.in_state(status))
        reports = reports.filter(~delivered if status == NONE else delivered)
    if cursor := Cursor.parse(asked.get("cursor", "")):
        not_later = reports.filter(received_at__lte=cursor.received_at)
        reports = not_later.exclude(received_at=cursor.received_at, id__gte=cursor.id)
    return reports


def _with_deliveries(reports: Iterable[Report]) -> list[Received]:
    found = Delivery.objects.filter(report__in=reports)
    columns = ("report", "status", "held_for", "reason", "issue_url", "issue_number", "tries")
    by_report = {each.report_id: each for each in found.only(*columns)}
    return [Received(each, by_report.get(each.pk)) for each in reports]


def shape(received: Received) -> dict[str, Any]:
    """The JSON of a report in a list."""
    report = {name: getattr(received.report, name) for name in LIST_COLUMNS}
    return {**report, "delivery": _delivery(received.delivery)}


def _delivery(delivery: Delivery | None) -> dict[str, Any] | None:
    if delivery is None:
        return None
    return {
        "status": delivery.status,
        "held_for": delivery.held_for or None,
        "reason": delivery.reason or None,
        "issue_url": delivery.issue_url or None,
        "attempts": delivery.tries,
    }
