"""Turns every exception into one shape: `{"error": <code>, "message": <one sentence>, ...}`."""

import logging
import re
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.exceptions import (
    DisallowedHost,
    ObjectDoesNotExist,
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFieldsSent,
)
from django.db import (
    DatabaseError,
    IntegrityError,
    OperationalError,
    ProgrammingError,
    close_old_connections,
)
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.response import Response

from core import connections
from core.errors import ApiError
from core.watching import current

log = logging.getLogger(__name__)

OAUTH = "/oauth/"  # where errors have the form of RFC 6749
UNDEFINED = ("42P01", "42703")  # https://www.postgresql.org/docs/current/errcodes-appendix.html
FOREIGN_KEY = "23503"
NO_ROW = "did not affect any rows."  # ends what Django says of a row that was to be saved
LACKING = re.compile("no such table|no such column|table .* has no column named")  # SQLite


class AlwaysJSON(BaseContentNegotiation):
    """Answers in JSON, whatever `Accept` says."""

    def select_parser(self, request: Any, parsers: Any) -> Any:
        """The first parser of the view, whatever the content type."""
        return parsers[0]

    def select_renderer(self, request: Any, renderers: Any, format_suffix: Any = None) -> Any:
        """The first renderer of the view, whatever `Accept` says."""
        return renderers[0], renderers[0].media_type


class BadRequest(ApiError):
    """400: Django refuses to read the request."""

    status_code = 400
    default_code = "bad_request"
    default_detail = "Bad request: the Hub cannot read it. Check its URL and headers."


class NotFound(ApiError):
    """404: there is nothing at this URL."""

    status_code = 404
    default_code = "not_found"
    default_detail = "There is nothing at this URL."


class Gone(NotFound):
    """404: it, or what it belongs to, was deleted while it was being saved."""

    default_detail = "What this belongs to was deleted in the meantime. Nothing was saved."


class FormRefused(ApiError):
    """403: the form came without its CSRF token."""

    status_code = 403
    default_code = "form_refused"
    default_detail = "This form has expired. Go back, reload the page, and send it again."


class Unavailable(ApiError):
    """503: the database cannot be reached, takes no changes, or has ended the transaction."""

    status_code = 503
    default_code = "unavailable"
    default_detail = "Temporarily unavailable. Nothing was saved; please try again."


class FormTooLarge(ApiError):
    """413: the form is too large."""

    status_code = 413
    default_code = "payload_too_large"
    default_detail = "The form is too large. Shorten it."


class NotMigrated(ApiError):
    """500: the database lacks a table or a column."""

    status_code = 500
    default_code = "internal_error"
    default_detail = (
        "This Hub's database is not up to date; its operator has to migrate it. Nothing was saved."
    )


class InternalError(ApiError):
    """500: an error that nothing else handles."""

    status_code = 500
    default_code = "internal_error"
    default_detail = "Internal error. Nothing was saved unless the response has an id."


def handle(exc: Exception, context: dict) -> Response:
    """Django REST framework's exception handler: answers every exception of an API view."""
    error = _api_error(exc, context)
    headers = getattr(error, "headers", {})
    if isinstance(error, exceptions.MethodNotAllowed):
        headers = {"Allow": ", ".join(context["view"].allowed_methods)}
    return Response(body_of(error), status=error.status_code, headers=headers)


def body_of(error: exceptions.APIException) -> dict:
    """The JSON body for an error; an internal one has the id of the request, by which the log has more."""
    body = {
        "error": error.get_codes(),
        "message": str(error.detail),
        **getattr(error, "extra", {}),
    }
    current.note(outcome=str(body["error"]))
    if error.status_code == 500 and (request_id := current.request_id()):
        body["request_id"] = request_id
    return body


def body_at(path: str, error: exceptions.APIException) -> dict:
    """The JSON body for an error at this path: that of OAuth (RFC 6749, 5.2) where that is spoken."""
    if not path.startswith(OAUTH):
        return body_of(error)
    code = {429: "temporarily_unavailable", 500: "server_error", 503: "temporarily_unavailable"}
    description = str(error.detail)
    return {
        "error": code.get(error.status_code, "invalid_request"),
        "error_description": description,
    }


def _api_error(exc: Exception, context: dict) -> exceptions.APIException:
    path = context["request"].path
    if isinstance(exc, Http404):
        return NotFound()
    if isinstance(exc, exceptions.APIException):
        return exc
    if isinstance(exc, SuspiciousOperation):
        return _refusal(exc, context["request"].method)
    if error := of_the_database(exc, path):
        return error
    log.exception("Internal error at %s", current.place(path), exc_info=exc)
    return InternalError()


