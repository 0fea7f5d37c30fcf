"""`/settings/reports/<id>/`: one report, and what became of it."""

from collections.abc import Iterator

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from core import ids
from core.errors import ApiError
from hub.screen.access import MemberRequest, members_only, only_post
from hub.screen.delivery_states import state_of
from integrations.api import acts
from integrations.api.report_list import Received
from integrations.delivery import discarding, pacing, trying_again
from integrations.models import Delivery
from orgs.models import Membership
from reports import accounts, erasing
from reports.models import Report

DONE = {  # the message about one report
    "discard": "Discarded. The report is kept but not sent. Restore it to send it.",
    "restore": "Restored. It is sent in its turn.",
}


@members_only
def report(request: MemberRequest, report_id: str) -> HttpResponse:
    """One report: its text, further accounts, what was sent to GitHub, and the attempts."""
    mine = _report(request, report_id)
    delivery = _delivery(mine)
    shown = list(mine.accounts.readable())
    context = {
        "report": mine,
        "accounts": shown,
        "accounts_not_shown": 0 if mine.erased_at else mine.further_accounts - len(shown),
        "most": accounts.MOST,
        "kib": accounts.BYTES // 1024,
        "delivery": delivery,
        "state": state_of(Received(mine, delivery).status),
        "attempts": delivery.shown_attempts() if delivery else [],
        "obstacle": trying_again.obstacle(delivery) if delivery else "",
        "is_owner": request.membership.role == Membership.Role.OWNER,
        "may_be_discarded": not discarding.obstacle(delivery),
        "now": timezone.now(),
        "pace": pacing.in_words(),
    }
    return render(request, "hub/report.html", context)


@members_only
def raw(request: MemberRequest, report_id: str) -> HttpResponse:
    """The reporter's text only, as plain text."""
    mine = _report(request, report_id)
    parts = [mine.summary, mine.details, *_evidence(mine), mine.suggested_fix]
    text = "\n\n".join(part for part in parts if part)
    answer = HttpResponse(f"{text}\n", content_type="text/plain; charset=utf-8")
    answer["X-Content-Type-Options"] = "nosniff"
    return answer


@only_post("report")
def try_again(request: MemberRequest, report_id: str) -> HttpResponse:
    """Try to deliver a report now, and tell the result."""
    delivery = _delivery(_report(request, report_id))
    if delivery is None:
        raise Http404
    try:
        trying_again.try_again(delivery)
    except ApiError as error:
        messages.error(request, str(error.detail))
    else:
        delivery.refresh_from_db()
        tell = messages.success if delivery.status == Delivery.Status.SENT else messages.warning
        tell(request, _outcome(delivery))
    return redirect("report", report_id)


@members_only
def erase(request: MemberRequest, report_id: str) -> HttpResponse:
    """Ask for confirmation, then erase the text of a report, for owners."""
    mine = _report(request, report_id)
    if request.method != "POST" and not mine.erased_at:
        return render(
            request, "hub/erase_report.html", {"report": mine, "delivery": _delivery(mine)}
        )
    try:
        erasing.erase_for(request.membership, mine)
    except ApiError as error:
        messages.error(request, str(error.detail))
    else:
        messages.success(request, "The text of this report was erased.")
    return redirect("report", report_id)


@only_post("report")
def discard(request: MemberRequest, report_id: str) -> HttpResponse:
    """Keep a report from being sent."""
    return _change("discard", request, report_id)


@only_post("report")
def restore(request: MemberRequest, report_id: str) -> HttpResponse:
    """Send a discarded report after all."""
    return _change("restore", request, report_id)


def _change(act: str, request: MemberRequest, report_id: str) -> HttpResponse:
    try:
        acts.perform(act, request.membership, report_id)
    except acts.NoSuchReport:
        raise Http404 from None
    except ApiError as error:
        messages.error(request, str(error.detail))
    else:
        messages.success(request, DONE[act])
    return redirect("report", report_id)


def _outcome(delivery: Delivery) -> str:
    if delivery.status == Delivery.Status.SENT:
        return f"Issue #{delivery.issue_number} opened in {delivery.repository}."
    if delivery.status in (Delivery.Status.HELD, Delivery.Status.FAILED):
        return f"Not delivered. {delivery.reason}"
    return f"Not delivered yet; the Hub keeps trying. {delivery.reason}".strip()


def _report(request: MemberRequest, report_id: str) -> Report:
    mine = Report.objects.readable_by(request.membership.organization)
    found = ids.find(mine, report_id)
    if found is None:
        raise Http404
    return found


def _delivery(report: Report) -> Delivery | None:
    return (
        Delivery.objects.select_related("integration__installation", "report")
        .filter(report=report)
        .first()
    )


def _evidence(report: Report) -> Iterator[str]:
    for each in report.evidence:
        yield f"{each['kind']}:\n{each['text']}"
