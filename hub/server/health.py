"""Health checks: whether this process runs, and whether it can do its work."""

from django.db import DatabaseError, InterfaceError, connection
from django.db.migrations.executor import MigrationExecutor

ALIVE = "ok\n"

_migrated = False  # once it is, this process does not ask again


def problem() -> str:
    """Why requests cannot be served now, as a sentence; empty if they can."""
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
