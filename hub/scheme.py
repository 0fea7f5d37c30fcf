"""The scheme of requests: a proxy ends TLS, so the Hub cannot see it."""

from collections.abc import Callable
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse


def public_scheme(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: every request counts as sent with the scheme of `HUB_BASE_URL`, whatever a header claims."""
    scheme = urlsplit(settings.HUB_BASE_URL).scheme

    def middleware(request: HttpRequest) -> HttpResponse:
        request.META["wsgi.url_scheme"] = scheme
        return get_response(request)

    return middleware
