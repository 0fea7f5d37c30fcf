"""The reports of an organization, newest first, in pages: for `GET /v1/orgs/me/reports` and the settings."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import BooleanField, DateTimeField, ExpressionWrapper, QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from core import clock, keyset, looks, rates
from core.at_once import AtOnce
from integrations.api import report_filters
from integrations.api.report_filters import NONE
from integrations.delivery import waiting
from integrations.delivery.waiting import Wait
from integrations.models import Delivery, Integration
from integrations.models.delivery import DeliveryQuerySet
from orgs.api.authentication import MaintainerView
from orgs.api.request_body import InvalidRequest
from orgs.models import Membership, Organization
from orgs.people import counted
from reports.models import Report

PAGE_SIZE = 50
BATCH = 500  # reports read at once for a CSV file
LOOKED_AT = 5000  # reports that one page looks at to find those that match
ARRIVALS = 100  # between two queries
FEW = 1000  # deliveries in a state that are looked up one by one
KEY = ("received_at", "id")
SEARCHES = "20/minute"  # by the members of one organization, and by each person
LOOKS = "60/minute"  # the same, with filters that cost less
SEARCHED = {"q", "page", "claim"}  # read the text or take apart the address of each
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
CURSOR = re.compile(r"(?P<microseconds>[0-9]{1,16})-(?P<id>[0-9A-Z]{26})")
searches = AtOnce(2, "You are searching already. Try again when that has been answered.")
of_one = AtOnce(4, "Others of your organization are searching. Try again in a few seconds.")
altogether = AtOnce(6, "The Hub is searching for others at the moment. Try again in a few seconds.")
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
    """A report with its delivery, if it has one, and why that waits, if it does.

    `status` is one of `report_filters.STATUSES`.
    """

    report: Report
    delivery: Delivery | None
    wait: Wait | None = None

    @property
    def status(self) -> str:
        """The delivery's state; `NONE` without a delivery."""
        return self.delivery.state if self.delivery else NONE


class ReportPage(NamedTuple):
    """Some reports; `following` is the cursor of the next page, None on the last page.

    `looked_back_to`: if the page is short because as many as `LOOKED_AT` reports were looked at and few of
    them match, when the last of these arrived. The next page looks further.
    """

    reports: list[Received]
    following: Cursor | None
    looked_back_to: datetime | None = None


class ReceivedReports(MaintainerView):
    """`GET /v1/orgs/me/reports`: a page of at most 50, newest first, in a few queries.

    A page looks at no more than `LOOKED_AT` reports. With filters that few reports match, it may have fewer
    than 50 reports, or none, and still a `next_cursor`, which looks further. The end is where that is null.
    """

    def get(self, request: Request) -> Response:
        asked = asked_in(request.query_params)
        if details := [{"path": f"query:{name}", "message": text} for name, text in faults(asked)]:
            raise InvalidRequest(details=details)
        check_rate(self.membership, asked)
        with one_of_few(self.membership, asked):
            found = page(self.organization, asked)
        shown = [shape(each) for each in found.reports]
        following = str(found.following) if found.following else None
        return Response({"reports": shown, "next_cursor": following})


def asked_in(parameters: Mapping[str, Any]) -> dict[str, str]:
    """The filters in a query string; an empty parameter counts as absent."""
    return {name: str(value) for name, value in parameters.items() if value}


def check_rate(member: Membership, asked: Mapping[str, str]) -> None:
    """Count a search, or a look with other filters. Raises `rates.RateLimited`."""
    if found := limits(member, asked):
        is_search = not SEARCHED.isdisjoint(asked)
        rates.check_all(*found, what="searches" if is_search else "lists with filters")


def limits(member: Membership, asked: Mapping[str, str]) -> list[rates.Limit]:
    """On what looks at many reports to find those that match; none if all of them do."""
    if not SEARCHED.isdisjoint(asked):
        return counted.limits(member, SEARCHES, "search")
    return counted.limits(member, LOOKS, "look") if report_filters.has_no_index(asked) else []


def one_of_few(member: Membership, asked: Mapping[str, str]) -> AbstractContextManager[None]:
    """Let few look at many reports at once to find those that match. Raises `TooManyAtOnce`."""
    return few_at_once(member) if report_filters.has_no_index(asked) else nullcontext()


@contextmanager
def few_at_once(member: Membership) -> Iterator[None]:
    """Let few be busy with many reports: the database decides how long, and others wait for the same threads.

    Raises `TooManyAtOnce`.
    """
    with (
        searches.one(counted.whose(member)),
        of_one.one(member.organization_id),
        altogether.one("all"),
    ):
        yield


