"""The pages for signing in and out."""

from urllib.parse import urlsplit

from allauth.account.utils import get_next_redirect_url
from allauth.socialaccount.internal import statekit
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView, OAuth2LoginView
from allauth.utils import get_request_param
from django.conf import settings
from django.contrib import auth
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache

from orgs.people import opened
from orgs.people.github_account import OAuth

_to_github = OAuth2LoginView.adapter_view(OAuth)
complete = never_cache(OAuth2CallbackView.adapter_view(OAuth))


@never_cache
def sign_in(request: HttpRequest) -> HttpResponse:
    """`/login/`: one form. Redirects those who are already signed in.

    The code of a terminal that another site has brought along is dropped.
    """
    wanted = get_next_redirect_url(request) or ""
    if request.user.is_authenticated:
        return HttpResponseRedirect(wanted) if wanted else redirect(settings.LOGIN_REDIRECT_URL)
    page = urlsplit(wanted).path
    for_terminal = page == reverse("device")
    context = {
        "next": page if for_terminal and not opened.is_ours(request) else wanted,
        "is_set_up": bool(settings.HUB_GITHUB_CLIENT_ID),
        "for_terminal": for_terminal,
    }
    return render(request, "orgs/login.html", context)


@never_cache
def begin(request: HttpRequest) -> HttpResponse:
    """Redirect to GitHub, after the form of `/login/` was sent."""
    if request.method != "POST" or not settings.HUB_GITHUB_CLIENT_ID:
        return redirect("account_login")
    opened.remember(request, get_next_redirect_url(request) or "")
    return _to_github(request)


def is_sent(request: HttpRequest) -> bool:
    """Whether the form of `/login/` was sent, which other sites cannot do."""
    return request.method == "POST"


def asks_github(request: HttpRequest) -> bool:
    """Whether the request would end a sign-in that this browser has begun, whose state other sites do not know.

    One that was canceled ends without a question to GitHub.
    """
    if "code" not in request.GET or "error" in request.GET:
        return False
    return get_request_param(request, "state") in statekit.get_states(request)


@never_cache
def inactive(request: HttpRequest) -> HttpResponse:
    """The page for people whose account is deactivated."""
    return render(request, "orgs/inactive.html", status=403)


@never_cache
def sign_out(request: HttpRequest) -> HttpResponse:
    """`/logout/`: ask for confirmation, then sign out."""
    if request.method == "POST":
        auth.logout(request)
        return redirect("account_login")
    return render(request, "orgs/logout.html")
