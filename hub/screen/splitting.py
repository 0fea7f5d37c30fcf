"""What a member says on the page of a report: that it is not the same as another one, or that it is."""

from datetime import datetime

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render

from core import counting, ids
from core.errors import ApiError
from hub.screen import report_page, until
from hub.screen.access import MemberRequest, members_only, only_post
from hub.screen.alike import NamingForm
from hub.screen.overview import goes_out
from integrations.api import acts
from integrations.api.report_list import Received
from integrations.delivery import telling_apart, trying_again
from integrations.folding import joining
from integrations.folding.named_issues import CannotJoin
from integrations.models import Delivery, Integration

NOTED = "Noted: it is not the same. Its issue stays as it is."


@only_post("report")
def not_the_same(request: MemberRequest, report_id: str) -> HttpResponse:
    """Split a report off its lead, from its own page or from the lead's."""
    before = _find(request, report_id).delivery
    try:
        acts.split(request.membership, report_id, shown=request.POST.get("other"))
    except ApiError as error:
        messages.error(request, str(error.detail))
    else:
        _tell(request, report_id, was_folded=before is not None and before.lead_id is not None)
    back = request.POST.get("back", "")
    return redirect("report", back if ids.is_id(back) else report_id)


def _tell(request: MemberRequest, report_id: str, *, was_folded: bool) -> None:
    now = Delivery.objects.select_related("integration__installation", "report").get(
        report=report_id
    )
    if not was_folded:
        messages.success(request, NOTED)
        return
    is_sent = now.status == Delivery.Status.SENT
    tell = messages.success if is_sent else messages.warning
    tell(request, f"Split off. {report_page.outcome(now)}")


@members_only
def split_all(request: MemberRequest, report_id: str) -> HttpResponse:
    """Ask for confirmation, then split off all that has joined the issue of a report."""
    mine, lead, _ = _find(request, report_id)
    if request.method != "POST" and lead and lead.folded.exists():
        last = lead.last_joined_at()  # first: what joins meanwhile may be in the number
        number = counting.in_short(counting.up_to_most(joining.joined(lead)))
        asked = {"report": mine, "lead": lead, "number": number, "until": last}
        return render(request, "hub/split_all.html", asked)
    try:
        count = acts.split_all(request.membership, report_id, until=_asked_until(request))
    except ApiError as error:
        messages.error(request, str(error.detail))
    else:
        is_left = lead is not None and lead.folded.exists()
        more = " There are more: look at them, and do it again." if is_left else ""
        reports = "1 report was" if count == 1 else f"{count:,} reports were"
        sent = goes_out(request.membership.organization, is_one=count == 1)
        messages.success(request, f"{reports} split off. {sent}{more}")
    return redirect("report", report_id)


def _asked_until(request: MemberRequest) -> datetime | None:
    """When the newest had joined that the question was about; None if the form does not say. Raises `CannotSplit`."""
    try:
        return until.sent(request)
    except ValueError:
        raise telling_apart.CannotSplit(telling_apart.CHANGED) from None


@only_post("report")
def same_as(request: MemberRequest, report_id: str) -> HttpResponse:
    """Let a report join the issue that is named; if it cannot, the page says why, with what was typed."""
    if _find(request, report_id).delivery is None:
        messages.error(request, trying_again.NEVER_SENT)
        return redirect("report", report_id)
    form = NamingForm(request.POST)
    if form.is_valid():
        try:
            address, shown = form.cleaned_data["issue_url"], request.POST.get("other")
            acts.name(request.membership, report_id, address, shown=shown)
        except CannotJoin as error:
            form.add_error("issue_url", str(error.detail))
        else:
            messages.success(request, _named(report_id))
            return redirect("report", report_id)
    return report_page.shown(request, report_id, form)


def _named(report_id: str) -> str:
    now = Delivery.objects.select_related("lead", "integration").get(report=report_id)
    if now.lead:
        return f"It has joined issue #{now.lead.issue_number}."
    if now.integration.likeness != Integration.Likeness.FOLD:
        return "Noted: it is the same. Both issues stay as they are."
    return "Noted. Both issues stay; later reports like this one join the one that you named."


def _find(request: MemberRequest, report_id: str) -> Received:
    try:
        return acts.find(request.membership, report_id)
    except acts.NoSuchReport:
        raise Http404 from None
