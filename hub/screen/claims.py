"""`/settings/claims/`: the pages that the organization has claimed."""

import re
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ObjectDoesNotExist
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render

from core import counting, ids
from core.errors import ApiError
from hub.screen import domain_page, setup_steps
from hub.screen.access import MemberRequest, members_only
from hub.screen.overview import integration_of, next_step
from integrations.ownership import site_claims, taking_over, unclaimed
from orgs import repository_pages
from orgs.domains import claiming as domain_claims
from orgs.domains import hosts, parts
from orgs.models import Domain, Membership, Organization, Site
from orgs.people import members
from reports.intake import OptedOut

NOT_AN_ADDRESS = "Give a name such as docs.example.com, or a full https:// address."
PAGE_SIZE = 50
PAGE_NUMBER = re.compile("[1-9][0-9]{0,3}")
REFUSAL = OptedOut.default_detail


class ClaimForm(forms.Form):
    """The form for a claim: a host name, or the URL of a page."""

    address = forms.CharField(
        max_length=2048,
        label="Address of your docs",
        help_text="Such as docs.example.com, the URL of a site that a repository publishes, or of the "
        "repository itself.",
        widget=forms.TextInput(attrs={"autocomplete": "url", "spellcheck": "false"}),
    )

    needs_repository = False
    instead = ""  # the address to claim where a page below it was given

    def save(self, member: Membership) -> Domain | Site | None:
        """The claim; None if it is refused, with the reason as an error of the form."""
        try:
            return _claimed(member, self.cleaned_data["address"])
        except hosts.Garbled:
            self.add_error("address", NOT_AN_ADDRESS)
        except hosts.NotClaimable as error:
            self.add_error("address", str(error).replace("`", ""))
        except ApiError as error:
            self.needs_repository = isinstance(error, site_claims.NotConfigured)
            if isinstance(error, site_claims.InvalidSite):
                self.instead = _whole_repository(self.cleaned_data["address"])
            self.add_error("address", str(error.detail).replace("`", ""))
        return None


@members_only
def claims(request: MemberRequest) -> HttpResponse:
    """List the claims, domains first, in pages."""
    number = request.GET.get("page", "1")
    if not PAGE_NUMBER.fullmatch(number):
        raise Http404
    page = int(number)
    domains, sites = _claims_on(page, request.membership.organization)
    shown = [*domains, *sites][:PAGE_SIZE]
    context = {
        "domains": [each for each in shown if isinstance(each, Domain)],
        "sites": [each for each in shown if isinstance(each, Site)],
        "previous_page": page - 1,
        "next_page": page + 1 if len(domains) + len(sites) > PAGE_SIZE else 0,
    }
    return render(request, "hub/claims.html", context)


def _claims_on(page: int, mine: Organization) -> tuple[list[Domain], list[Site]]:
    """The claims on a page, and the first one of the next page."""
    first, end = PAGE_SIZE * (page - 1), PAGE_SIZE * page + 1
    before = mine.domains.count()
    sites = mine.sites.order_by("host", "path")
    return (
        list(mine.domains.order_by("name")[first:end]),
        list(sites[max(0, first - before) : max(0, end - before)]),
    )


@members_only
def new(request: MemberRequest) -> HttpResponse:
    """Claim a domain or a site, as the URL requires."""
    form = ClaimForm(request.POST or None)
    if form.is_valid() and (claim := form.save(request.membership)):
        if isinstance(claim, Site):
            about = f"the files of {claim.repository}" if claim.is_repository else "it"
            messages.success(
                request, f"{claim.url} is yours. You now receive reports about {about}."
            )
        elif _says_more_than_a_name(form.cleaned_data["address"]):
            told = f"The claim is of {claim.name}: all its pages, on every port."
            messages.info(request, told)
        return redirect("settings-claim", claim.id)
    context = {
        "form": form,
        "pages_host": settings.HUB_PAGES_HOST,
        "code_host": _code_host(),
        "offered": _unclaimed(request.membership.organization),
    }
    return render(request, "hub/new_claim.html", context)


def _unclaimed(organization: Organization) -> list[str]:
    """Where the organization's repository publishes a site, and its own address, unless claimed already.

    Nothing while the repository proves nothing: claiming them is refused then.
    """
    mine = integration_of(organization)
    if mine is None or mine.repository_id is None or site_claims.why_it_proves_nothing(mine):
        return []
    claims = organization.sites.filter(lapsed_at=None, repository__iexact=mine.repository)
    claimed = {each.is_repository for each in claims}
    offers = {False: setup_steps.site_of(mine)} if mine.has_pages else {}
    offers[True] = setup_steps.files_of(mine)
    return [address for kind, address in offers.items() if kind not in claimed]


