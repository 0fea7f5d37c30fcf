"""What members can do with reports, through the API and on the pages."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from core import batches
from core.errors import ApiError
from core.ids import is_id
from integrations.api.report_list import Received
from integrations.delivery import discarding, telling_apart, trying_again
from integrations.models import Delivery
from orgs.models import Membership
from orgs.people import counted
from reports import erasing
from reports.models import Report

Act = Callable[[Membership, Received], None]

# By the members of one organization, and by each person: the same hundred can be discarded and restored without end.
TOGETHER = "10/minute;100/hour"

ACTS: dict[str, Act] = {  # each raises `ApiError` if it is not possible
    "retry": lambda member, received: trying_again.try_again(received.delivery, by=member),
    "discard": lambda member, received: discarding.discard(received.delivery),
    "restore": lambda member, received: discarding.restore(received.delivery),
    "erase": lambda member, received: erasing.erase_for(member, received.report),
}
FOR_MANY: dict[str, Act] = {  # without a call to GitHub, so that a hundred are quick
    "retry": lambda member, received: trying_again.try_in_turn(received.delivery),
    "discard": ACTS["discard"],
    "restore": ACTS["restore"],
}


class NoSuchReport(ApiError):
    """404: the organization has no report with this id that members may read."""

    status_code = 404
    default_code = "not_found"
    default_detail = "There is no report with this id."


class Refusal(NamedTuple):
    """Why one of several reports was left as it was."""

    id: str
    error: str
    message: str


def find(member: Membership, report_id: str) -> Received:
    """A report of the member's organization. Raises `NoSuchReport`."""
    for received in _found(member, [report_id]).values():
        return received
    raise NoSuchReport


def perform(name: str, member: Membership, report_id: str) -> None:
    """Do it to one report. Raises `NoSuchReport`, and what the act raises."""
    ACTS[name](member, find(member, report_id))


def split(member: Membership, report_id: str, *, shown: str | None = None) -> None:
    """Say that a report is not the same as its lead. Raises `NoSuchReport`, and what `telling_apart.split` raises."""
    telling_apart.split(find(member, report_id).delivery, by=member, shown=shown)


def split_all(member: Membership, report_id: str, *, until: datetime | None = None) -> int:
    """Say of a lead that none of what has joined it is the same; returns how many that were. Raises as `split`."""
    return telling_apart.split_all(find(member, report_id).delivery, by=member, until=until)


def name(member: Membership, report_id: str, issue_url: str, *, shown: str | None = None) -> None:
    """Say that a report is the same as what an issue is about. Raises `NoSuchReport` and `CannotJoin`."""
    telling_apart.name(find(member, report_id).delivery, issue_url, by=member, shown=shown)


def perform_on_each(
    name: str, member: Membership, report_ids: Iterable[str]
) -> tuple[list[str], list[Refusal]]:
    """Do one of `FOR_MANY` to each report once: the ids of those it was done to, and the others with the reason.

    Raises `rates.RateLimited` if the organization or the person has done that too often.
    """
    if name == "retry":
        trying_again.check_rate(member)
    else:
        counted.check(member, TOGETHER, "change together", what="changes of several reports")
    ids = list(dict.fromkeys(report_ids))
    found, done, refused = _found(member, ids), [], []

    def one_by_one() -> Iterator[int]:
        for each in ids:
            try:
                if each not in found:
                    raise NoSuchReport
                FOR_MANY[name](member, found[each])
                done.append(each)
            except ApiError as error:
                refused.append(Refusal(each, str(error.get_codes()), str(error.detail)))
            yield 1

    sum(batches.at_leisure(lambda: True, one_by_one()))
    return done, refused


def _found(member: Membership, report_ids: list[str]) -> dict[str, Received]:
    """The reports that the members may read, by id, in two queries."""
    ids = [each for each in report_ids if is_id(each)]
    mine = Report.objects.readable_by(member.organization_id, ids=ids)
    deliveries = Delivery.objects.select_related(
        "integration", "report", "lead", "maybe_lead"
    ).filter(report__in=ids)
    by_report = {each.report_id: each for each in deliveries}
    return {each.pk: Received(each, by_report.get(each.pk)) for each in mine}
