"""What tests share: a code host on loopback, who owns what, a clock that can be moved."""

import gc
import os
import signal
import threading
from collections.abc import Iterator
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from django.conf import settings
from django.db import connection, transaction
from django.db.models.expressions import Combinable
from django.test import TransactionTestCase

from core import clock as database_clock
from core import rates
from hub.postgresql.base import DatabaseWrapper
from integrations import github_api
from orgs import ownership
from orgs.discovery import fetching
from orgs.domains import txt_records
from orgs.people import leaving
from sandbox import App, CodeHost
from tests import migrated, parallel, redis_server, selection
from tests.dns_server import DNSServer
from tests.hub_process import HubProcess, collect_static_files
from tests.web_server import WebServer, certificate


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fast", action="store_true", help="without processes and time-outs")


def pytest_configure() -> None:
    """Have Ctrl-C reach the programs that tests start, also where this began in the background and ignores it."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Before any worker starts a Hub."""
    config = session.config
    if not (
        hasattr(config, "workerinput") or config.getoption("fast") or config.option.collectonly
    ):
        collect_static_files()


def pytest_unconfigure(config: pytest.Config) -> None:
    """A worker that was interrupted may leave its database behind."""
    if not hasattr(config, "workerinput"):
        for path in settings.VAR_DIR.glob(f"test-{settings.RUN}.sqlite3*"):
            path.unlink(missing_ok=True)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return selection.is_passed_over(collection_path, config) or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    kept = [item for item in items if selection.runs_here(item)]
    if config.getoption("fast"):
        kept = [item for item in kept if selection.is_fast(item)]
    if config.getoption("cov_source", None):
        selection.leave_untraced(kept)
    chosen = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = sorted(kept, key=lambda item: parallel.place(item.nodeid))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    with selection.uncounted(item):
        yield


def pytest_collection_finish(session: pytest.Session) -> None:
    """Let the garbage collector pass over what was collected: it would look at all of that each time."""
    if hasattr(session.config, "workerinput"):
        gc.collect()
        gc.freeze()


def pytest_xdist_auto_num_workers() -> int:
    return parallel.workers()


def pytest_xdist_make_scheduler(config: pytest.Config, log) -> parallel.Scheduler:
    config.option.loadscopereorder = False
    return parallel.Scheduler(config, log)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI a test that was skipped is a test that failed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("HUB_FAIL_ON_SKIP") and reporter and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


KEPT = {
    "django_content_type",
    "auth_permission",
    "allauth_idp_oidc_client",
}  # the same for every test


@cache
def _emptying() -> list[str]:
    """The statements that empty all tables; on PostgreSQL on one way to the server."""
    tables = set(connection.introspection.django_table_names(only_existing=False)) - KEPT
    statements = [f"DELETE FROM {connection.ops.quote_name(table)}" for table in sorted(tables)]
    return ["; ".join(statements)] if connection.vendor == "postgresql" else statements


def empty_tables(test: TransactionTestCase | None = None) -> None:
    """What Django's own flush leaves behind, without making each table and permission anew."""
    with transaction.atomic(), connection.cursor() as cursor:
        for statement in _emptying():
            cursor.execute(statement)


TransactionTestCase._fixture_teardown = empty_tables


@cache
def key_pair() -> tuple[str, str]:
    """The app's private and public key (PEM), made once a run."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return private.decode(), public.decode()


def new_code_host(*, ids_from: int = 0) -> CodeHost:
    """The sandbox with the repository acme/docs and the app installed on it.

    alice owns acme there, bob is a member, charlie is a stranger.
    """
    app = App(
        id=1,
        slug="docs-feedback-hub",
        client_id="client",
        client_secret="not-a-secret",
        webhook_secret="not-a-secret",
        public_key_pem=key_pair()[1],
    )
    host = CodeHost(app=app, rate_limit=1_000_000, ids_from=ids_from)
    host.add_organization("acme")
    for login in ("alice", "bob", "charlie"):
        host.add_user(login)
    host.add_member("acme", "alice", role="admin")
    host.add_member("acme", "bob")
    host.add_installation("acme", repositories=[host.add_repository("acme", "docs")])
    return host


def settings_for(host: CodeHost) -> dict[str, str]:
    """What an operator would set, for a sandbox that serves."""
    return {
        "HUB_GITHUB_URL": host.url,
        "HUB_GITHUB_APP_ID": str(host.app.id),
        "HUB_GITHUB_APP_SLUG": host.app.slug,
        "HUB_GITHUB_CLIENT_ID": host.app.client_id,
        "HUB_GITHUB_CLIENT_SECRET": host.app.client_secret,
        "HUB_GITHUB_PRIVATE_KEY": key_pair()[0],
        "HUB_GITHUB_WEBHOOK_SECRET": host.app.webhook_secret,
    }


def callbacks(hub: HubProcess) -> list[str]:
    """Where the code host may send browsers back to."""
    return [f"{hub.url}/v1/integrations/github/callback", f"{hub.url}/login/github/callback/"]


def hub_for(port: int, **environment: str) -> HubProcess:
    """A Hub for many tests, each of which serves a code host of its own at this port."""
    host = new_code_host()
    host.url = f"http://127.0.0.1:{port}"
    return HubProcess(**settings_for(host), **environment)


def served(host: CodeHost, settings, *, port: int = 0) -> Iterator[CodeHost]:
    """The host, serving, and the settings that lead to it."""
    with host.serving(port=port):
        for name, value in settings_for(host).items():
            setattr(settings, name, value)
        yield host
    github_api.forget_tokens()
    github_api.forget_read()
    github_api.forget_places()


@pytest.fixture
def code_host(settings) -> Iterator[CodeHost]:
    yield from served(new_code_host(), settings)


@pytest.fixture
def hub_process(transactional_db, code_host) -> Iterator[HubProcess]:
    """The Hub under its production server, on the test's database and the sandbox."""
    with HubProcess() as hub:
        code_host.app.callback_urls += callbacks(hub)
        yield hub