def of_the_database(exc: Exception, path: str) -> ApiError | None:
    """The error to answer where the database failed, or lacks a row, which is logged; None for any other exception."""
    if _lacks_a_table(exc):
        lacking = str(exc).partition("\n")[0]  # PostgreSQL goes on with the statement
        log.error(
            "The database is not up to date: run `manage.py migrate`. %s at %s",
            lacking,
            current.place(path),
        )
        return NotMigrated()
    if _lacks_its_row(exc) or _lacks_what_it_belongs_to(exc):
        log.warning("%s at %s", str(exc).partition("\n")[0], current.place(path))
        return Gone()
    if connections.is_deadlock(exc):
        log.error("The database has ended a deadlock: %s at %s", exc, current.place(path))
        return Unavailable(headers={"Retry-After": "5"})
    if connections.is_lost(exc):
        log.error("The database cannot be reached: %s at %s", exc, current.place(path))
        close_old_connections()
        return Unavailable(headers={"Retry-After": "5"})
    return None


def _lacks_a_table(exc: Exception) -> bool:
    """Whether a table or column is missing: SQLite says so in words, PostgreSQL by a code."""
    if not isinstance(exc, OperationalError | ProgrammingError):
        return False
    return (
        getattr(exc.__cause__, "sqlstate", "") in UNDEFINED or LACKING.match(str(exc)) is not None
    )


def _lacks_its_row(exc: Exception) -> bool:
    """Whether the row itself is not there, be it read or saved: it was deleted since it was read before."""
    is_unsaved = isinstance(exc, DatabaseError) and str(exc).endswith(NO_ROW)
    return is_unsaved or isinstance(exc, ObjectDoesNotExist)


def _lacks_what_it_belongs_to(exc: Exception) -> bool:
    """Whether a row refers to one that is not there: PostgreSQL says so by a code, SQLite in words."""
    if not isinstance(exc, IntegrityError):
        return False
    is_so = getattr(exc.__cause__, "sqlstate", "") == FOREIGN_KEY
    return is_so or str(exc).startswith("FOREIGN KEY constraint failed")


@csrf_exempt
def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Answer an unknown URL, in the API and on pages."""
    return page_error(request, NotFound())


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Answer a request to a page that Django refuses to read."""
    return page_error(request, _refusal(exception, request.method))


def _refusal(exc: Exception | None, method: str | None) -> ApiError:
    """The error for what Django refuses to read: a wrong `Host`, or a form that is too large."""
    if isinstance(exc, TooManyFieldsSent) and method in ("GET", "HEAD"):
        return BadRequest("The URL has too many parameters.")
    if isinstance(exc, DisallowedHost):
        return BadRequest(
            f"This Hub is not at this address. Use {settings.HUB_BASE_URL} instead; if that is wrong, "
            "its operator has to set HUB_BASE_URL."
        )
    too_large = isinstance(exc, RequestDataTooBig | TooManyFieldsSent)
    return FormTooLarge() if too_large else BadRequest()


def form_refused(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form without its CSRF token."""
    return page_error(request, FormRefused())


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer an error outside the API views; Django has logged it."""
    return page_error(request, InternalError("Internal error. Please try again."))


class DatabaseAway:
    """Middleware: answer pages whose database fails, or no longer has what they change, as the API does."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exc: Exception) -> HttpResponse | None:
        """The error page for what `of_the_database` knows; None for any other error."""
        error = of_the_database(exc, request.path)
        return page_error(request, error) if error else None


def page_error(request: HttpRequest, error: ApiError) -> HttpResponse:
    """Answer with JSON to calls of the API and whoever wants it, else with an HTML page or a line of text."""
    headers = {**error.headers, "Cache-Control": "no-store"}
    answer: dict[str, Any] = {"status": error.status_code, "headers": headers}
    accepted = request.headers.get("Accept", "")
    if "text/html" in accepted and not _is_of_the_api(request.path):
        return HttpResponse(_page(request, error), **answer)
    if "application/json" in accepted or _is_of_the_api(request.path):
        return JsonResponse(body_at(request.path, error), **answer)
    return HttpResponse(f"{error.detail}\n", content_type="text/plain", **answer)


def _is_of_the_api(path: str) -> bool:
    return path.split("/")[1] == "v1" or path.startswith(OAUTH)


def _page(request: HttpRequest, error: ApiError) -> str:
    """The HTML error page. The user is left out where they are not known for certain."""
    context = {"status": error.status_code, "message": str(error.detail)}
    trusted = error.status_code not in (400, 500, 503)
    return render_to_string("error.html", context, request=request if trusted else None)
