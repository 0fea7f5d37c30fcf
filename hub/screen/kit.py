"""What the owner of a claim can publish so that agents and readers find this Hub."""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ObjectDoesNotExist
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render

from core import as_shown
from core.errors import ApiError
from hub.screen.access import MemberRequest, members_only, only_post
from hub.screen.claims import find
from orgs.discovery import checking, kit
from orgs.discovery.checking import Claim
from orgs.models import Site
from orgs.people import members

FOUND = "public-files"  # in the session: the id of a claim, and what was found on its host
FILES = {
    "docs-feedback.json": "application/json",
    "llms.txt": "text/plain",
    "AGENTS.md": "text/plain",
}


@members_only
def publish(request: MemberRequest, claim_id: str) -> HttpResponse:
    """The texts for a verified claim, ready to copy; *Check my site* looks at what is published."""
    claim = _counting(request, claim_id)
    is_repository = isinstance(claim, Site) and claim.is_repository
    if request.method == "POST":
        try:
            found = checking.check(claim, by=request.membership)
            request.session[FOUND] = {claim.id: found}
        except ApiError as error:
            messages.error(request, str(error.detail))
        except ObjectDoesNotExist:  # somebody has just removed it
            raise Http404 from None
        return redirect("settings-kit", claim.id)
    site, texts = claim.url, _texts(claim)
    context: dict[str, Any] = {
        "claim": claim,
        "agents": texts["AGENTS.md"],
        "link": kit.report_link(settings.HUB_BASE_URL, site),
        "badge": kit.badge(settings.HUB_BASE_URL, claim.id, site),
        "badges": type(claim).Badge.choices,
        "shown": as_shown.marks({"badge": claim.badge}),
        "hub": settings.HUB_BASE_URL,
        "is_owner": request.membership.is_owner,
    }
    if is_repository:
        context["enterprise"] = "" if _is_known_to_clients() else settings.HUB_GITHUB_URL
        return render(request, "hub/kit_of_repository.html", context)
    context |= {
        "findings": request.session.get(FOUND, {}).get(claim.id),
        "well_known": texts.get("docs-feedback.json"),
        "llms": texts["llms.txt"],
        "lines": kit.lines(settings.HUB_BASE_URL, site),
    }
    return render(request, "hub/kit.html", context)


@members_only
def download(request: MemberRequest, claim_id: str, name: str) -> HttpResponse:
    """One of the files."""
    texts = _texts(_counting(request, claim_id))
    if name not in texts:
        raise Http404
    file = HttpResponse(texts[name], content_type=f"{FILES[name]}; charset=utf-8")
    file["Content-Disposition"] = f'attachment; filename="{name}"'
    return file


@only_post("settings-kit")
def choose_badge(request: MemberRequest, claim_id: str) -> HttpResponse:
    """Show a badge for a claim, another one, or none."""
    claim = _counting(request, claim_id)
    badge = request.POST.get("badge", "")
    if badge not in type(claim).Badge.values:
        raise Http404
    try:
        members.require_owner(request.membership)
        chosen = claim.choose_badge(badge, shown=as_shown.sent(request.POST))
    except ApiError as error:
        messages.error(request, str(error.detail))
    except as_shown.ChangedMeanwhile as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "The badge was changed." if chosen else "There is no badge now.")
    return redirect("settings-kit", claim_id)


def _counting(request: MemberRequest, claim_id: str) -> Claim:
    """The organization's claim if it counts now; otherwise 404."""
    claim = find(request, claim_id)
    if not claim.verified_at or claim.lapsed_at:
        raise Http404
    return claim


def _texts(claim: Claim) -> dict[str, str]:
    """The files, by name."""
    hub = settings.HUB_BASE_URL
    texts = {"AGENTS.md": kit.agents_block(hub)}
    if isinstance(claim, Site) and claim.is_repository:
        return texts
    texts["llms.txt"] = kit.llms_section(hub, claim.url)
    if settings.HTTPS or claim.opted_out_at:  # clients accept no other endpoint
        texts["docs-feedback.json"] = kit.well_known(hub, opted_out=bool(claim.opted_out_at))
    return texts


def _is_known_to_clients() -> bool:
    """Whether the command line makes addresses of files on this code host without being told."""
    host = urlsplit(settings.HUB_GITHUB_URL).hostname or ""
    return host == "github.com" or host.endswith(".ghe.com")
