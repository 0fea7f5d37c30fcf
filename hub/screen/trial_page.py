"""`/settings/test/`: sends a real report about a page of the organization, and shows its issue."""

from typing import Any

from django import forms
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render

from core import durations, ids
from core.errors import ApiError
from hub.screen import setup_steps
from hub.screen.access import MemberRequest, members_only
from hub.screen.overview import integration_of
from integrations.delivery import waiting
from integrations.models import Delivery
from integrations.setup import trial_report
from reports.models import Report


class TestForm(forms.Form):
    """The form that chooses the page to report."""

    def __init__(self, *args: Any, pages: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["page"] = forms.ChoiceField(
            label="About the page", choices=[(page, page) for page in pages], required=False
        )


@members_only
def new(request: MemberRequest) -> HttpResponse:
    """Send a test report; about the first page, if none is chosen."""
    mine = request.membership.organization
    form = TestForm(
        request.POST if request.method == "POST" else None, pages=trial_report.pages(mine)
    )
    if form.is_valid():
        try:
            receipt = trial_report.send(request.membership, form.cleaned_data["page"])
        except ApiError as error:
            form.add_error(None, str(error.detail))
        else:
            return redirect("settings-tested", receipt.id)
    claims = setup_steps.Claims.of(mine)
    context = {
        "form": form,
        "integration": integration_of(mine),
        "has_opted_out": bool(claims.live) and not claims.is_heard,
    }
    return render(request, "hub/test.html", context)


@members_only
def sent(request: MemberRequest, report_id: str) -> HttpResponse:
    """Show how far a test report is."""
    mine = Report.objects.readable_by(request.membership.organization)
    report = ids.find(mine.tests(), report_id)
    delivery = (
        Delivery.objects.select_related("report", "integration").filter(report=report).first()
    )
    if delivery is None:
        raise Http404
    took = durations.between(delivery.report.received_at, delivery.arrived_at())
    return render(
        request,
        "hub/tested.html",
        {"delivery": delivery, "took": took, "wait": waiting.why(delivery)},
    )
