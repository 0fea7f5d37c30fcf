"""The database: whether it answers, in which version and with which settings, and its migrations."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader

from core import backups
from hub.server import health
from hub.setup import database_state
from hub.setup.findings import Finding, note, ok, problem, warning

CLOCK = timedelta(seconds=5)  # more than that between two clocks is worth a warning
OURS = ("hub", "orgs", "reports", "integrations")
RUNNERS = 10  # connections of `maintain` and of commands
SHORT_TIMEOUT = 30_000  # milliseconds; a job may take as long
ASKED = """
    SELECT name, setting FROM pg_settings WHERE name IN (
        'default_transaction_isolation', 'default_transaction_read_only', 'fsync', 'full_page_writes',
        'max_connections', 'server_encoding', 'statement_timeout', 'superuser_reserved_connections',
        'synchronous_commit'
    )
"""


def database() -> Iterator[Finding]:
    """Whether the database can be used, and is as the Hub needs it."""
    if any("DATABASE_URL" in each for each in settings.MISCONFIGURED):
        yield note("Not checked: DATABASE_URL is none.")
        return
    if settings.MISSING:
        yield problem(
            f"The database {settings.MISSING[0]} does not exist yet: run `manage.py migrate`, which "
            "makes it."
        )
        return
    if away := database_state.why_unreachable():
        yield problem(away)
        return
    with database_state.direct() as using:
        if using.vendor == "postgresql":
            yield from _postgresql(using)
        else:
            yield from _sqlite(using)
        yield from _migrations(using)
        if restored := backups.problem(using):
            yield problem(restored)


def _postgresql(using: BaseDatabaseWrapper) -> Iterator[Finding]:
    with using.cursor() as cursor:
        cursor.execute(ASKED)
        values = dict(cursor.fetchall())
        cursor.execute("SELECT current_setting('server_version'), pg_is_in_recovery()")
        version, is_copy = cursor.fetchone()
        cursor.execute("SELECT clock_timestamp()")
        ahead = datetime.now(UTC) - cursor.fetchone()[0]
    yield ok(f"PostgreSQL {version} answers.")
    unfit = [*_unfit(values, is_copy=is_copy)]
    yield from unfit
    if not unfit:
        yield ok("Its settings are as the Hub needs them.")
    if abs(ahead) > CLOCK:
        yield warning(
            f"This machine's clock is {ahead.total_seconds():+.0f} seconds off the database's: keep both "
            "right by NTP."
        )


def _unfit(values: dict[str, str], *, is_copy: bool) -> Iterator[Finding]:
    """The settings of PostgreSQL that the Hub cannot work with, or that lose something."""
    if is_copy or values["default_transaction_read_only"] == "on":
        yield problem("The database takes no changes: set DATABASE_URL to the primary server.")
    if values["server_encoding"] != "UTF8":
        yield problem(
            f"The database is encoded as {values['server_encoding']}: create one with the encoding UTF8."
        )
    if values["default_transaction_isolation"] != "read committed":
        yield problem(
            f"default_transaction_isolation is {values['default_transaction_isolation']}: the Hub needs "
            "read committed. ALTER ROLE … SET default_transaction_isolation = 'read committed'."
        )
    for name in ("fsync", "full_page_writes"):
        if values[name] == "off":
            yield problem(f"{name} is off: a power cut can destroy the database. Turn it on.")
    if values["synchronous_commit"] == "off":
        yield warning(
            "synchronous_commit is off: reports that were answered with 201 can be lost when the server "
            "of the database crashes. Turn it on."
        )
    if 0 < int(values["statement_timeout"]) < SHORT_TIMEOUT:
        yield warning(
            f"statement_timeout is {values['statement_timeout']} ms: work of `maintain` on many rows "
            "may never end. Set it to 0 for the Hub's role, or to a minute and more."
        )
    yield from _connections(values)


def _connections(values: dict[str, str]) -> Iterator[Finding]:
    """Whether there are enough; behind a pooler, which `HUB_PREPARED_STATEMENTS` tells, others count."""
    allowed = int(values["max_connections"]) - int(values["superuser_reserved_connections"])
    needed = settings.HUB_PROCESSES * (settings.HUB_THREADS + 4) + RUNNERS
    if settings.HUB_PREPARED_STATEMENTS and needed > allowed:
        yield warning(
            f"PostgreSQL allows {allowed} connections, and the Hub may open {needed} on this machine "
            "(HUB_PROCESSES times HUB_THREADS, and some): raise max_connections, or lower HUB_THREADS."
        )


def _sqlite(using: BaseDatabaseWrapper) -> Iterator[Finding]:
    path = Path(str(using.settings_dict["NAME"]))
    with using.cursor() as cursor:
        cursor.execute("SELECT sqlite_version()")
        version = cursor.fetchone()[0]
        cursor.execute("PRAGMA journal_mode")
        mode = cursor.fetchone()[0]
    yield ok(f"SQLite {version} opens {path}.")
    if mode != "wal":
        yield problem(
            f"SQLite keeps no write-ahead log here (journal_mode is {mode}), so readers wait for "
            f"writers: move {path} to a local disk."
        )
    if not settings.HUB_DEBUG:
        yield warning(
            "The Hub uses SQLite: one machine, one writer at a time, and one file that has to be backed "
            "up. For more than a small Hub, set DATABASE_URL to PostgreSQL."
        )
    if settings.HUB_FORWARDING == "queue":
        yield problem(
            "HUB_FORWARDING is queue, which needs PostgreSQL: set DATABASE_URL, or leave it inline."
        )


def _of_another_host() -> Iterator[Finding]:
    from hub.setup import code_host  # which loads the models

    if found := code_host.problem():
        yield problem(found)


def _migrations(using: BaseDatabaseWrapper) -> Iterator[Finding]:
    missing = health.missing_migrations(using)
    if missing:
        yield problem(f"{health.OUTDATED} Missing: {len(missing)}, first {missing[0]}.")
    else:
        yield ok("All migrations are applied.")
        yield from _of_another_host()
    loader = MigrationLoader(using)
    known = loader.disk_migrations.keys() | _replaced(loader)
    newer = sorted({each for each in loader.applied_migrations if each[0] in OURS} - known)
    if newer:
        yield warning(
            f"The database has migrations that this version does not know, such as {'.'.join(newer[0])}: "
            "it was used by a newer version. Run that one, or restore a backup."
        )


def _replaced(loader: MigrationLoader) -> set[tuple[str, str]]:
    return {each for one in loader.disk_migrations.values() for each in one.replaces}
