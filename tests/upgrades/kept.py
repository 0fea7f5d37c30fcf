"""What releases have left: a filled database as SQL, for SQLite and for PostgreSQL, and what their API was.

The databases have the tables as they were, and the migrations that had run; no code of today is needed to load them.
"""

import gzip
import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.db.migrations.recorder import MigrationRecorder

from hub.docs import for_agents
from tests.hub_process import database_url
from tests.openapi import promises

FOLDER = Path(__file__).with_name("kept")
OURS = ("hub", "integrations", "orgs", "reports")
NOT_SQL = re.compile(rb"\\(un)?restrict .*\n")  # what newer pg_dump writes for psql
WITHOUT_KEYS = (
    "PRAGMA foreign_keys=OFF; {} PRAGMA foreign_keys=ON;"  # the tables come by their names
)
Table = dict[str, tuple[Any, ...]]  # the values of each column, in the order of the primary key


@dataclass(frozen=True)
class Kept:
    """What one release has left: `kept/0.1/`."""

    version: str

    @property
    def folder(self) -> Path:
        return FOLDER / self.version

    @property
    def about(self) -> dict[str, Any]:
        """When it was filled, and our last migrations then."""
        return json.loads((self.folder / "about.json").read_text(encoding="utf-8"))

    @property
    def baseline(self) -> dict[str, str]:
        """Our last migrations, by app."""
        return self.about["migrations"]

    @property
    def api(self) -> dict[str, Any]:
        """What `/openapi.json` said then, without the words for people."""
        return json.loads((self.folder / "openapi.json").read_text(encoding="utf-8"))

    def load(self) -> None:
        """Into the database that is used now, which is empty; it was filled a moment ago then."""
        sql = gzip.decompress((self.folder / f"{connection.vendor}.sql.gz").read_bytes()).decode()
        with connection.cursor() as cursor:
            if connection.vendor == "sqlite":
                connection.connection.executescript(WITHOUT_KEYS.format(sql))
                assert not cursor.execute("PRAGMA foreign_key_check").fetchall()
            else:
                cursor.execute(sql)
                cursor.execute("RESET ALL")  # what the SQL has set for itself
        _age(datetime.now(UTC) - datetime.fromisoformat(self.about["filled_at"][connection.vendor]))

    def keep(self) -> Path:
        """The database that is used now; a folder that is there is only added to."""
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / f"{connection.vendor}.sql.gz"
        file.write_bytes(gzip.compress(_dump(), mtime=0))
        about = self.folder / "about.json"
        filled_at = self.about["filled_at"] if about.exists() else {}
        filled_at[connection.vendor] = datetime.now(UTC).isoformat(timespec="seconds")
        text = {"filled_at": dict(sorted(filled_at.items())), "migrations": _last_migrations()}
        about.write_text(json.dumps(text, indent=2) + "\n", encoding="utf-8")
        api = promises.bare(json.loads(for_agents.OPENAPI.read_text(encoding="utf-8")))
        (self.folder / "openapi.json").write_text(json.dumps(api) + "\n", encoding="utf-8")
        return file


def all_kept() -> list[Kept]:
    """The oldest first."""
    versions = (path.name for path in FOLDER.iterdir() if path.is_dir())
    return [Kept(each) for each in sorted(versions, key=lambda each: [*map(int, each.split("."))])]


def _last_migrations() -> dict[str, str]:
    recorded = sorted(MigrationRecorder(connection).applied_migrations())
    return {app: name for app, name in recorded if app in OURS}  # the last one of each stays


def _dump() -> bytes:
    if connection.vendor == "sqlite":
        connection.ensure_connection()
        return "\n".join(connection.connection.iterdump()).encode()
    from tests import postgresql

    options = ["--no-owner", "--no-privileges", "--inserts", "--rows-per-insert=100"]
    return NOT_SQL.sub(b"", postgresql.run("pg_dump", *options, database_url()).encode())


def _age(by: timedelta) -> None:
    """All times are so much later than they were, since tokens expire, and reports are the same for a month only."""
    change = "{0} = {0} + %s" if connection.vendor == "postgresql" else "{0} = later({0}, %s)"
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            connection.connection.create_function("later", 2, _later)
        for table, columns in _times().items():
            sets = ", ".join(change.format(connection.ops.quote_name(each)) for each in columns)
            values = [by if connection.vendor == "postgresql" else by.total_seconds()] * len(
                columns
            )
            cursor.execute(f"UPDATE {connection.ops.quote_name(table)} SET {sets}", values)


def _later(time: str | None, seconds: float) -> str | None:
    if time is None:
        return None
    return str(datetime.fromisoformat(time) + timedelta(seconds=seconds))


def _times() -> dict[str, list[str]]:
    """The columns of each table that have a time."""
    found: dict[str, list[str]] = {}
    with connection.cursor() as cursor:
        for table in sorted(
            set(connection.introspection.table_names(cursor)) - {"django_migrations"}
        ):
            for column in connection.introspection.get_table_description(cursor, table):
                kind = connection.introspection.get_field_type(column.type_code, column)
                if kind == "DateTimeField":
                    found.setdefault(table, []).append(column.name)
    return found


def tables() -> dict[str, Table]:
    """What our tables have now."""
    found: dict[str, Table] = {}
    with connection.cursor() as cursor:
        for name in sorted(connection.introspection.table_names(cursor)):
            if name.startswith(tuple(f"{app}_" for app in OURS)):
                found[name] = _table(cursor, name)
    return found


def _table(cursor: CursorWrapper, name: str) -> Table:
    key = connection.introspection.get_primary_key_column(cursor, name)
    cursor.execute(f'SELECT * FROM "{name}" ORDER BY "{key}"')
    columns, values = [each[0] for each in cursor.description], cursor.fetchall()
    return {column: tuple(row[place] for row in values) for place, column in enumerate(columns)}
