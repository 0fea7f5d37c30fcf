"""`/badge/<claim>.svg`: what the owner of a claim chose to show."""

from datetime import datetime, timedelta
from functools import lru_cache

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from core import counting, ids
from integrations.ownership import public_files
from orgs.discovery.checking import Claim
from orgs.models import Domain, Site
from reports.models import Report

AGE = 60 * 60  # seconds for which others may keep it
DAYS = 30
KEPT = 5  # minutes for which a number stays: to count ten thousand reports costs as much as to take many
LABEL = "docs feedback"
LETTER = 7  # the width of one, in units of the drawing
PADDING = 12


@require_safe
@cache_control(public=True, max_age=AGE)
def badge(request: HttpRequest, claim_id: str) -> HttpResponse:
    """The badge of a claim, as SVG; 404 without one."""
    claim = ids.find(Domain.objects.verified(), claim_id) or ids.find(Site.objects.live(), claim_id)
    if claim is None or not claim.badge:
        raise Http404
    said = _said_by(claim)
    left, right = (len(text) * LETTER + PADDING for text in (LABEL, said))
    shown = {"label": LABEL, "said": said, "left": left, "right": right, "width": left + right}
    shown["middles"] = (left // 2, left + right // 2)
    return render(request, "public/badge.svg", shown, content_type="image/svg+xml")


def _said_by(claim: Claim) -> str:
    if claim.opted_out_at:
        return "closed"
    if claim.badge == claim.Badge.STATE:
        return "welcome"
    now = timezone.now()
    since = now.replace(minute=now.minute - now.minute % KEPT, second=0, microsecond=0)
    number = received(claim.organization_id, since - timedelta(days=DAYS))
    return f"{counting.in_words(number)} in {DAYS} days"


@lru_cache(maxsize=1000)
def received(organization: str, since: datetime) -> int:
    """How many reports an organization has received, up to one more than are counted; remembered."""
    mine = Report.objects.newest_first(organization).filter(received_at__gte=since)
    return counting.up_to_most(public_files.without_private_ones(mine, organization))
