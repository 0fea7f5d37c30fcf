"""`/r/<id>/`: what became of a report, for people; programs get it as JSON."""

from datetime import datetime
from typing import Any, NamedTuple, cast

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core import durations, page_rates
from core.error_answers import page_error
from integrations.answers import telling
from integrations.api import receipts
from integrations.models import Delivery, Integration
from integrations.ownership import public_files
from orgs.ownership import Claim, claim_covering
from reports.models import Report


class Step(NamedTuple):
    """One step on the way of a report; `is_done`, or yet to come."""

    name: str
    words: str = ""
    at: datetime | None = None
    is_done: bool = True


@require_safe
@never_cache
@vary_on_headers("Accept")
def receipt(request: HttpRequest, report_id: str) -> HttpResponseBase:
    """The receipt as a page if HTML is preferred; otherwise as JSON, like `GET /v1/reports/<id>`."""
    if request.get_preferred_type(["application/json", "text/html"]) != "text/html":
        return cast(HttpResponseBase, _for_programs(request, report_id=report_id))
    return _for_people(request, report_id)


@page_rates.limited("receipts")
def _for_people(request: HttpRequest, report_id: str) -> HttpResponseBase:
    try:
        report = receipts.find(report_id)
    except receipts.NoSuchReport as error:
        return page_error(request, error)
    answer = render(request, "public/receipt.html", _context(report))
    answer["X-Robots-Tag"] = "noindex"
    return answer


class _Receipt(APIView):
    """The receipt for programs."""

    def get(self, request: Request, report_id: str) -> Response:
        return Response(receipts.as_data(receipts.find(report_id)))


_for_programs = _Receipt.as_view()


def _context(report: Report) -> dict:
    """What strangers may know: nothing of the text or the page, no private repository, no cause of a wait."""
    delivery = Delivery.objects.select_related("integration", "lead").filter(report=report).first()
    is_told = public_files.are_told(report.canonical_url, delivery)
    status = receipts.status_of(delivery if is_told else None)
    is_claimed = is_told and report.organization_id is not None
    sent = delivery if status == "forwarded" else None
    issue_url = sent.public_issue_url() if sent else None
    arrived_at = sent.arrived_at() if sent else None
    return {
        "report": report,
        "status": status,
        "is_claimed": is_claimed,
        "is_told": is_told,
        "claim_now": None if is_claimed else _claim_now(report),
        "issue": sent.with_issue if sent and issue_url else None,
        "issue_url": issue_url,
        "issue_state": sent.public_issue_state() if sent else None,
        "took": durations.in_words(report.received_at, arrived_at),
        "steps": _steps(report, sent, status, arrived_at, is_claimed=is_claimed),
        "json_url": f"/v1/reports/{report.id}",
        **_known(report, is_told=is_told),
    }


def _known(report: Report, *, is_told: bool) -> dict[str, Any]:
    """The issue that the report has joined, and what the page's owner answers."""
    delivery = Delivery.objects.outcome_of(report.pk) if is_told else None
    return telling.of_report(report.canonical_url, delivery)


def _claim_now(report: Report) -> Claim | None:
    """The claim that covers the page by now, as far as strangers may know."""
    claim = claim_covering(report.canonical_url)
    if claim and public_files.are_at(report.canonical_url):
        mine = Integration.objects.configured().of(claim.organization_id).first()
        return claim if mine and public_files.are_of(mine, report.canonical_url) else None
    return claim


def _steps(
    report: Report,
    sent: Delivery | None,
    status: str,
    arrived_at: datetime | None,
    *,
    is_claimed: bool,
) -> list[Step]:
    steps = [Step("Received", _times(report), report.received_at)]
    if is_claimed:
        steps.append(Step("Matched", "Somebody has proved that the page is theirs."))
    else:
        steps.append(Step("Kept", "No owner of the page has it.", is_done=False))
    if sent:
        steps.append(_delivered(sent, arrived_at))
    elif status == "forwarding":
        steps.append(
            Step("On its way", "It is sent to the maintainers in its turn.", is_done=False)
        )
    elif is_claimed:
        steps.append(Step("Kept", "It has not become an issue.", is_done=False))
    if report.erased_at and (is_claimed or report.organization_id is None):
        # nobody is told that the owner of a private repository's files has acted
        steps.append(Step("Erased", "its text on this Hub", report.erased_at))
    return steps


def _delivered(sent: Delivery, at: datetime | None) -> Step:
    if not sent.public_issue_url():
        return Step("Delivered", "to its maintainers, where not everybody can see it", at)
    name = "Known already" if sent.lead else "Issue opened"
    number = sent.with_issue.issue_number
    return Step(name, f"#{number} in {sent.repository_now}, {sent.public_issue_state()}", at)


def _times(report: Report) -> str:
    again = report.times_reported - 1
    if not again:
        return ""
    return "and once more since" if again == 1 else f"and {again} times more since"
