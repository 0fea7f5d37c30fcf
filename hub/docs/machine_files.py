"""The addresses at which agents, crawlers and scanners look; none of them asks the database."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import conditional_page, require_safe

from hub.docs import for_agents, shelf
from hub.docs.views import for_a_while

TEXT = "text/plain; charset=utf-8"


@require_safe
@conditional_page
@for_a_while
def llms(request: HttpRequest) -> HttpResponse:
    """`/llms.txt`"""
    text = for_agents.llms(shelf.latest(), settings.HUB_BASE_URL)
    return HttpResponse(text, content_type=TEXT)


@require_safe
@conditional_page
@for_a_while
def llms_full(request: HttpRequest) -> HttpResponse:
    """`/llms-full.txt`"""
    text = for_agents.llms_full(shelf.latest(), settings.HUB_BASE_URL)
    return HttpResponse(text, content_type=TEXT)


@require_safe
@conditional_page
@for_a_while
def openapi(request: HttpRequest) -> HttpResponse:
    """`/openapi.json`"""
    text = for_agents.openapi(settings.HUB_BASE_URL)
    return HttpResponse(text, content_type="application/json")


@require_safe
@for_a_while
def robots(request: HttpRequest) -> HttpResponse:
    """`/robots.txt`"""
    return HttpResponse(for_agents.robots(settings.HUB_BASE_URL), content_type=TEXT)


@require_safe
@for_a_while
def sitemap(request: HttpRequest) -> HttpResponse:
    """`/sitemap.xml`: the pages for everybody, and the latest docs."""
    paths = [*for_agents.PUBLIC, *(page.path for page in shelf.latest().in_order())]
    context = {"addresses": [settings.HUB_BASE_URL + path for path in paths]}
    return render(request, "docs/sitemap.xml", context, content_type="application/xml")


@require_safe
@for_a_while
def well_known(request: HttpRequest) -> HttpResponse:
    """`/.well-known/docs-feedback.json`, where this Hub has an https address, as the protocol requires."""
    if not settings.HTTPS:
        raise Http404
    return JsonResponse(for_agents.well_known(settings.HUB_BASE_URL, settings.HUB_CONTACT))


@require_safe
@for_a_while
def security(request: HttpRequest) -> HttpResponse:
    """`/.well-known/security.txt`, where the operator has named a contact."""
    if not for_agents.contact_uri(settings.HUB_CONTACT):
        raise Http404
    today = timezone.now().date()
    text = for_agents.security(settings.HUB_BASE_URL, settings.HUB_CONTACT, today)
    return HttpResponse(text, content_type=TEXT)