def faults(asked: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Every invalid filter or cursor, with a sentence about it."""
    if "cursor" in asked and Cursor.parse(asked["cursor"]) is None:
        yield "cursor", "Must be the next_cursor of the previous page."
    yield from report_filters.faults(asked)


def page(
    organization: Organization, asked: Mapping[str, str], *, size: int = PAGE_SIZE
) -> ReportPage:
    """The reports that match `asked` (without `faults`), at most `size`, and why each of them waits."""
    found = _page(organization, asked, size)
    waits = waiting.whys(each.delivery for each in found.reports if each.delivery)
    reports = [
        each._replace(wait=waits.get(each.delivery.pk)) if each.delivery else each
        for each in found.reports
    ]
    return found._replace(reports=reports)


def now(organization: Organization) -> datetime | None:
    """The database's time, to be asked before a page is read; None if the organization was deleted meanwhile."""
    time = ExpressionWrapper(clock.now(), output_field=DateTimeField())
    mine = Organization.objects.filter(pk=organization.pk).annotate(now=time)
    return mine.values_list("now", flat=True).first()


def _page(organization: Organization, asked: Mapping[str, str], size: int) -> ReportPage:
    """The same among the next `LOOKED_AT` reports, without why they wait."""
    few = _few(organization, asked.get("status", NONE))
    rows = _rows(organization, asked, few)
    end = _end_of_look(rows) if few is None and report_filters.has_no_index(asked) else None
    found = [] if few == [] else _matching(rows, asked, size + 1)
    if end:  # exactly, whatever has arrived in between
        found = [each for each in found if (each.received_at, each.id) >= end]
    shown = with_deliveries(found[:size])
    if len(found) > size:
        return ReportPage(shown, Cursor(found[size - 1].received_at, found[size - 1].id))
    return ReportPage(shown, end, looked_back_to=end.received_at if end else None)


def deliveries(organization: Organization, asked: Mapping[str, str]) -> DeliveryQuerySet:
    """The deliveries of all reports that match the filters in `asked`."""
    mine = report_filters.with_state(Report.objects.readable_by(organization))
    reports = mine.filter(report_filters.condition(asked), report_filters.during(asked))
    return Delivery.objects.filter(report__in=reports.values("pk"))


def everything(organization: Organization, asked: Mapping[str, str]) -> Iterator[Received]:
    """All reports that match `asked`, starting at its cursor, read `BATCH` at a time."""
    following: Any = asked.get("cursor", "")
    while following is not None:
        found = _page(organization, {**asked, "cursor": str(following)}, BATCH)
        yield from found.reports
        following = found.following


def _rows(
    organization: Organization, asked: Mapping[str, str], few: list[str] | None
) -> QuerySet[Report]:
    """The reports of these days, after the last one of the page before, newest first; of a few, only these."""
    since, until = report_filters.span(asked)
    last = Cursor.parse(asked.get("cursor", ""))
    before = min([each for each in (last, until and (until, "")) if each], default=None)
    after = (since, "") if since else None
    if few is None:
        return Report.objects.newest_first(organization, before=before, after=after)
    rows = Report.objects.readable_by(organization, ids=few)
    older = keyset.before(rows, KEY, before) if before else rows
    newer = keyset.after(older, KEY, after) if after else older
    return newer.order_by("-received_at", "-id")


def _few(organization: Organization, status: str) -> list[str] | None:
    """The ids of all reports whose deliveries have this status; None if there are more than `FEW`."""
    if status == NONE:
        return None
    integration = Integration.objects.of(organization).first()
    if integration is None:
        return []
    found = integration.deliveries.in_state(status)
    ids = list(found.values_list("report_id", flat=True)[: FEW + 1])
    return ids if len(ids) <= FEW else None


def _matching(reports: QuerySet[Report], asked: Mapping[str, str], count: int) -> list[Report]:
    """The first `count` that match, of the first `LOOKED_AT` and what may have arrived since then."""
    if not report_filters.has_no_index(asked):
        return list(reports.only(*LIST_COLUMNS)[:count])
    asks = report_filters.condition(asked)
    matches = ExpressionWrapper(asks, output_field=BooleanField())
    rows = report_filters.with_state(reports).annotate(matches=matches).only(*LIST_COLUMNS)
    window = looks.at(rows[: LOOKED_AT + ARRIVALS], "*", then=f"WHERE matches LIMIT {count}")
    return list(Report.objects.raw(*window))


def _end_of_look(reports: QuerySet[Report]) -> Cursor | None:
    """The last of the first `LOOKED_AT` reports; None if there are no others."""
    last = reports.values_list(*KEY)[LOOKED_AT - 1 : LOOKED_AT + 1]
    at_the_end = [Cursor(*each) for each in last]
    return at_the_end[0] if len(at_the_end) == 2 else None


def with_deliveries(reports: Iterable[Report]) -> list[Received]:
    """The same reports, each with its delivery, in one query."""
    found = Delivery.objects.filter(report__in=reports).select_related(
        "integration", "lead", "maybe_lead"
    )
    columns = ("report", "status", "held_for", "reason", "issue_url", "issue_number", "tries")
    for_waits = ("integration", "source", "turn", "due_at", "lease_until", "repository_id")
    of_target = ("repository_id", "repo_owner", "repo_name")
    of_issue = ("report", "issue_url", "issue_number", "repository_id")
    joined = (
        *(f"integration__{each}" for each in of_target),
        *(f"lead__{each}" for each in of_issue),
        "maybe_lead__report",
    )
    likeness = ("folded_by", "likeness_words", *joined)
    by_report = {each.report_id: each for each in found.only(*columns, *for_waits, *likeness)}
    return [Received(each, by_report.get(each.pk)) for each in reports]


def shape(received: Received) -> dict[str, Any]:
    """The JSON of a report in a list."""
    report = {name: getattr(received.report, name) for name in LIST_COLUMNS}
    return {**report, "delivery": _delivery(received.delivery, received.wait)}


def _delivery(delivery: Delivery | None, wait: Wait | None) -> dict[str, Any] | None:
    if delivery is None:
        return None
    return {
        "status": delivery.status,
        "held_for": delivery.held_for or None,
        "reason": delivery.reason or None,
        "waits_for": _wait(wait),
        "issue_url": delivery.issue_url_now or None,
        "attempts": delivery.tries,
        "lead": delivery.lead.report_id if delivery.lead else None,
        "maybe_lead": delivery.maybe_lead.report_id if delivery.maybe_lead else None,
        "folded_by": delivery.folded_by or None,
        "likeness_words": delivery.likeness_words or None,
    }


def _wait(wait: Wait | None) -> dict[str, Any] | None:
    return {"cause": wait.cause, "message": str(wait), "about": wait.at} if wait else None
