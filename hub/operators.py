"""`/admin/`: the admin site for the operators of this Hub."""

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse

from core.watching import current
from hub import deliveries_now

INTERNALS = {
    *("Client", "CodeHost", "DBTaskResult", "Lease", "SocialAccount", "Token"),
    *("Alert", "EarlierChallenge", "FormerAddress", "OneTimeState", "PastTry"),
    *("TerminalToken", "Terms", "Verdict", "Visibility", "Webhook"),
}
UNUSED = {"password_change", "password_change_done", "view_on_site"}  # names of addresses


class Operators(AdminSite):
    """The admin site. People sign in with GitHub; `make_operator` gives them access."""

    site_header = "Docs Feedback Hub: operators"
    site_title = "Docs Feedback Hub"
    index_title = "Deliveries now"
    site_url = "/settings/"
    enable_nav_sidebar = False  # the lists need its place; the header leads everywhere
    index_template = "hub/operators.html"

    def admin_view(self, view: Callable[..., Any], cacheable: bool = False) -> Any:
        """Django's own. Raises `BadRequest` for a NUL wherever one is sent: PostgreSQL has no text with it."""

        def without_nul(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            fields = (*request.GET.lists(), *request.POST.lists())
            sent = [request.path, *(text for _, texts in fields for text in texts)]
            if any("\0" in text for text in sent):
                raise BadRequest("There is a NUL in it.")
            if request.method == "POST":
                current.note(changed=current.SETTINGS)
            return view(request, *args, **kwargs)

        return super().admin_view(update_wrapper(without_nul, view), cacheable)

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

    def has_permission(self, request: HttpRequest) -> bool:
        """Only to whom `make_operator` gives access: actions ask for no permission of their own."""
        return super().has_permission(request) and bool(
            getattr(request.user, "is_superuser", False)
        )

    def login(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Send visitors to sign in; everybody else without access gets 404."""
        wanted = request.GET.get("next", reverse("admin:index"))
        if not request.user.is_authenticated:
            return redirect_to_login(wanted)
        raise Http404

    def index(self, request: HttpRequest, extra_context: Any = None) -> TemplateResponse:
        """The start page, with the state of the deliveries."""
        now = deliveries_now.state_of_affairs()
        return super().index(request, {**(extra_context or {}), "now": now})

    def get_urls(self) -> list[Any]:
        """Django's own, without those of passwords, of which there are none, and of public pages of rows."""
        return [each for each in super().get_urls() if getattr(each, "name", "") not in UNUSED]


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
