"""`/admin/`: the admin of whoever runs this Hub."""

from datetime import timedelta
from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.auth.views import redirect_to_login
from django.db.models import Count, Max, Min, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse

from core import clock
from integrations.models import Attempt, Delivery, Installation
from orgs.models import Domain

HOUR = timedelta(hours=1)


class Operators(AdminSite):
    """Sign-in is by GitHub, as everywhere; there are no passwords. `make_operator` lets people in."""

    site_header = "Docs Feedback Hub: operators"
    site_title = "Docs Feedback Hub"
    index_title = "How it goes"
    site_url = "/settings/"
    index_template = "hub/operators.html"

    def login(self, request: HttpRequest, extra_context=None) -> HttpResponse:
        """Visitors sign in first; to everybody else there is no such page."""
        wanted = request.GET.get("next", reverse("admin:index"))
        if not request.user.is_authenticated:
            return redirect_to_login(wanted)
        raise Http404

    def index(self, request: HttpRequest, extra_context=None) -> TemplateResponse:
        return super().index(request, {**(extra_context or {}), "now": state_of_affairs()})


def state_of_affairs() -> dict[str, Any]:
    """What an operator wants to know first, in five queries."""
    waiting = Q(status=Delivery.Status.PENDING)
    discarded = Delivery.Cause.DISCARDED
    deliveries = Delivery.objects.aggregate(
        waiting=Count("pk", filter=waiting),
        oldest=Min("created_at", filter=waiting),
        held=Count("pk", filter=Q(status=Delivery.Status.HELD) & ~Q(held_for=discarded)),
        discarded=Count("pk", filter=Q(held_for=discarded)),
    )
    lately = Attempt.objects.filter(ended_at__gt=clock.now() - HOUR)
    limited = Installation.objects.filter(limited_until__gt=clock.now())
    seen = Installation.objects.filter(limit_seen_at__gt=clock.now() - HOUR)
    return {
        **deliveries,
        **lately.aggregate(
            tried=Count("pk"), failed=Count("pk", filter=Q(outcome=Attempt.Outcome.REFUSED))
        ),
        "limited": list(limited.order_by("-limited_until")[:20]),
        "least_left": list(seen.order_by("limit_left")[:5]),
        **Domain.objects.aggregate(reverified=Max("last_checked_at")),
    }
