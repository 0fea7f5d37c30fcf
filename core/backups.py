"""Whether the database is a backup that was put back, and when that was taken.

`manage.py backup` notes the minute in the header of the copy of an SQLite database (`PRAGMA user_version`,
which nothing else uses); `manage.py after_restore` clears it. A dump of PostgreSQL has no such note.
"""

from datetime import UTC, datetime, timedelta

from django.core.management.base import CommandError
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper

BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def note(taken_at: datetime) -> str:
    """The statement that notes the time in an SQLite database, cut to the minute."""
    return f"PRAGMA user_version = {(taken_at - BEGINNING) // MINUTE}"


def noted(using: BaseDatabaseWrapper = connection) -> datetime | None:
    """When the backup was taken that this database is; None if it is none, or was looked after."""
    if using.vendor != "sqlite":
        return None
    with using.cursor() as cursor:
        [minutes] = cursor.execute("PRAGMA user_version").fetchone()
    return BEGINNING + minutes * MINUTE if minutes else None


def clear_note() -> None:
    """The restored database may be used from now on."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA user_version = 0")


def as_text(time: datetime) -> str:
    """A time as `after_restore` takes it, such as "2026-11-22T21:48:55Z"."""
    return f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def problem(using: BaseDatabaseWrapper = connection) -> str:
    """What to do if the database is a backup that nobody has looked after; empty if it is none."""
    taken_at = noted(using)
    if taken_at is None:
        return ""
    return (
        f"The database is a backup of {as_text(taken_at)}, and what waits in it may have been sent since. "
        "Run `manage.py after_restore` before the Hub sends anything."
    )


def refuse_to_send() -> None:
    """Raise `CommandError` if the database is a backup that nobody has looked after."""
    if found := problem():
        raise CommandError(found)
