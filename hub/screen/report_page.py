"""`/settings/reports/<id>/`: one report, and what became of it."""

from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.formats import date_format

from core import durations, ids
from core.errors import ApiError
from hub.screen import alike, answering, journey, rendered
from hub.screen.access import MemberRequest, members_only, only_post
from hub.screen.alike import NamingForm
from hub.screen.delivery_states import state_of
from hub.screen.report_rows import short_addresses
from integrations.answers import saying
from integrations.api import acts
from integrations.api.report_list import Received
from integrations.comments import standing
from integrations.delivery import discarding, trying_again, waiting
from integrations.models import Delivery
from integrations.models.delivery import DELIVERED
from orgs.models import Membership
from orgs.people import counted
from reports import accounts, erasing
from reports.models import Report

PAGES = "60/minute"  # by the members of one organization, and by each person: there may be much to format
FORMATTED = 16_000  # characters of further accounts, the first ones: the others are shown as they were typed
ISSUE_TONES = {"closed": "off", "deleted": "off"}
DONE = {  # the message about one report
    "discard": "Discarded. The report is kept but not sent. Restore it to send it.",
    "restore": "Restored. It is sent in its turn.",
}
MORE_CAME = (
    "Somebody has reported this in other words since this page was opened, so nothing was erased."
)
STOPPED = "Restored. It is not sent now. {}"


@members_only
def report(request: MemberRequest, report_id: str) -> HttpResponse:
    """One report: its text, further accounts, what was sent to GitHub, and what became of it."""
    counted.check(request.membership, PAGES, "report page", what="pages of reports")
    return shown(request, report_id)


def shown(request: MemberRequest, report_id: str, form: NamingForm | None = None) -> HttpResponse:
    """The page of a report, with a form that was refused, if there is one."""
    mine = _report(request, report_id)
    return _page(request, mine, _delivery(mine), named=form)


def _page(
    request: MemberRequest,
    mine: Report,
    delivery: Delivery | None,
    typed: answering.AnswerForm | None = None,
    named: NamingForm | None = None,
) -> HttpResponse:
    """The page; with the answer to reporters, or the issue, as it was typed, if that was refused."""
    context = {
        "report": mine,
        "delivery": delivery,
        "issued": delivery and delivery.with_issue,
        "state": state_of(Received(mine, delivery).status),
        "is_owner": request.membership.role == Membership.Role.OWNER,
        "says_no_more": not any(mine.words[1:] or mine.task_context.get("task_summary")),
        "page_is_link": mine.doc_url.lower().startswith(("https://", "http://")),
        "path": short_addresses([mine.doc_url])[0],
        "alike": alike.of(delivery, named),
        **_accounts(mine),
        **_of_delivery(mine, delivery),
        "answer": answering.shown(mine, delivery, typed) if delivery else None,
        "form": typed,  # for the summary of its errors
    }
    return render(request, "hub/report.html", context)


def _accounts(mine: Report) -> dict[str, Any]:
    shown = list(mine.accounts.readable())
    lengths = accumulate(len(each.details) + len(each.suggested_fix) for each in shown)
    return {
        "accounts": [
            (each, length > FORMATTED) for each, length in zip(shown, lengths, strict=True)
        ],
        "accounts_not_shown": 0 if mine.erased_at else mine.further_accounts - len(shown),
        "most": accounts.MOST,
        "kib": accounts.BYTES // 1024,
    }


def _of_delivery(mine: Report, delivery: Delivery | None) -> dict[str, Any]:
    """What became of it, and what can be done."""
    wait = waiting.why(delivery)
    steps = journey.steps(mine, delivery, wait)
    if delivery is None:
        return {"steps": steps}
    obstacle = trying_again.obstacle(delivery)
    shown = rendered.issue(delivery.title, delivery.body) if delivery.title else None
    return {
        "steps": steps,
        "wait": wait,
        "took": durations.between(mine.received_at, delivery.arrived_at()),
        "attempts_not_shown": delivery.tries > len(delivery.shown_attempts()),
        "obstacle": obstacle,
        "may_try_again": not obstacle and not (wait and wait.is_in_line),
        "may_be_discarded": not discarding.obstacle(delivery),
        "issue": shown,
        "issue_tone": ISSUE_TONES.get(delivery.with_issue.issue_state, "good"),
        "where": _where(delivery),
        "standing": standing.of(delivery) if mine.erased_at else [],
    }


