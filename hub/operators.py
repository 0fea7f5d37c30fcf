"""`/admin/`: the admin site for the operators of this Hub."""

from datetime import timedelta
from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.auth.views import redirect_to_login
from django.db.models import Count, Max, Min, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse

from core import clock, counting
from integrations.models import Attempt, Delivery, Installation
from orgs.models import Domain

HOUR = timedelta(hours=1)
INTERNALS = {
    *("Client", "DBTaskResult", "Lease", "SocialAccount", "Token"),
    *("Alert", "EarlierChallenge", "OneTimeState", "Webhook"),
}


class Operators(AdminSite):
    """The admin site. People sign in with GitHub; `make_operator` gives them access."""

    site_header = "Docs Feedback Hub: operators"
    site_title = "Docs Feedback Hub"
    index_title = "Deliveries now"
    site_url = "/settings/"
    index_template = "hub/operators.html"

    def get_app_list(self, request: HttpRequest, app_label: Any = None) -> list[dict[str, Any]]:
        """The tables by app; those of libraries and of bookkeeping come last, as *Internals*."""
        apps = super().get_app_list(request, app_label)
        if app_label:
            return apps
        tables = [table for app in apps for table in app["models"]]
        internals = [each for each in tables if each["object_name"] in INTERNALS]
        for app in apps:
            app["models"] = [each for each in app["models"] if each not in internals]
        shown = [app for app in apps if app["models"]]
        return [*shown, _app("Internals", internals)] if internals else shown

    def login(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Send visitors to sign in; everybody else without access gets 404."""
        wanted = request.GET.get("next", reverse("admin:index"))
        if not request.user.is_authenticated:
            return redirect_to_login(wanted)
        raise Http404

    def index(self, request: HttpRequest, extra_context: Any = None) -> TemplateResponse:
        """The start page, with the state of the deliveries."""
        return super().index(request, {**(extra_context or {}), "now": state_of_affairs()})


def _app(name: str, tables: list[dict[str, Any]]) -> dict[str, Any]:
    """An entry of Django's list of apps."""
    url = reverse("admin:index")
    return {
        "name": name,
        "app_label": name.lower(),
        "app_url": url,
        "has_module_perms": True,
        "models": tables,
    }


def state_of_affairs() -> dict[str, Any]:
    """The numbers that operators want to see first, from a bounded number of rows."""
    limited = Installation.objects.filter(limited_until__gt=clock.now())
    seen = Installation.objects.filter(limit_seen_at__gt=clock.now() - HOUR)
    return {
        **_waiting(),
        **_held(),
        **_tried(),
        "limited": list(limited.order_by("-limited_until")[:20]),
        "least_left": list(seen.order_by("limit_left")[:5]),
        **Domain.objects.aggregate(reverified=Max("last_checked_at")),
    }


def _waiting() -> dict[str, Any]:
    """How many wait, and since when: the oldest of those that have been due for longest."""
    waiting = _first(Delivery.objects.waiting().order_by("due_at"), "created_at")
    found = waiting.aggregate(all=Count("pk"), oldest=Min("created_at"))
    return {"waiting": counting.in_words(found["all"]), "oldest": found["oldest"]}


def _held() -> dict[str, str]:
    held = _first(
        Delivery.objects.filter(status=Delivery.Status.HELD).order_by("due_at"), "held_for"
    )
    is_discarded = Q(held_for=Delivery.Cause.DISCARDED)
    found = held.aggregate(all=Count("pk"), discarded=Count("pk", filter=is_discarded))
    counts = {"held": found["all"] - found["discarded"], "discarded": found["discarded"]}
    return {name: counting.or_more(count, found["all"]) for name, count in counts.items()}


def _tried() -> dict[str, str]:
    """The attempts of the last hour."""
    lately = Attempt.objects.filter(started_at__gt=clock.now() - HOUR, ended_at__isnull=False)
    is_refused = Q(outcome=Attempt.Outcome.REFUSED)
    found = _first(lately.order_by("-started_at"), "outcome").aggregate(
        tried=Count("pk"), failed=Count("pk", filter=is_refused)
    )
    return {name: counting.or_more(count, found["tried"]) for name, count in found.items()}


def _first(rows: QuerySet[Any], column: str) -> QuerySet[Any, Any]:
    return rows.values("pk", column)[: counting.MOST + 1]
