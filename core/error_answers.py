"""The one shape of an error: `{"error": <code>, "message": <one sentence>, ...}`, for whatever happens."""

import logging
import re
from collections.abc import Callable
from typing import Any

from django.core.exceptions import (
    ObjectDoesNotExist,
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFieldsSent,
)
from django.db import InterfaceError, OperationalError, ProgrammingError, close_old_connections
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.response import Response

from core.errors import ApiError

log = logging.getLogger(__name__)

UNDEFINED = ("42P01", "42703")  # https://www.postgresql.org/docs/current/errcodes-appendix.html
LACKING = re.compile("no such table|no such column|table .* has no column named")  # SQLite


class AlwaysJSON(BaseContentNegotiation):
    """Whatever `Accept` says, the answer is JSON."""

    def select_parser(self, request, parsers):
        return parsers[0]

    def select_renderer(self, request, renderers, format_suffix=None):
        return renderers[0], renderers[0].media_type


class BadRequest(ApiError):
    status_code = 400
    default_code = "bad_request"
    default_detail = "The request cannot be understood. Is the host name this Hub's own?"


class NotFound(ApiError):
    status_code = 404
    default_code = "not_found"
    default_detail = "There is nothing at this address."


class FormRefused(ApiError):
    status_code = 403
    default_code = "form_refused"
    default_detail = (
        "This form was not opened by you, or long ago. Go back, load the page again, and send it."
    )


class Unavailable(ApiError):
    status_code = 503
    default_code = "unavailable"
    default_detail = "The database is away. Nothing was stored; send it again in a moment."


class FormTooLarge(ApiError):
    status_code = 413
    default_code = "payload_too_large"
    default_detail = "The form is larger than anything that could be saved. Shorten it."


class NotMigrated(ApiError):
    status_code = 500
    default_code = "internal_error"
    default_detail = (
        "This Hub's database is not up to date; its operator has to see to it. Nothing was stored."
    )


class InternalError(ApiError):
    status_code = 500
    default_code = "internal_error"
    default_detail = "Something broke on our side. Nothing was stored unless an id was answered."


def handle(exc: Exception, context: dict) -> Response:
    """Django REST framework's exception handler: every exception of an API view ends here."""
    error = _api_error(exc, context)
    headers = getattr(error, "headers", {})
    if isinstance(error, exceptions.MethodNotAllowed):
        headers = {"Allow": ", ".join(context["view"].allowed_methods)}
    return Response(body_of(error), status=error.status_code, headers=headers)


def body_of(error: exceptions.APIException) -> dict:
    return {
        "error": error.get_codes(),
        "message": str(error.detail),
        **getattr(error, "extra", {}),
    }


def _api_error(exc: Exception, context: dict) -> exceptions.APIException:
    path = context["request"].path
    if isinstance(exc, Http404):
        return NotFound()
    if isinstance(exc, ObjectDoesNotExist):  # deleted while it was being changed
        log.warning("%s at %s", exc, path)
        return NotFound()
    if isinstance(exc, exceptions.APIException):
        return exc
    if isinstance(exc, SuspiciousOperation):
        return _refusal(exc, context["request"].method)
    if error := _of_the_database(exc, path):
        return error
    log.exception("A crash at %s", path, exc_info=exc)
    return InternalError()


def _of_the_database(exc: Exception, path: str) -> ApiError | None:
    if _lacks_a_table(exc):
        lacking = str(exc).partition("\n")[0]  # PostgreSQL goes on with the statement
        log.error(
            "The database is not up to date: run `manage.py migrate`. %s at %s", lacking, path
        )
        return NotMigrated()
    if isinstance(exc, OperationalError | InterfaceError):
        log.error("The database is away: %s at %s", exc, path)
        close_old_connections()
        return Unavailable(headers={"Retry-After": "5"})
    return None


def _lacks_a_table(exc: Exception) -> bool:
    """Or a column: SQLite says it in words, PostgreSQL by a code."""
    if not isinstance(exc, OperationalError | ProgrammingError):
        return False
    return (
        getattr(exc.__cause__, "sqlstate", "") in UNDEFINED or LACKING.match(str(exc)) is not None
    )


@csrf_exempt
def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Answers an unknown URL, under /v1/ and elsewhere."""
    return page_error(request, NotFound())


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Answers what Django refuses to pages, and before any view."""
    return page_error(request, _refusal(exception, request.method))


def _refusal(exc: Exception | None, method: str | None) -> ApiError:
    """For what Django refuses to read: a foreign `Host`, or too large a form."""
    if isinstance(exc, TooManyFieldsSent) and method in ("GET", "HEAD"):
        return BadRequest("The address has too many parameters.")
    too_large = isinstance(exc, RequestDataTooBig | TooManyFieldsSent)
    return FormTooLarge() if too_large else BadRequest()


def form_refused(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answers a form without its CSRF token."""
    return page_error(request, FormRefused())


def server_error(request: HttpRequest) -> HttpResponse:
    """Answers a crash outside the API views; Django has logged it."""
    return page_error(request, InternalError("Something broke on our side. Try again in a moment."))


class DatabaseAway:
    """Middleware: pages that cannot use the database say so, as the API does."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exc: Exception) -> HttpResponse | None:
        error = _of_the_database(exc, request.path)
        return page_error(request, error) if error else None


def page_error(request: HttpRequest, error: ApiError) -> HttpResponse:
    """JSON below /v1/; elsewhere a page for whoever reads pages, and a line of text for the rest."""
    headers = {**error.headers, "Cache-Control": "no-store"}
    answer: dict[str, Any] = {"status": error.status_code, "headers": headers}
    if request.path.split("/")[1] == "v1":
        return JsonResponse(body_of(error), **answer)
    if "text/html" in request.headers.get("Accept", ""):
        return HttpResponse(_page(request, error), **answer)
    return HttpResponse(f"{error.detail}\n", content_type="text/plain", **answer)


def _page(request: HttpRequest, error: ApiError) -> str:
    """After a crash, and before a request is known to be meant for this Hub, nobody is signed in."""
    context = {"status": error.status_code, "message": str(error.detail)}
    trusted = error.status_code not in (400, 500, 503)
    return render_to_string("error.html", context, request=request if trusted else None)