class Clock:
    """The database's clock, ahead of the real one by as much as the test says."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch

    def now(self) -> Combinable:
        return database_clock.now()

    def advance(self, **duration: float) -> None:
        moved = database_clock.ahead + timedelta(**duration)
        self._patch.setattr(database_clock, "ahead", moved)


@pytest.fixture
def clock(monkeypatch) -> Clock:
    return Clock(monkeypatch)


@pytest.fixture(scope="session")
def django_db_keepdb(
    pytestconfig: pytest.Config, django_db_modify_db_settings, django_db_blocker
) -> bool:
    """Whether the database is there; a worker's is a copy, which takes a tenth of the time."""
    is_copied = connection.vendor == "sqlite" and hasattr(pytestconfig, "workerinput")
    if is_copied:
        with django_db_blocker.unblock():
            migrated.copy()
    return is_copied


@pytest.fixture(autouse=True, scope="session")
def no_processes_where_it_is_fast(pytestconfig: pytest.Config) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if pytestconfig.getoption("fast"):
            selection.refuse_processes(patch)
        yield


@pytest.fixture(autouse=True, scope="session")
def all_that_is_left_is_deleted_however_slow_the_machine_is() -> Iterator[None]:
    """Else `maintain` would delete what takes the request too long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leaving, "LONGEST", 3600)
        yield


@pytest.fixture(autouse=True)
def no_limits_left_over() -> Iterator[None]:
    yield
    rates.forget()
    ownership.forget()


@pytest.fixture(autouse=True)
def no_connection_left_open(monkeypatch) -> Iterator[None]:
    """A thread that ends with a connection keeps the test's database in use until it is collected."""
    if connection.vendor != "postgresql":
        yield
        return
    users: dict[DatabaseWrapper, threading.Thread] = {}
    take, close = DatabaseWrapper.get_new_connection, DatabaseWrapper._close

    def taking(wrapper: DatabaseWrapper, parameters: dict[str, Any]) -> psycopg.Connection:
        users[wrapper] = threading.current_thread()
        return take(wrapper, parameters)

    def closing(wrapper: DatabaseWrapper) -> None:
        users.pop(wrapper, None)
        close(wrapper)

    monkeypatch.setattr(DatabaseWrapper, "get_new_connection", taking)
    monkeypatch.setattr(DatabaseWrapper, "_close", closing)
    yield
    left = [user.name for user in users.values() if not user.is_alive()]
    assert not left, f"these threads ended without connection.close(): {left}"


@pytest.fixture
def dns(settings) -> Iterator[DNSServer]:
    """The only DNS server that the Hub asks."""
    server = DNSServer()
    with server.serving() as address:
        settings.HUB_DNS_SERVERS = address
        yield server


@pytest.fixture
def zone(dns, settings, monkeypatch) -> Iterator[DNSServer]:
    """The zone acme.com on a server of its own, which the resolver names; `dns` is what the resolver remembers."""
    authority = DNSServer()
    with authority.serving() as address:
        host, _, port = address.partition(":")
        resolver = txt_records.configured_servers()
        monkeypatch.setattr(txt_records, "_resolvers", lambda: resolver)
        monkeypatch.setattr(txt_records, "PORT", int(port))
        monkeypatch.setattr(txt_records, "is_public", lambda address: True)
        settings.HUB_DNS_SERVERS = ""
        dns.name_server("acme.com", "ns1.acme.com", host)
        dns.name_server("com", "ns1.acme.com", host)
        yield authority


@pytest.fixture
def web(tmp_path, monkeypatch) -> Iterator[WebServer]:
    """A claimed host that serves on loopback: its name leads there, and its certificate is known."""
    server = WebServer()
    with server.serving(tmp_path):
        context = fetching.trust(str(certificate(tmp_path)))
        monkeypatch.setattr(fetching, "PORT", server.port)
        monkeypatch.setattr(fetching, "public_addresses", lambda *_: ["127.0.0.1"])
        monkeypatch.setattr(fetching, "trust", lambda: context)
        yield server


@pytest.fixture
def redis(settings) -> Iterator[redis_server.RedisServer]:
    """A real one, in which this process counts."""
    redis_server.needed()
    with redis_server.serving() as server:
        settings.REDIS_URL = server.url
        yield server
        rates.forget()  # with its connection


@pytest.fixture
def impatient(monkeypatch) -> None:
    """A DNS server that is silent is given up after a moment."""
    monkeypatch.setattr(txt_records, "QUERY_TIMEOUT", 0.2)
    monkeypatch.setattr(txt_records, "DIRECT_TIMEOUT", 0.2)
