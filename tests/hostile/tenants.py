"""Organizations with all that the URLs are about, the same in each of the databases."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from django.apps import apps
from django.core.management import call_command
from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Model
from django.db.utils import load_backend
from django.test import Client

from integrations.models import Delivery
from orgs.models import PersonalToken, User
from sandbox import CodeHost
from tests import build

CSRF = 32 * "a"


class Tenant(NamedTuple):
    """An organization, how its owner and an operator are known, and what stands in URLs for what is theirs."""

    name: str
    token: str
    session: str
    operators_session: str
    ids: dict[str, str]


class Rows:
    """What all tables hold at first. What a request takes away is there again after `restore`."""

    def __init__(self, *others: BaseDatabaseWrapper) -> None:
        kept = [(model, list(model._base_manager.all())) for model in all_models()]
        for each in others:
            with used_as_default(each), transaction.atomic():
                _empty()
                for model, rows in kept:
                    model._base_manager.bulk_create(rows)
        self._places = [(each, _read(each)) for each in (connections[DEFAULT_DB_ALIAS], *others)]

    def restore(self) -> None:
        """In the test's database and in the others."""
        for database, tables in self._places:
            with used_as_default(database), transaction.atomic(), connection.cursor() as cursor:
                _empty()
                for statement, rows in tables:
                    cursor.executemany(statement, rows)


def _empty() -> None:
    with connection.cursor() as cursor:
        for model in all_models():
            cursor.execute(f"DELETE FROM {connection.ops.quote_name(model._meta.db_table)}")


def _read(database: BaseDatabaseWrapper) -> list[tuple[str, list[tuple[Any, ...]]]]:
    """What the tables hold, as it is stored: statements, and rows for them."""
    name, read = database.ops.quote_name, []
    with database.cursor() as cursor:
        for options in (model._meta for model in all_models()):
            columns = [name(each.column) for each in options.local_concrete_fields]
            listed, table = ", ".join(columns), name(options.db_table)
            cursor.execute(f"SELECT {listed} FROM {table}")
            if rows := cursor.fetchall():
                values = ", ".join(["%s"] * len(columns))
                read.append((f"INSERT INTO {table} ({listed}) VALUES ({values})", rows))
    return read


def all_models() -> Iterator[type[Model]]:
    """The models whose tables hold something of ours."""
    for model in apps.get_models(include_auto_created=True):
        if model._meta.managed and not model._meta.proxy:
            yield model


@contextmanager
def used_as_default(database: BaseDatabaseWrapper) -> Iterator[None]:
    """All that this thread asks of the database is asked of this one."""
    usual = connections[DEFAULT_DB_ALIAS]
    connections[DEFAULT_DB_ALIAS] = database
    try:
        yield
    finally:
        connections[DEFAULT_DB_ALIAS] = usual


@contextmanager
def sqlite_beside(folder: Path) -> Iterator[BaseDatabaseWrapper]:
    """A second database with its tables, which another process may open, too."""
    options = {"init_command": "PRAGMA journal_mode=WAL;PRAGMA synchronous=OFF", "timeout": 30}
    engine = "django.db.backends.sqlite3"
    given = {"ENGINE": engine, "NAME": folder / "hostile.sqlite3", "OPTIONS": options}
    complete = connections.configure_settings({DEFAULT_DB_ALIAS: given})[DEFAULT_DB_ALIAS]
    database = load_backend(engine).DatabaseWrapper(complete, DEFAULT_DB_ALIAS)
    try:
        with used_as_default(database):
            call_command("migrate", verbosity=0)
        yield database
    finally:
        database.close()


def tenants(host: CodeHost, number: int) -> list[Tenant]:
    """So many organizations, each set up and with two reports: one delivered, one that failed."""
    operator = User.objects.create(username="operator", is_staff=True, is_superuser=True)
    return [_tenant(host, f"acme{each}", _session(operator)) for each in range(number)]


def _tenant(host: CodeHost, name: str, operators_session: str) -> Tenant:
    host.add_organization(name)
    alice = host.add_user(f"alice-{name}")
    host.add_member(name, alice.login, role="admin")
    host.add_installation(name, repositories=[host.add_repository(name, "docs")])
    owner = build.organization(name)
    build.integration(owner, host, f"{name}/docs")
    domain = build.domain(owner, f"docs.{name}.com")
    site = build.site(owner, f"{name}.github.io", "/docs/", f"{name}/docs")
    user = build.member(owner, alice.login, github_id=alice.id)
    bob = build.member(owner, f"bob-{name}", role="member").membership
    asked = owner.invitations.create(
        role="member", github_id=next(build.github_ids), login="dora", invited_by=user.membership
    )
    sent, failed = (_report(f"https://{domain.name}/{each}") for each in "ab")
    Delivery.objects.filter(report=failed).update(status=Delivery.Status.FAILED)
    token = build.token(user)
    ids = {
        "report_id": sent,
        "claim_id": domain.pk,
        "site_id": site.pk,
        "domain": domain.name,
        "member_id": bob.pk,
        "invitation_id": asked.pk,
        "token_id": PersonalToken.objects.get(token__user=user).pk,
        "terminal_id": build.terminal(user).pk,
        "kit_file": "llms.txt",
        "page": "reference/limits",
        "version": "v0",
        "token": "nobodys",
        "object_id": owner.pk,
        "content_type_id": 1,
        "app_label": "orgs",
        "url": "nowhere",
        "var": "/x",
    }
    return Tenant(
        name, token, _session(user), operators_session, {k: str(v) for k, v in ids.items()}
    )


def _report(page: str) -> str:
    return build.send(Client(), build.report(page)).json()["id"]


def _session(user: User) -> str:
    client = Client()
    client.force_login(user)
    return client.session.session_key or ""
