"""`/settings/reports/`: the list of reports, its filters, and changes to many."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone

from core import at_once, batches, connections, counting, rates
from hub.screen import csv_lines, filtering, until
from hub.screen.access import MemberRequest, members_only, only_post
from hub.screen.delivery_states import IN_WORDS, MEANINGS
from hub.screen.downloads import download
from hub.screen.overview import goes_out, next_step
from hub.screen.report_rows import rows_of
from integrations.api import acts, report_filters, report_list
from integrations.api.report_list import Received, ReportPage
from integrations.delivery import discarding, trying_again, withholding
from integrations.models import Integration
from orgs.models import Organization
from orgs.people import counted
from reports.cleaning import clean

COLUMNS = [
    "id", "received_at", "kind", "summary", "doc_url", "agent_name", "times_reported",
    "status", "reason", "issue_url", "further_accounts",
]  # fmt: skip


SHOWN = 25  # reports on a page
CHANGES = "10/minute"  # of all that match, for each organization, and each person
TOO_MANY = "There are too many reports to look through at once. Choose dates, too, and do it again."
CHANGE_ALL = {
    "retry": trying_again.try_all_in_turn,
    "discard": discarding.discard_all,
    "restore": discarding.restore_all,
}
DONE = {  # what is said about the reports that were changed
    "retry": "to be tried again, each in its turn.",
    "discard": "discarded: kept, but not sent. Choose Discarded to restore them.",
    "restore": "restored.",
}
LEFT = "{} that came or changed since this list was shown {} left. Look at it, and do it again."


@members_only
def reports(request: MemberRequest) -> HttpResponse:
    """One page of the list; 400 if the URL is not valid."""
    mine = request.membership.organization
    asked = filtering.asked_in(request)
    form = filtering.FilterForm(asked, mine)
    is_refused = bool(form.errors)
    is_narrowed = report_filters.is_filtered(asked)
    now = report_list.now(mine) if is_narrowed else None  # first: what comes meanwhile is not shown
    page = ReportPage([], None)
    if not is_refused:
        report_list.check_rate(request.membership, asked)
        with report_list.one_of_few(request.membership, asked):
            page = report_list.page(mine, asked, size=SHOWN)
    not_shown = withholding.explained(mine)
    is_searched = bool(asked.keys() - {"status", "cursor"})
    is_whole = not (not_shown or is_refused or is_searched)
    known = filtering.counts(mine, Integration.objects.of(mine).first()) if is_whole else {}
    rows = rows_of(page.reports)
    context = {
        "form": form,
        "status": asked.get("status"),
        "is_refused": is_refused,
        "not_shown": not_shown,
        "rows": rows,
        "acts": {act for row in rows for act in row.acts},
        "agents": sorted(_shown_whole(row.report.agent_name for row in rows)),
        "here": filtering.query(asked, **asked),
        "is_narrowed": is_narrowed,
        "until": now,
        "is_searched": is_searched,
        "is_open": any(field.errors for field in form.more),
        "tabs": filtering.tabs(asked, known),
        "chosen": filtering.chosen(form, asked),
        "in_all": counting.in_short(found) if (found := _in_all(asked, known)) else "",
        "looked_at": f"{report_list.LOOKED_AT:,}",
        "looked_back_to": page.looked_back_to,
        "cursor": asked.get("cursor"),
        "first_page": filtering.query(asked),
        "next_page": filtering.query(asked, cursor=str(page.following)) if page.following else "",
        "states": [(IN_WORDS[status], meaning) for status, meaning in MEANINGS.items()],
        "next": None if rows or is_narrowed else next_step(mine),
    }
    return render(request, "hub/reports.html", context, status=400 if is_refused else 200)


def _shown_whole(names: Iterable[str]) -> set[str]:
    """Those with nothing hidden: a filter asks for the whole name."""
    return {name for name in names if name and clean(name) == name}


@only_post("settings-reports")
def change(request: MemberRequest) -> HttpResponse:
    """Discard or restore several reports: the selected ones, or all that match the filters."""
    try:
        if request.POST.get("all") in CHANGE_ALL:
            _change_all(request.POST["all"], request)
        elif request.POST.get("act") in acts.FOR_MANY:
            _change_ticked(request.POST["act"], request)
    except (rates.RateLimited, at_once.TooManyAtOnce) as error:
        messages.error(request, str(error.detail))
    except connections.TooLong:
        messages.error(request, TOO_MANY)
    here = filtering.asked_in(request)
    return redirect(filtering.address(here, **here))


def _change_all(act: str, request: MemberRequest) -> None:
    asked = filtering.asked_in(request)
    if list(report_list.faults(asked)) or not report_filters.is_filtered(asked):
        raise Http404
    shown = _shown_until(request)
    member = request.membership
    limits = counted.limits(member, CHANGES, "change all")
    also = report_list.limits(member, asked)
    rates.check_all(*limits, *also, what="changes of all that match")
    with report_list.few_at_once(member):  # also where dates are all that is asked for
        found = report_list.deliveries(member.organization, asked)
        done, left = CHANGE_ALL[act](found, until=shown)
    more = " There may be more: do it again." if done + left >= _most(act) else ""
    messages.success(request, _counted(act, done, member.organization) + more)
    if left:
        messages.warning(request, LEFT.format(f"{left:,}", "was" if left == 1 else "were"))


def _shown_until(request: MemberRequest) -> datetime | None:
    """When the list was shown on which this was pressed; None if the form does not say. Raises `Http404`."""
    try:
        return until.sent(request)
    except ValueError:
        raise Http404 from None


def _change_ticked(act: str, request: MemberRequest) -> None:
    ticked = request.POST.getlist("id")[: report_list.PAGE_SIZE]
    if not ticked:
        messages.warning(request, "Select the reports first.")
        return
    done, refused = acts.perform_on_each(act, request.membership, ticked)
    if done:
        messages.success(request, _counted(act, len(done), request.membership.organization))
    for reason, count in Counter(each.message for each in refused).items():
        messages.warning(request, f"{count} not changed. {reason}")


def _counted(act: str, count: int, mine: Organization) -> str:
    """What was done to several reports, as a sentence or two."""
    done = f"{count} report{'' if count == 1 else 's'} {DONE[act]}"
    return f"{done} {goes_out(mine)}" if act == "restore" and count else done


def _most(act: str) -> int:
    """How many reports one press changes."""
    return batches.AT_ONCE if act == "retry" else discarding.AT_ONCE


def _in_all(asked: Mapping[str, str], known: Mapping[str, int]) -> int:
    """How many reports the list has, if that is known."""
    return known.get(asked.get("status", "all"), 0)


@members_only
def as_csv(request: MemberRequest) -> HttpResponseBase:
    """Download all reports that match the filters as a table."""
    asked = filtering.asked_in(request)
    if list(report_list.faults(asked)):
        raise Http404
    found = report_list.everything(request.membership.organization, asked)
    name = f"reports-{timezone.now():%Y-%m-%d}.csv"
    return download(request, csv_lines.lines(_table(found)), name=name, content_type="text/csv")


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
            delivery.issue_url_now if delivery else "",
            report.further_accounts,
        ]
