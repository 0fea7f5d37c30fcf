"""PostgreSQL was restarted while nobody asked."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Barrier

import psutil
import pytest
import requests
from django.db import NotSupportedError, OperationalError, connection, transaction
from django.test import Client
from psycopg_pool import ConnectionPool

from core import connections
from core.prepared import again_if_stale
from hub.postgresql import base
from orgs import ownership
from tests import build
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgresql]


def ask() -> int:
    """As a request of its own: it takes a connection from the pool and gives it back."""
    try:
        return Client().get("/readyz").status_code
    finally:
        connection.close()


def fill_pool(size: int, statement: str = "SELECT 1") -> None:
    together = Barrier(size)

    def hold(_: int) -> None:
        with connection.cursor() as cursor:
            cursor.execute(statement)
        together.wait()
        connection.close()

    connection.close()
    with ThreadPoolExecutor(size) as threads:
        list(threads.map(hold, range(size)))


def end_all_connections() -> None:
    """What a restart does to them; the server tells each of them, and it is gone."""
    with connection.cursor() as cursor:
        for patience in (0, 5000):  # milliseconds: told all at once, and then waited for
            cursor.execute(
                "SELECT pg_terminate_backend(pid, %s) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()",
                [patience],
            )
    connection.close()


@pytest.mark.parametrize("size", [36, 18])
def test_a_restart_of_the_database_costs_at_most_one_request(size):
    fill_pool(size)
    end_all_connections()

    answers = [ask() for _ in range(5)]

    assert answers.count(503) <= 1
    assert answers[1:] == [200] * 4


def test_a_restart_of_the_database_is_got_over_by_many_at_once():
    fill_pool(16)
    end_all_connections()

    with ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(lambda _: ask(), range(100)))

    assert answers.count(503) <= 1


@pytest.mark.parametrize(("rest", "may_be_fresh"), [(60, True), (-1, False)])
def test_a_connection_is_asked_how_it_is_only_after_a_rest(monkeypatch, rest, may_be_fresh):
    ask()
    monkeypatch.setattr(base, "REST", rest)
    monkeypatch.setattr(base, "A_MOMENT", min(rest, base.A_MOMENT))
    checks = []  # whether it had been used before; what the pool has just opened is asked once
    known = ConnectionPool.check_connection
    monkeypatch.setattr(
        ConnectionPool,
        "check_connection",
        lambda it: checks.append(hasattr(it, "rests_since")) or known(it),
    )

    for _ in range(5):
        ask()

    assert (True not in checks) if may_be_fresh else len(checks) == 5


def request() -> str:
    """One of a thread of the server, which keeps its connection. How it went."""
    connection.take_up()
    try:
        connection.prepared_rows("SELECT 1::int4", [])
        return "answered"
    except OperationalError:
        return "failed"
    finally:
        connection.keep()


def backend() -> int:
    return connection.connection.info.backend_pid


@pytest.fixture
def kept() -> Iterator[None]:
    """The connection is given back in the end."""
    connection.close()
    yield
    connection.close()


@pytest.mark.usefixtures("kept")
def test_a_thread_of_the_server_keeps_its_connection(monkeypatch):
    request()
    first = backend()
    monkeypatch.setattr(ConnectionPool, "getconn", None)

    for _ in range(3):
        request()

    assert backend() == first


@pytest.mark.usefixtures("kept")
def test_no_thread_fails_with_a_connection_that_the_server_has_ended(monkeypatch):
    monkeypatch.setattr(base, "A_MOMENT", 0)  # nobody was busy when it did
    together = Barrier(17)

    def requests(_: int) -> list[str]:
        answers = [request()]
        together.wait()
        together.wait()
        answers += [request(), request()]
        connection.close()
        return answers

    with ThreadPoolExecutor(16) as threads:
        answers = threads.map(requests, range(16))
        together.wait()
        end_all_connections()
        together.wait()

    assert [each for every in answers for each in every] == ["answered"] * 48


@pytest.mark.usefixtures("kept")
def test_what_one_thread_finds_broken_no_other_one_uses():
    request()
    assert connection.connection is not None
    connection._drain(connection._asked_at)  # as another thread does

    connection.take_up()

    assert connection.connection is None


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("state", ["an error", "a transaction"])
def test_no_connection_is_kept_that_is_not_as_it_was(state):
    connection.ensure_connection()
    if state == "an error":
        with pytest.raises(OperationalError):
            connection.prepared_rows("SELECT pg_terminate_backend(pg_backend_pid())", [])
    else:
        connection.connection.pgconn.exec_(b"BEGIN")

    connection.keep()

    assert connection.connection is None


@pytest.mark.usefixtures("kept")
def test_a_connection_that_was_kept_for_a_while_is_tried_before_it_is_used(monkeypatch):
    request()
    checked = []
    known = ConnectionPool.check_connection
    monkeypatch.setattr(
        ConnectionPool, "check_connection", lambda it: checked.append(it) or known(it)
    )
    connection.connection.rests_since -= base.REST + 1
    rested = connection.connection

    request()
    request()

    assert checked == [rested]
    assert connection.connection is rested


@pytest.mark.usefixtures("kept")
def test_a_connection_is_given_to_a_thread_that_waits_for_one():
    """PostgreSQL lets in fewer than there are threads."""
    connection.ensure_connection()
    pool, taken = connection.pool, []
    with ThreadPoolExecutor(1) as threads, ExitStack() as stack:
        request()
        for _ in range(pool.max_size - 1):
            taken.append(stack.enter_context(pool.connection()))
        other = threads.submit(lambda: (request(), connection.close()))
        wait_until(lambda: connection._waiting)

        request()

        assert other.result(timeout=10)[0] == "answered"
        assert len(taken) == pool.max_size - 1


@pytest.mark.usefixtures("kept")
def test_a_connection_goes_back_to_the_pool_now_and_then_however_busy_it_is():
    request()
    connection._asked_at -= base.REST + 1

    connection.take_up()

    assert connection.connection is None


@pytest.mark.usefixtures("kept")
def test_a_connection_that_somebody_has_closed_is_not_used(monkeypatch):
    monkeypatch.setattr(base, "A_MOMENT", 0)
    request()
    connection.connection.close()

    assert request() == "answered"


@pytest.mark.usefixtures("kept")
def test_a_connection_that_was_kept_for_a_while_has_rested_when_it_is_given_back():
    request()
    rested = connection.connection
    rested.rests_since = since = rested.rests_since - base.REST - 1

    connections.give_back()

    assert rested.rests_since == since


def test_a_server_asks_for_all_reports_over_the_connection_that_it_has(hub_process):
    def backends() -> set[int]:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pid FROM pg_stat_activity WHERE datname = current_database() "
                "AND pid <> pg_backend_pid()"
            )
            return {pid for [pid] in cursor.fetchall()}

    for number in range(30):
        report = build.report(report__summary=f"Step {number} is wrong")
        requests.post(f"{hub_process.url}/v1/reports", json=report, timeout=10)
        if number == 10:
            before = backends()

    assert backends() == before


def widen(column: str, size: int) -> None:
    """As a migration does with a column of claims of domains."""
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE orgs_domain ALTER {column} TYPE varchar({size})")


def test_a_column_that_a_migration_changes_costs_no_request():
    for _ in range(10):
        ownership.claim_covering("https://docs.acme.com/")
    widen("organization_id", 30)
    try:
        assert ownership.claim_covering("https://docs.acme.com/") is None
    finally:
        widen("organization_id", 26)


def test_a_column_that_a_migration_changes_costs_no_transaction():
    @again_if_stale
    def asked_in_a_transaction() -> list[tuple]:
        with transaction.atomic():
            connection.prepared_rows("SELECT 1::int4", [])
            return connection.prepared_rows("SELECT name FROM orgs_domain WHERE id = %s", ["a"])

    for _ in range(10):
        asked_in_a_transaction()
    widen("name", 300)
    try:
        for _ in range(10):
            assert asked_in_a_transaction() == []
        with transaction.atomic():
            widen("name", 301)
            with pytest.raises(NotSupportedError):
                asked_in_a_transaction()
            transaction.set_rollback(True)
    finally:
        widen("name", 253)


def test_a_transaction_that_stands_still_for_too_long_is_a_database_that_is_away(monkeypatch):
    """As in a process that was stopped for a while, or in a machine that was."""

    def stands_still(*args, **kwargs):
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = '1ms'")
            pid = connection.connection.info.backend_pid
            while psutil.pid_exists(pid):
                time.sleep(0.001)
            cursor.execute("SELECT 1")

    monkeypatch.setattr("reports.intake.accept", stands_still)

    answer = build.send(Client())

    assert answer.status_code == 503
    assert ask() == 200


def test_a_connection_that_breaks_while_it_is_used_empties_the_pool(monkeypatch):
    fill_pool(8)
    drained = []
    monkeypatch.setattr(ConnectionPool, "drain", lambda pool: drained.append(pool))
    with connection.cursor() as cursor, pytest.raises(OperationalError):
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    connection.close()

    assert len(drained) == 1


def test_a_server_that_takes_no_changes_is_left_at_once():
    """After a failover, where the name leads to another server by now."""
    client = Client()
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
    ready = client.get("/readyz")
    refused = build.send(client)
    again = build.send(client)

    assert (ready.status_code, ready.content) == (503, b"The database takes no changes.\n")
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
    assert refused.json()["error"] == "unavailable"
    assert again.status_code == 201


def test_a_server_that_takes_no_changes_costs_one_request_whatever_was_in_the_pool():
    fill_pool(36, "SET default_transaction_read_only = on")  # all that there may be
    client, answers = Client(), []

    for _ in range(8):
        answers.append(build.send(client).status_code)
        connection.close()

    assert answers == [503, *[201] * 7]


@pytest.mark.usefixtures("kept")
def test_a_server_that_takes_no_changes_is_left_where_only_probes_come():
    """A balancer sends no report to a Hub that is not ready."""
    client, answers = Client(), []
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")

    for _ in range(2):
        connection.take_up()
        answers.append(client.get("/readyz").status_code)
        connection.keep()

    assert answers == [503, 200]
