"""Middleware for pages, skipped for public calls: they have no session, user or messages."""

from collections.abc import Awaitable

from csp.middleware import CSPMiddleware
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

PUBLIC = ("/v1/reports", "/v1/pages")  # and the receipts below


class _ForPages(MiddlewareMixin):
    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        if request.path.startswith(PUBLIC):
            return self.get_response(request)
        return super().__call__(request)


class ContentSecurityPolicy(_ForPages, CSPMiddleware):
    """CSP middleware, for pages only: JSON runs nothing."""


class Sessions(_ForPages, SessionMiddleware):
    """Session middleware, for pages only."""


class Authentication(_ForPages, AuthenticationMiddleware):
    """Authentication middleware, for pages only."""


class Messages(_ForPages, MessageMiddleware):
    """Message middleware, for pages only."""
