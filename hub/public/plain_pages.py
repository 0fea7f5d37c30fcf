"""The landing page and the page about privacy."""

import json

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from hub.public import sample
from integrations.delivery.pacing import SOURCES_KEPT
from integrations.issue.rendering import TITLE_PREFIX
from integrations.models import webhook

DAY = 24 * 60 * 60  # seconds

# They say who is signed in, and what has happened.
asked_each_time = cache_control(public=True, no_cache=True)


@require_safe
@asked_each_time
def landing(request: HttpRequest) -> HttpResponse:
    """What the Hub does, shown by one report, and three ways to begin."""
    report = sample.report()
    context = {
        "report": report,
        "as_json": json.dumps(report, indent=2),
        "title": TITLE_PREFIX + report["report"]["summary"],
        "dedup_days": settings.HUB_DEDUP_DAYS,
        "curl": sample.curl(settings.HUB_BASE_URL),
    }
    return render(request, "public/landing.html", context)


@require_safe
@asked_each_time
def privacy(request: HttpRequest) -> HttpResponse:
    """What is kept, what becomes public, for how long, and how to have it erased."""
    context = {
        "retention": settings.HUB_RETENTION_DAYS,
        "sources": SOURCES_KEPT.days,
        "webhooks": webhook.KEPT.days,
        "session": settings.SESSION_COOKIE_AGE // DAY,
        "cookies": {
            "session": settings.SESSION_COOKIE_NAME,
            "csrf": settings.CSRF_COOKIE_NAME,
            "messages": settings.SESSION_COOKIE_NAME.replace("session", "messages"),
        },
    }
    return render(request, "public/privacy.html", context)
