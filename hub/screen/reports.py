"""`/settings/reports/`: the list of reports, its filters, and changes to many."""

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

from core import rates
from core.error_answers import page_error
from hub.screen import csv_lines
from hub.screen.access import MemberRequest, members_only, only_post
from hub.screen.delivery_states import IN_WORDS, MEANINGS, state_of
from hub.screen.downloads import download
from hub.screen.overview import next_step
from integrations.api import acts, report_filters, report_list
from integrations.api.report_list import Received
from integrations.delivery import discarding, withholding
from reports.models import Report

COLUMNS = [
    "id", "received_at", "kind", "summary", "doc_url", "agent_name", "times_reported",
    "status", "reason", "issue_url", "further_accounts",
]  # fmt: skip


CHANGES = "10/minute"  # of all that match, for each organization
CHANGE_ALL = {"discard": discarding.discard_all, "restore": discarding.restore_all}
CHANGEABLE = {"pending": "discard", "held": "discard", "failed": "discard", "discarded": "restore"}


class FilterForm(forms.Form):
    """The filters of the list; the URL holds them."""

    q = forms.CharField(
        required=False,
        max_length=report_filters.LONGEST_ADDRESS,
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
        "is_narrowed": report_filters.is_filtered(asked),
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
    if list(report_list.faults(asked)) or not report_filters.is_filtered(asked):
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
        report, delivery, _ = row
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
