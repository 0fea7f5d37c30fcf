"""Whether this process lives, and whether it can do its work."""

from collections.abc import Callable

from django.db import DatabaseError, InterfaceError, connection
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

ALIVE = "ok\n"


def healthz(request: HttpRequest) -> HttpResponse:
    """200 while the process answers at all."""
    return HttpResponse(ALIVE, content_type="text/plain")


def readyz(request: HttpRequest) -> HttpResponse:
    """200 where the database answers, 503 otherwise."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except (DatabaseError, InterfaceError):
        return HttpResponse("The database is away.\n", status=503, content_type="text/plain")
    return HttpResponse(ALIVE, content_type="text/plain")


PROBES = {"/healthz": healthz, "/readyz": readyz}


def answer_probes(get_response: Callable[[HttpRequest], HttpResponseBase]):
    """Middleware, before any that asks for the `Host`: probes call a process by its address."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        return PROBES.get(request.path, get_response)(request)

    return middleware
