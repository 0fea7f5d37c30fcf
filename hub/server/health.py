"""Health checks: whether this process runs, and whether it can do its work."""

from typing import Any

from django.db import DatabaseError, InterfaceError, connection
from django.db.migrations.executor import MigrationExecutor

OUTDATED = "The database is not up to date: run `manage.py migrate`."
READ_ONLY = "The database takes no changes."
ALIVE = "ok\n"

_migrated = False  # once it is, this process does not ask again


def problem() -> str:
    """Why requests cannot be served now, as a sentence; empty if they can."""
    global _migrated
    try:
        with connection.cursor() as cursor:
            if _is_read_only(cursor):
                return READ_ONLY
        _migrated = _migrated or not missing_migrations(connection)
    except (DatabaseError, InterfaceError):
        return "The database cannot be reached."
    return "" if _migrated else OUTDATED


def _is_read_only(cursor: Any) -> bool:
    """Whether the database can only be read: a replica, or a file that may not be written. Asks it in any case.

    Such a connection is left after the request, also where nothing but probes comes any more.
    """
    if connection.vendor == "sqlite":
        cursor.execute("SELECT 1")
    else:
        cursor.execute("SELECT current_setting('transaction_read_only')")
        connection.is_read_only = cursor.fetchone() == ("on",)  # type: ignore[attr-defined]
    return connection.is_read_only  # type: ignore[attr-defined]


def missing_migrations(using: Any) -> list[str]:
    """The names of the migrations that have to be applied, such as `hub.0001_initial`."""
    executor = MigrationExecutor(using)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [f"{migration.app_label}.{migration.name}" for migration, _ in plan]
