"""Whether this process lives, and whether it can do its work."""

from django.db import DatabaseError, InterfaceError, connection
from django.http import HttpRequest, HttpResponse


def healthz(request: HttpRequest) -> HttpResponse:
    """200 while the process answers at all."""
    return HttpResponse("ok\n", content_type="text/plain")


def readyz(request: HttpRequest) -> HttpResponse:
    """200 where the database answers, 503 otherwise."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except (DatabaseError, InterfaceError):
        return HttpResponse("The database is away.\n", status=503, content_type="text/plain")
    return HttpResponse("ok\n", content_type="text/plain")
