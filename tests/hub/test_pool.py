"""PostgreSQL was restarted while nobody asked."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import psutil
import pytest
from django.db import OperationalError, connection, transaction
from django.test import Client
from psycopg_pool import ConnectionPool

from hub.postgresql import base
from orgs import ownership
from tests import build

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgresql]


def ask() -> int:
    """As a request of its own: it takes a connection from the pool and gives it back."""
    try:
        return Client().get("/readyz").status_code
    finally:
        connection.close()


def fill_pool(size: int) -> None:
    together = Barrier(size)

    def hold(_: int) -> None:
        connection.ensure_connection()
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


def test_a_column_that_a_migration_changes_costs_no_request():
    def widen(size: int) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"ALTER TABLE orgs_domain ALTER organization_id TYPE varchar({size})")

    for _ in range(10):
        ownership.claim_covering("https://docs.acme.com/")
    widen(30)
    try:
        assert ownership.claim_covering("https://docs.acme.com/") is None
    finally:
        widen(26)


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
