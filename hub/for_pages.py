"""Django's middleware for pages, which reports pass: they have no session, no member, no messages."""

from collections.abc import Awaitable

from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

INTAKE = "/v1/reports"  # and the receipts below it


class _ForPages(MiddlewareMixin):
    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        if request.path.startswith(INTAKE):
            return self.get_response(request)
        return super().__call__(request)


class Sessions(_ForPages, SessionMiddleware):
    pass


class Authentication(_ForPages, AuthenticationMiddleware):
    pass


class Messages(_ForPages, MessageMiddleware):
    pass
