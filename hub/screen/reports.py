"""`/settings/reports/`: the reports, and what became of each."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone

from core import ids, rates
from core.error_answers import page_error
from core.errors import ApiError
from hub.screen import csv_lines
from hub.screen.access import MemberRequest, members_only, only_post
from hub.screen.delivery_states import IN_WORDS, MEANINGS, state_of
from hub.screen.downloads import download
from hub.screen.overview import next_step
from integrations.api import acts, report_list
from integrations.api.report_list import Received
from integrations.delivery import discarding, pacing, trying_again, withholding
from integrations.models import Delivery
from orgs.models import Membership
from reports import accounts, erasing
from reports.models import Report

COLUMNS = [
    "id", "received_at", "kind", "summary", "doc_url", "agent_name", "times_reported",
    "status", "reason", "issue_url", "further_accounts",
]  # fmt: skip


DONE = {  # the message about one report
    "discard": "Discarded. The report is kept but not sent. Restore it to send it.",
    "restore": "Restored. It is sent in its turn.",
}


CHANGES = "10/minute"  # of all that match, for each organization
CHANGE_ALL = {"discard": discarding.discard_all, "restore": discarding.restore_all}
CHANGEABLE = {"pending": "discard", "held": "discard", "failed": "discard", "discarded": "restore"}


class FilterForm(forms.Form):
    """The filters of the list; the URL holds them."""

    q = forms.CharField(
        required=False,
        max_length=report_list.LONGEST_ADDRESS,
        label="Search",
        widget=forms.TextInput(attrs={"type": "search"}),
    )
    status = forms.ChoiceField(
        required=False, choices=[("", "Any"), *IN_WORDS.items()], label="Status"
    )
    kind = forms.ChoiceField(
        required=False, choices=[("", "Any"), *Report.Kind.choices], label="Kind"
    )


@members_only
def reports(request: MemberRequest) -> HttpResponse:
    """One page of the list; 400 if the URL is not valid."""
    asked = report_list.asked_in(request.GET.dict())
    form = FilterForm(request.GET)
    page = None
    if form.is_valid() and not list(report_list.faults(asked)):
        try:
            report_list.check_rate(request.membership.organization, asked)
        except rates.RateLimited as error:
            return page_error(request, error)
        page = report_list.page(request.membership.organization, asked)
    rows = [(each, state_of(each.status)) for each in page.reports] if page else []
    changes = {CHANGEABLE[each.status] for each, _ in rows if each.status in CHANGEABLE}
    following = page.following if page else None
    context = {
        "form": form,
        "is_refused": page is None,
        "not_shown": withholding.explained(request.membership.organization),
        "rows": rows,
        "changes": changes,
        "changeable": CHANGEABLE,
        "here": f"?{request.GET.urlencode()}",
        "is_narrowed": report_list.is_filtered(asked),
        "looked_at": f"{report_list.LOOKED_AT:,}",
        "looked_back_to": page.looked_back_to if page else None,
        "cursor": asked.get("cursor"),
        "first_page": _address(request, cursor=None),
        "next_page": _address(request, cursor=following) if following else "",
        "csv": "reports.csv" + _address(request, cursor=None),
        "states": [(IN_WORDS[status], meaning) for status, meaning in MEANINGS.items()],
        "next": next_step(request.membership.organization) if not rows else None,
    }
    return render(request, "hub/reports.html", context, status=400 if page is None else 200)


@only_post("settings-reports")
def change(request: MemberRequest) -> HttpResponse:
    """Discard or restore several reports: the selected ones, or all that match the filters."""
    if request.POST.get("all") in CHANGE_ALL:
        try:
            _change_all(request.POST["all"], request)
        except rates.RateLimited as error:
            messages.error(request, str(error.detail))
    elif request.POST.get("act") in acts.FOR_MANY:
        _change_ticked(request.POST["act"], request)
    return redirect(f"{reverse('settings-reports')}?{request.GET.urlencode()}")


def _change_all(act: str, request: MemberRequest) -> None:
    asked = report_list.asked_in(request.GET.dict())
    if list(report_list.faults(asked)) or not report_list.is_filtered(asked):
        raise Http404
    organization = request.membership.organization
    rates.check(CHANGES, "change all", organization.pk, what="changes of all that match")
    report_list.check_rate(organization, asked)
    matching = report_list.deliveries(organization, asked)
    count = CHANGE_ALL[act](matching)
    more = " There may be more: do it again." if count == discarding.AT_ONCE else ""
    messages.success(request, _counted(act, count) + more)


def _change_ticked(act: str, request: MemberRequest) -> None:
    ticked = request.POST.getlist("id")[: report_list.PAGE_SIZE]
    if not ticked:
        messages.warning(request, "Select the reports first.")
        return
    done, refused = acts.perform_on_each(act, request.membership, ticked)
    if done:
        messages.success(request, _counted(act, len(done)))
    for reason, count in Counter(each.message for each in refused).items():
        messages.warning(request, f"{count} not changed. {reason}")


def _counted(act: str, count: int) -> str:
    """What was done to several reports, as a sentence."""
    reports = f"{count} report" if count == 1 else f"{count} reports"
    if act == "restore":
        return f"{reports} restored. Each is sent in its turn."
    return (
        f"{reports} discarded: kept, but not sent. Filter by the status Discarded to restore them."
    )


@members_only
def as_csv(request: MemberRequest) -> HttpResponseBase:
    """Download all reports that match the filters as a table."""
    asked = report_list.asked_in(request.GET.dict())
    if list(report_list.faults(asked)):
        raise Http404
    found = report_list.everything(request.membership.organization, asked)
    name = f"reports-{timezone.now():%Y-%m-%d}.csv"
    return download(request, csv_lines.lines(_table(found)), name=name, content_type="text/csv")


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


def _address(request: MemberRequest, *, cursor: Any) -> str:
    """The same filters at another place in the list."""
    query = request.GET.copy()
    query.pop("cursor", None)
    if cursor:
        query["cursor"] = str(cursor)
    return f"?{query.urlencode()}"


def _table(found: Iterator[Received]) -> Iterator[list[Any]]:
    yield COLUMNS
    for row in found:
        report, delivery = row
        yield [
            report.id,
            report.received_at.isoformat(),
            report.kind,
            report.summary,
            report.doc_url,
            report.agent_name,
            report.times_reported,
            row.status,
            delivery.reason if delivery else "",
            delivery.issue_url if delivery else "",
            report.further_accounts,
        ]
