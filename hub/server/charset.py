"""Reads every request as UTF-8, and notes which route it takes."""

from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.http import HttpRequest
from django.urls import ResolverMatch

from core.ids import is_id
from core.watching import current


class Utf8Request(WSGIRequest):
    """Django's request, except that the Content-Type cannot choose the encoding of URLs and forms.

    Python has encodings that are none of text, and some that take quadratic time.
    """

    @property
    def encoding(self) -> str:
        """Always UTF-8."""
        return "utf-8"

    @encoding.setter
    def encoding(self, named: str) -> None:
        """Django's own reads the query string here, where nothing answers for a mistake in it."""


class Application(WSGIHandler):
    """Django's WSGI handler with this kind of request."""

    request_class = Utf8Request

    def resolve_request(self, request: HttpRequest) -> ResolverMatch:
        """Django's own; notes the name of the route, and the id of the report that it is about."""
        match = super().resolve_request(request)
        current.note(route=_name_of(match), report=_report_in(match))
        return match


def _name_of(match: ResolverMatch) -> str:
    """Such as `reports`; `admin` for all of its pages, and empty for those that no name leads to."""
    return match.namespaces[0] if match.namespaces else match.url_name or ""


def _report_in(match: ResolverMatch) -> str:
    found = match.kwargs.get("report_id", "")
    return found if is_id(found) else ""
