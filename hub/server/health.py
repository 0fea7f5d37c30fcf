"""Health checks: whether this process runs, and whether it can do its work."""

from collections.abc import Callable

from django.db import DatabaseError, InterfaceError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

ALIVE = "ok\n"

_migrated = False  # once it is, this process does not ask again


def healthz(request: HttpRequest) -> HttpResponse:
    """200 as long as the process answers."""
    return HttpResponse(ALIVE, content_type="text/plain")


def readyz(request: HttpRequest) -> HttpResponse:
    """200 if the database answers and is migrated, else 503 with a sentence."""
    problem = _problem()
    status = 503 if problem else 200
    return HttpResponse(f"{problem or 'ok'}\n", status=status, content_type="text/plain")


def _problem() -> str:
    global _migrated
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        _migrated = _migrated or not unapplied()
    except (DatabaseError, InterfaceError):
        return "The database cannot be reached."
    return "" if _migrated else "The database is not up to date: run `manage.py migrate`."


def unapplied() -> bool:
    """Whether the database lacks migrations."""
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


PROBES = {"/healthz": healthz, "/readyz": readyz}


def answer_probes(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware, placed before the `Host` is checked: probes call a process by its IP address."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        return PROBES.get(request.path, get_response)(request)

    return middleware
