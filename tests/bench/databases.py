"""Durable databases: an answer is sent when the row is on the disk, as in production."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from urllib.parse import quote

import psycopg
from django.core.management import call_command
from django.db import connection, connections
from environ import Env

from sandbox import CodeHost
from tests import build, postgresql
from tests.bench import load
from tests.hub_process import ROOT

OWNED_PAGE = "https://docs.acme%(host)d.com/guide/%(page)d"
DURABLE = ("fsync", "full_page_writes", "synchronous_commit")


class PostgreSQL:
    """A server of its own, in a folder that is thrown away."""

    def __init__(self) -> None:
        self._url = postgresql.start(durable=True)
        self.pid = postgresql.pid()
        off = [name for name in DURABLE if self._value(f"SHOW {name}") != "on"]
        if off:
            raise RuntimeError(f"PostgreSQL started with {', '.join(off)} off.")

    def create(self, name: str) -> str:
        """A new, empty database; its URL."""
        with psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        return self.url(name)

    def url(self, name: str) -> str:
        """The URL of one of its databases."""
        with psycopg.connect(self._url) as connection:
            host = quote(connection.info.host, safe="")
            return f"postgresql://{connection.info.user}:@/{name}?host={host}"

    def _value(self, query: str) -> str:
        with psycopg.connect(self._url) as connection:
            return connection.execute(query).fetchone()[0]


def rows(url: str, table: str) -> int:
    """How many rows a table has."""
    query = f"SELECT count(*) FROM {table}"
    if url.startswith("sqlite:///"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
            return connection.execute(query).fetchone()[0]
    with psycopg.connect(url) as connection:
        return connection.execute(query).fetchone()[0]


def execute(url: str, script: str) -> None:
    """Run some statements in PostgreSQL."""
    with psycopg.connect(url) as connection:
        connection.execute(script)


def use(url: str) -> None:
    """Let this process's models use this database from now on."""
    connection.close()
    connections.settings["default"].update(NAME="", USER="", HOST="", OPTIONS={})
    connections.settings["default"].update(Env.db_url_config(url))
    if not url.startswith("sqlite:"):
        connections.settings["default"]["ENGINE"] = "hub.postgresql"  # as in the settings
    del connections["default"]


def migrate(url: str) -> None:
    """Create the Hub's tables."""
    use(url)
    call_command("migrate", verbosity=0)
    connection.close()


def own_pages(url: str, host: CodeHost, *, organizations: int = 1) -> None:
    """Let organizations own `OWNED_PAGE`s, each with an installation and a repository for issues."""
    use(url)
    for number in range(organizations):
        account = f"acme{number}"
        host.add_organization(account)
        host.add_installation(account, repositories=[host.add_repository(account, "docs")])
        owner = build.organization(account)
        build.integration(owner, host, f"{account}/docs")
        for each in range(number, load.HOSTS, organizations):
            build.domain(owner, f"docs.acme{each}.com")
    connection.close()


def pragmas(environment: dict[str, str]) -> str:
    """The pragmas that decide how durable a Hub with this environment is on SQLite."""
    script = (
        "import django; django.setup(); from django.db import connection as c; c.ensure_connection();"
        "print(', '.join(f'{n} {c.cursor().execute(\"PRAGMA \" + n).fetchone()[0]}'"
        " for n in ('journal_mode', 'synchronous')))"
    )
    command = [sys.executable, "-c", script]
    return subprocess.run(
        command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    ).stdout.strip()