@members_only
def claim(request: MemberRequest, claim_id: str) -> HttpResponse:
    """A claim and its state; for a domain, the record to publish, and what the DNS answered last."""
    found = find(request, claim_id)
    if isinstance(found, Domain) and request.method == "POST":
        domain_page.check(request, found)
        return redirect("settings-claim", found.id)
    context: dict[str, Any] = {
        "claim": found,
        "next": next_step(request.membership.organization),
        "is_owner": request.membership.is_owner,
        "earlier": unclaimed.page(found) if unclaimed.is_open(found) else None,
    }
    if isinstance(found, Site):
        context |= _proof(found)
        context["code_host"] = _code_host()
        return render(request, "hub/site.html", context)
    context["others_below"], number = parts.of_others(found)
    context["below_in_all"] = counting.in_words(number) if number > parts.SHOWN else ""
    return render(request, "hub/domain.html", context | domain_page.shown(request, found))


def _is_private(claim: Domain | Site) -> bool:
    """Whether a claim is of the files of a repository that not everybody can read."""
    mine = integration_of(claim.organization)
    is_of_files = isinstance(claim, Site) and claim.is_repository
    return is_of_files and mine is not None and mine.repository_private


def _proof(site: Site) -> dict[str, Any]:
    """Whether the organization's issues go to the repository behind a claim, and why that proves nothing, if so."""
    mine = integration_of(site.organization)
    if mine is None or mine.repository.lower() != site.repository.lower():
        return {}
    return {
        "is_published": site.is_repository or mine.has_pages,
        "publishes_nothing": not mine.has_pages,
        "unproved": site_claims.why_it_proves_nothing(mine),
    }


@members_only
def opt_out(request: MemberRequest, claim_id: str) -> HttpResponse:
    """Ask for confirmation, then refuse reports about a claim; or accept them again."""
    found = find(request, claim_id)
    if request.method != "POST" and (found.opted_out_at or not unclaimed.is_open(found)):
        return redirect("settings-claim", claim_id)
    is_out = "opted_out" in request.POST
    try:
        if request.method != "POST":
            members.require_owner(request.membership)
            context = {"claim": found, "words": REFUSAL, "is_private": _is_private(found)}
            return render(request, "hub/opt_out.html", context)
        if isinstance(found, Site):
            site_claims.opt_out(found, is_out, by=request.membership)
        else:
            domain_claims.opt_out(found, is_out, by=request.membership)
    except ObjectDoesNotExist:  # somebody has just removed it
        raise Http404 from None
    except ApiError as error:
        messages.error(request, str(error.detail))
        return redirect("settings-claim", claim_id)
    now = "now refused" if is_out else "accepted again"
    messages.success(request, f"Reports about {found} are {now}.")
    return redirect("settings-claim", claim_id)


@members_only
def delete(request: MemberRequest, claim_id: str) -> HttpResponse:
    """Ask for confirmation, then remove a claim."""
    found = find(request, claim_id)
    if request.method == "POST":
        try:
            if isinstance(found, Site):
                site_claims.remove_claim(found, by=request.membership)
            else:
                domain_claims.remove_claim(found, by=request.membership)
        except ApiError as error:
            messages.error(request, str(error.detail))
            return redirect("settings-claim", claim_id)
        messages.success(request, f"The claim of {found} was removed.")
        return redirect("settings-claims")
    return render(request, "hub/delete_claim.html", {"claim": found})


def _claimed(member: Membership, address: str) -> Domain | Site:
    """A site if the host is below the pages host, a repository on the code host, else a domain."""
    url = _with_scheme(address)
    host = _host(url)
    is_site = host and hosts.is_of_pages_host(host, pages_host=settings.HUB_PAGES_HOST)
    if is_site or _repository_in(url) is not None:
        return taking_over.claim_site(member, url)[0]
    return domain_claims.claim_domain(member, host or address)[0]


def _with_scheme(address: str) -> str:
    is_whole = "://" in address or address.startswith("//")
    return address if is_whole else f"https://{address}"


def _repository_in(url: str) -> str | None:
    """The repository that a URL names, as `owner/name`; empty for another one of the code host, else None."""
    return repository_pages.mentioned(url, code_host=settings.HUB_GITHUB_URL)


def _whole_repository(address: str) -> str:
    """The address that covers a page of a repository; empty for anything else."""
    name = _repository_in(_with_scheme(address))
    return f"{settings.HUB_GITHUB_URL}/{name}/" if name else ""


def _code_host() -> str:
    """The name of the code host, as people call it."""
    return urlsplit(settings.HUB_GITHUB_URL).netloc


def _says_more_than_a_name(address: str) -> bool:
    """Whether an address that was claimed has a port, a path or a query, which a claim leaves out."""
    rest = address.rpartition("://")[2].removeprefix("//").rstrip("/")
    return any(mark in rest for mark in "/:?#")


def _host(url: str) -> str:
    """The host of a URL in its one spelling; empty if there is none."""
    try:
        return hosts.normalize(urlsplit(url).hostname or "")
    except ValueError:
        return ""


def find(request: MemberRequest, claim_id: str) -> Domain | Site:
    """The organization's claim with this id; otherwise 404."""
    mine = request.membership.organization
    found = ids.find(mine.domains.all(), claim_id) or ids.find(mine.sites.all(), claim_id)
    if found is None:
        raise Http404
    return found