def _where(delivery: Delivery) -> str:
    """Where the issue is, or was sent to, and when."""
    where = f"Sent to {delivery.repository}"
    if delivery.issue_number:
        number = f"{delivery.repository_now} #{delivery.issue_number}"
        where = f"{number}, opened by {settings.HUB_GITHUB_APP_SLUG}"
    at = f", {date_format(delivery.posted_at, 'j M Y, H:i:s')} UTC" if delivery.posted_at else ""
    return where + at


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
    try:
        trying_again.try_again(delivery, by=request.membership)
    except ApiError as error:
        messages.error(request, str(error.detail))
        return redirect("report", report_id)
    if delivery:
        delivery.refresh_from_db()
        tell = messages.success if delivery.status in DELIVERED else messages.warning
        tell(request, outcome(delivery))
    return redirect("report", report_id)


@members_only
def erase(request: MemberRequest, report_id: str) -> HttpResponse:
    """Ask for confirmation, then erase the text of a report, for owners."""
    mine = _report(request, report_id)
    if request.method != "POST" and not mine.erased_at:
        return _ask_to_erase(request, mine)
    try:
        erasing.erase_for(request.membership, mine, seen=request.POST.get("seen"))
    except erasing.MoreCame:
        return _ask_to_erase(request, mine, changed=MORE_CAME)
    except ApiError as error:
        messages.error(request, str(error.detail))
    else:
        messages.success(request, "The text of this report was erased.")
    return redirect("report", report_id)


def _ask_to_erase(request: MemberRequest, mine: Report, changed: str = "") -> HttpResponse:
    """The page that asks; with a sentence about what has changed since it was opened, if something has."""
    seen = accounts.mark(mine)  # first: what comes meanwhile may be in the number
    now = _report(request, mine.pk)
    delivery = _delivery(now)
    context = {
        "report": now,
        "delivery": delivery,
        "changed": changed,
        "seen": seen,
        "standing": standing.of(delivery) if delivery else [],
        "below_another": delivery and standing.may_be_below_another(delivery),
    }
    return render(request, "hub/erase_report.html", context)


@only_post("report")
def discard(request: MemberRequest, report_id: str) -> HttpResponse:
    """Keep a report from being sent."""
    return _change("discard", request, report_id)


@only_post("report")
def restore(request: MemberRequest, report_id: str) -> HttpResponse:
    """Send a discarded report after all."""
    return _change("restore", request, report_id)


@only_post("report")
def answer(request: MemberRequest, report_id: str) -> HttpResponse:
    """Save or remove what those who report the problem are told."""
    mine = _report(request, report_id)
    delivery = _delivery(mine)
    if "remove" in request.POST:
        try:
            saying.remove(delivery, seen=request.POST.get("seen"))
        except saying.CannotAnswer as error:
            messages.error(request, str(error.detail))
        else:
            messages.success(request, "Removed. Nobody is shown your answer any longer.")
        return redirect("report", report_id)
    if delivery is None:
        messages.error(request, saying.NOBODY)
        return redirect("report", report_id)
    form = answering.AnswerForm(request.POST)
    if not form.is_valid() or not form.save(request.membership, delivery):
        return _page(request, mine, delivery, form)
    if not_shown := answering.shown(mine, delivery).not_shown:
        messages.warning(request, f"Saved. {not_shown}")
    else:
        messages.success(request, "Saved. Whoever reports this problem is shown your answer.")
    return redirect("report", report_id)


def _change(act: str, request: MemberRequest, report_id: str) -> HttpResponse:
    try:
        acts.perform(act, request.membership, report_id)
    except acts.NoSuchReport:
        raise Http404 from None
    except ApiError as error:
        messages.error(request, str(error.detail))
    else:
        _tell(act, request, _delivery(_report(request, report_id)))
    return redirect("report", report_id)


def _tell(act: str, request: MemberRequest, now: Delivery | None) -> None:
    """Say what was done; if what was restored is held at once, why."""
    if act == "restore" and now and now.status == Delivery.Status.HELD:
        messages.warning(request, STOPPED.format(now.reason))
    else:
        messages.success(request, DONE[act])


def outcome(delivery: Delivery) -> str:
    """What became of a delivery that was just tried, as a sentence or two."""
    if delivery.status == Delivery.Status.SENT:
        return f"Issue #{delivery.issue_number} opened in {delivery.repository}."
    if delivery.lead:
        return f"It has joined issue #{delivery.lead.issue_number}."
    if delivery.status in (Delivery.Status.HELD, Delivery.Status.FAILED):
        return f"Not delivered. {delivery.reason}"
    return f"Not delivered yet. {waiting.why(delivery) or 'It is being sent.'}"


def _report(request: MemberRequest, report_id: str) -> Report:
    mine = Report.objects.readable_by(request.membership.organization)
    found = ids.find(mine, report_id)
    if found is None:
        raise Http404
    return found


def _delivery(report: Report) -> Delivery | None:
    return (
        Delivery.objects.select_related("integration__installation", "report", "lead")
        .filter(report=report)
        .first()
    )


def _evidence(report: Report) -> Iterator[str]:
    for each in report.evidence:
        yield f"{each['kind']}:\n{each['text']}"
