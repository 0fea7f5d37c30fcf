"""`/settings/claims/<id>/earlier/`: what was reported about a claim's pages before anybody had claimed them."""

from urllib.parse import urlsplit, urlunsplit

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render

from core.errors import ApiError
from hub.screen.access import MemberRequest, members_only
from hub.screen.claims import find
from hub.screen.overview import goes_out, integration_of
from integrations.ownership import unclaimed
from orgs.discovery import checking
from orgs.models import Site
from reports.models import Report


@members_only
def earlier(request: MemberRequest, claim_id: str) -> HttpResponse:
    """List these reports, and send those that are chosen."""
    claim = find(request, claim_id)
    if not unclaimed.is_open(claim):
        raise Http404
    if request.method == "POST":
        _send(request, claim)
        return redirect("settings-earlier", claim_id)
    after = request.GET.get("after", "")
    page = unclaimed.page(claim, after)
    context = {
        "claim": claim,
        "page": page,
        "rows": [(each, _place(claim, each)) for each in page.reports],
        "after": after,
        "looked_at": unclaimed.LOOKED_AT,
        "integration": integration_of(request.membership.organization),
    }
    return render(request, "hub/earlier.html", context)


def _place(claim: unclaimed.Claim, report: Report) -> str:
    """The page of a report: its path, and before it the host where the claim covers several.

    Of a repository's files, the path below it.
    """
    address = urlsplit(report.canonical_url)
    if isinstance(claim, Site) and claim.is_repository:
        return f"{address.path}/".removeprefix(claim.path).strip("/") or "/"
    path = urlunsplit(("", "", address.path, address.query, ""))
    return path if address.netloc == checking.host_of(claim) else f"{address.netloc}{path}"


def _send(request: MemberRequest, claim: unclaimed.Claim) -> None:
    chosen = request.POST.getlist("id")[: unclaimed.PAGE_SIZE]
    if not chosen:
        messages.warning(request, "Select the reports first.")
        return
    try:
        count = unclaimed.send(request.membership, claim, chosen)
    except ApiError as error:
        messages.error(request, str(error.detail))
        return
    if not count:
        messages.warning(request, "None was sent: somebody has received them meanwhile.")
        return
    reports = "1 report is" if count == 1 else f"{count} reports are"
    messages.success(request, f"{reports} now yours. {goes_out(request.membership.organization)}")
