"""Erasing the text of a report."""

from typing import Any

from django.db import transaction

from core import clock
from orgs.models import Membership
from orgs.people import members
from reports import accounts
from reports.models import Report
from reports.signals import report_erased

ERASED: dict[str, Any] = {
    "summary": "",
    "details": "",
    "evidence": [],
    "suggested_fix": "",
    "agent_name": "",
    "agent_version": "",
    "agent_vendor": "",
    "task_context": {},
    "submitted_at": "",
    "locale": "",
    "client_capabilities": [],
    "dedup_key": None,  # a hash of the text; the same text is a new report, as everybody's is
}


class MoreCame(Exception):
    """A further account came in that the member was not shown, so nothing was erased."""


def erase_for(member: Membership, report: Report, *, seen: str | None = None) -> None:
    """Erase a report on behalf of a member. Raises `members.NotAnOwner` if they are not an owner, and `MoreCame`.

    `seen`: the further accounts that a page has shown, as `accounts.mark` says it; None erases whatever there is.
    """
    try:
        members.require_owner(member)
    except members.NotAnOwner:
        raise members.NotAnOwner("Only owners can erase a report. Ask one of them.") from None
    erase(report, seen=seen)


@transaction.atomic
def erase(report: Report, *, seen: str | None = None) -> None:
    """Erase everything that its senders wrote, further accounts too, and send `report_erased`.

    Its id, kind, times, counters and page stay; the page loses its query, which may hold any text. `seen` as for
    `erase_for`. Raises `MoreCame`.
    """
    page = report.canonical_url.partition("?")[0]
    forgotten = ERASED | {"erased_at": clock.now(), "doc_url": page, "canonical_url": page}
    if Report.objects.filter(pk=report.pk, erased_at=None).update(**forgotten):
        if seen not in (None, accounts.mark(report)):  # none comes now: its row is locked
            raise MoreCame
        report.accounts.all().delete()
        report_erased.send(Report, report=report)
    report.refresh_from_db()
