"""`/setup/github/…`: the page with the button to GitHub, and the page that GitHub comes back to."""

import re
from typing import NamedTuple

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache

from hub.registering import manifest
from hub.registering.offer import Offer

COOKIE = "__Host-setup" if settings.HTTPS else "setup"
COOKIE_AGE = 60 * 60  # seconds: as long as GitHub accepts the code, to say more than "not found"
CODE = re.compile(r"[A-Za-z0-9_-]{1,200}")
FROM_ELSEWHERE = "GitHub's answer does not belong to the page that this browser has opened."
TOO_LATE = (
    "The command that waited for this has ended, was started again, or has an answer already."
)
NO_CODE = "GitHub has sent no code."


class Browser(NamedTuple):
    """What the cookie of the browser that opened the address holds."""

    token: str
    state: str


@never_cache
def offer(request: HttpRequest, token: str) -> HttpResponse:
    """The page with the button. For the first browser only, while no app is configured; else 404."""
    if request.method != "GET" or manifest.is_configured():
        raise Http404
    browser = _browser(request)
    if browser is None or not constant_time_compare(browser.token, token):
        state = Offer.objects.open(token)
        if state is None:
            raise Http404
        browser = Browser(token, state)
    found = Offer.objects.of(token).filter(stage=Offer.Stage.OPENED, is_over=False).first()
    if found is None:
        raise Http404
    wish = manifest.Wish(found.name, found.organization, found.is_public)
    back = settings.HUB_BASE_URL + reverse("setup-github-created")
    context = manifest.page(wish, redirect_url=back, state=browser.state)
    context["reported_url"] = settings.HUB_BASE_URL  # without the address of this page
    response = render(request, "registering/offer.html", context)
    response["Referrer-Policy"] = "strict-origin"  # GitHub learns who asks, and not the address
    _remember(response, browser)
    return response


@never_cache
def created(request: HttpRequest) -> HttpResponse:
    """Where GitHub comes back to with a code; without one, how far the command is."""
    browser = _browser(request)
    if request.method != "GET":
        raise Http404
    if browser is None:
        return _of_nobody(request)
    if request.GET:
        return _answered(request, browser)
    found = Offer.objects.of(browser.token).first()
    return render(request, "registering/created.html", {"offer": found, **_links(found)})


def _of_nobody(request: HttpRequest) -> HttpResponse:
    """For a browser without the cookie: if GitHub has just created an app, say what to do with it."""
    if "code" not in request.GET or manifest.is_configured():
        raise Http404
    return _refused(request, None, FROM_ELSEWHERE)


def _answered(request: HttpRequest, browser: Browser) -> HttpResponse:
    """Keep GitHub's code, and go on to an address without it."""
    state, code = request.GET.get("state", ""), request.GET.get("code", "")
    if not constant_time_compare(state, browser.state):
        return _refused(request, browser, FROM_ELSEWHERE)
    if not CODE.fullmatch(code):
        return _refused(request, browser, NO_CODE)
    if not Offer.objects.answer(browser.token, state=state, code=code):
        return _refused(request, browser, TOO_LATE)
    return redirect("setup-github-created")


def _refused(request: HttpRequest, browser: Browser | None, why: str) -> HttpResponse:
    found = Offer.objects.of(browser.token).first() if browser else None
    context = {"why": why, **_links(found)}
    return render(request, "registering/refused.html", context, status=400)


def _links(found: Offer | None) -> dict[str, str]:
    wish = manifest.Wish("", found.organization if found else "")
    return {"apps_url": manifest.apps_url(wish)}


def _browser(request: HttpRequest) -> Browser | None:
    value = request.get_signed_cookie(COOKIE, "", salt=__name__, max_age=COOKIE_AGE)
    token, _, state = (value or "").partition(".")
    return Browser(token, state) if state else None


def _remember(response: HttpResponse, browser: Browser) -> None:
    response.set_signed_cookie(
        COOKIE,
        ".".join(browser),
        salt=__name__,
        max_age=COOKIE_AGE,
        secure=settings.HTTPS,
        httponly=True,
        samesite="Lax",
    )
