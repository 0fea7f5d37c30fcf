"""Backing up and restoring the test's database, by the commands that the docs show."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import connection

from tests.docs import running
from tests.hub_process import ROOT, database_url

PAGE = ROOT / "docs/v0/how-to/back-up-and-restore.md"


def block(page: Path, start: str) -> str:
    """The one block of a page that begins with this."""
    [found] = [
        each.code.code
        for each in running.examples_of(page.read_text(encoding="utf-8"))
        if each.code.code.startswith(start)
    ]
    return found


def back_up(folder: Path) -> str:
    """Make a backup; returns when it was taken, as `after_restore` takes it."""
    if connection.vendor == "sqlite":
        out = StringIO()
        call_command("backup", str(folder / "hub.sqlite3"), stdout=out)
        return out.getvalue().split()[-1]
    return _run(block(PAGE, "cd /var/backups/hub\ndate"), folder).splitlines()[0]


def restore(folder: Path) -> None:
    """Use the backup, as a new database."""
    if connection.vendor == "sqlite":
        restored = folder / "restored.sqlite3"
        restored.write_bytes((folder / "hub.sqlite3").read_bytes())
        _use(str(restored))
        return
    _use(connection.settings_dict["NAME"])  # it is renamed, which nobody who uses it allows
    _run(block(PAGE, "cd /\nrunuser -u postgres -- psql"), folder)


def end(original: str) -> None:
    """Go back to the test's own database."""
    _use(original)
    if connection.vendor == "sqlite":
        return
    with connection._nodb_cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", [_before(original)])
        if cursor.fetchone():
            cursor.execute(f'DROP DATABASE IF EXISTS "{original}" WITH (FORCE)')
            cursor.execute(f'ALTER DATABASE "{_before(original)}" RENAME TO "{original}"')


def _before(name: str) -> str:
    return f"{name}_before"


def _use(name: str) -> None:
    ContentType.objects.clear_cache()
    connection.close()
    if connection.vendor == "postgresql":
        connection.close_pool()
    connection.settings_dict["NAME"] = name


@contextmanager
def using(name: str) -> Iterator[None]:
    """Another database in the place of the test's; its name is a path on SQLite."""
    original = connection.settings_dict["NAME"]
    _use(name)
    try:
        yield
    finally:
        _use(original)


@contextmanager
def empty_database(folder: Path) -> Iterator[str]:
    """A database without tables; yields its name."""
    if connection.vendor == "sqlite":
        yield str(folder / "empty.sqlite3")
        return
    name = f"{connection.settings_dict['NAME']}_empty"
    with connection.cursor() as cursor:
        cursor.execute(f'CREATE DATABASE "{name}"')
    try:
        yield name
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def _run(commands: str, folder: Path) -> str:
    from tests import postgresql

    name = connection.settings_dict["NAME"]
    words = {
        "runuser -u hub -- ": "",
        "runuser -u postgres -- ": "",
        "/var/backups/hub": str(folder),
        "Monday.dump": "hub.dump",
        "postgres:///hub?host=/run/postgresql": database_url(),
        "DATABASE hub RENAME TO hub_before": f'DATABASE "{name}" RENAME TO "{_before(name)}"',
        "--owner=hub hub": f"--owner={connection.settings_dict['USER']} {name}",
    }
    for word, here in words.items():
        commands = commands.replace(word, here)
    ended = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        env={
            "PATH": f"{postgresql.programs()}:{os.environ['PATH']}",
            "DATABASE_URL": database_url(),
            "PGHOST": _host(),
            "PGDATABASE": "postgres",
            "PGUSER": connection.settings_dict["USER"],
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def _host() -> str:
    database = connection.settings_dict
    return database["OPTIONS"].get("host") or database["HOST"]
