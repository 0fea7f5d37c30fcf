"""Prepared statements of PostgreSQL, asked by way of libpq."""

from contextlib import nullcontext, suppress
from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import psycopg
import pytest
from django.db import (
    DataError,
    IntegrityError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    connection,
    transaction,
)
from psycopg import IsolationLevel
from psycopg.pq import ExecStatus

from core import connections, prepared
from core.prepared import PreparedStatement
from hub.postgresql import prepared as libpq
from orgs.models import Organization
from tests import build

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgresql]

EAST = timezone(timedelta(hours=9))
NOW = datetime(2026, 5, 17, 12, 0, 0, 123400, tzinfo=UTC)
VALUES = [
    ("text", ""),
    ("text", 'é\u2028\\ "%s {,}\n'),
    ("varchar", Organization.__name__),
    ("text", None),
    ("int2", -7),
    ("int4", 2**31 - 1),
    ("int8", -(2**63)),
    ("bool", True),
    ("bool", False),
    ("timestamptz", NOW),
    ("timestamptz", NOW.replace(microsecond=0, tzinfo=EAST)),
    ("uuid", UUID(int=7)),
]


def both_ways(sql: str, *values: object) -> list[list[tuple]]:
    """Asked by way of libpq, and by Django's own cursor as somebody watches."""
    by_libpq = connection.prepared_rows(sql, values)
    with connection.execute_wrapper(lambda execute, *args: execute(*args)):
        return [by_libpq, connection.prepared_rows(sql, values)]


def prepared_ones() -> int:
    return connection.prepared_rows("SELECT count(*) FROM pg_prepared_statements", [])[0][0]


@pytest.mark.parametrize(("kind", "value"), VALUES)
def test_a_value_is_read_as_it_was_written(kind, value):
    by_libpq, by_django = both_ways(f"SELECT %s::{kind}", value)

    assert by_libpq == by_django == [(value,)]
    assert type(by_libpq[0][0]) is type(by_django[0][0])


@pytest.mark.parametrize("value", [{"a": ["é", None, 1.5]}, [], {}])
def test_json_is_text_that_django_reads(value):
    by_libpq, by_django = both_ways("SELECT %s::jsonb", prepared._json(value, None))

    assert by_libpq == by_django


@pytest.mark.parametrize(
    "span", [timedelta(0), timedelta(days=400, seconds=5, microseconds=7), -timedelta(seconds=90)]
)
def test_an_interval_is_added_to_a_time(span):
    [[later]] = connection.prepared_rows("SELECT %s::timestamptz + %s::interval", [NOW, span])

    assert later == NOW + span


@pytest.mark.parametrize("texts", [["a"], [], ["", 'é\\ "{,}', "NULL", "null"]])
def test_a_list_is_an_array(texts):
    found = connection.prepared_rows("SELECT value FROM unnest(%s::text[]) AS value", [texts])

    assert [text for [text] in found] == texts


def test_a_list_may_have_numbers_and_gaps():
    sql = "SELECT value FROM unnest(%s::int8[]) AS value"

    assert connection.prepared_rows(sql, [[3, None, -1]]) == [(3,), (None,), (-1,)]


def test_a_percent_sign_is_written_twice():
    assert connection.prepared_rows("SELECT 'a%%b' LIKE %s", ["a%%"]) == [(True,)]


def test_no_text_is_cut_at_a_nul():
    with pytest.raises(DataError, match="NUL"):
        connection.prepared_rows("SELECT %s::text", ["a\0b"])
    with pytest.raises(DataError, match="NUL"):
        connection.prepared_rows("SELECT %s::text[]", [["a\0b"]])


def test_a_statement_is_prepared_after_five_uses_and_only_once():
    for _ in range(5):
        connection.prepared_rows("SELECT %s::text, 'five'", ["a"])
    before = prepared_ones()

    for _ in range(5):
        connection.prepared_rows("SELECT %s::text, 'five'", ["a"])

    assert prepared_ones() == before + 1


def test_nothing_is_prepared_where_that_is_turned_off(settings):
    settings.HUB_PREPARED_STATEMENTS = False
    before = prepared_ones()

    for _ in range(20):
        assert connection.prepared_rows("SELECT %s::text, 'never'", ["a"]) == [("a", "never")]

    assert prepared_ones() == before


def ask_in_a_transaction() -> list[tuple]:
    with transaction.atomic():
        return connection.prepared_rows("SELECT name FROM orgs_domain WHERE id = %s", ["a"])


def test_a_column_that_changes_costs_a_connection_one_transaction():
    def widen(size: int) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"ALTER TABLE orgs_domain ALTER name TYPE varchar({size})")

    for _ in range(10):
        ask_in_a_transaction()
    widen(300)
    try:
        with pytest.raises(NotSupportedError):
            ask_in_a_transaction()

        assert [ask_in_a_transaction() for _ in range(10)] == [[]] * 10
    finally:
        widen(253)
        with suppress(NotSupportedError):  # the next test may have this connection
            ask_in_a_transaction()


def test_what_somebody_has_deallocated_is_prepared_again():
    for _ in range(10):
        ask_in_a_transaction()
    connection.connection.pgconn.exec_(b"DEALLOCATE ALL")

    with pytest.raises(ProgrammingError, match="does not exist"):
        ask_in_a_transaction()

    assert [ask_in_a_transaction() for _ in range(10)] == [[]] * 10


def test_what_somebody_watches_and_a_rollback_leave_the_rest_prepared():
    for _ in range(10):
        ask_in_a_transaction()
    for _ in range(10):
        both_ways("SELECT %s::text, 'watched'", "a")
    with transaction.atomic():
        ask_in_a_transaction()
        transaction.set_rollback(True)

    assert ask_in_a_transaction() == []


def test_the_first_statement_of_a_transaction_begins_it():
    statement = PreparedStatement(
        "Rename one.", "UPDATE orgs_organization SET name = %s WHERE id = %s RETURNING name"
    )
    organization = build.organization("before")

    with transaction.atomic():
        assert statement.first("after", organization.pk) == ("after",)
        transaction.set_rollback(True)

    organization.refresh_from_db()
    assert organization.name == "before"
    PreparedStatement.every.remove(statement)


def test_a_transaction_is_isolated_as_the_connection_says():
    connection.ensure_connection()
    connection.connection.isolation_level = IsolationLevel.REPEATABLE_READ
    try:
        with transaction.atomic():
            level = connection.prepared_rows("SHOW transaction_isolation", [])
    finally:
        connection.connection.isolation_level = None

    assert level == [("repeatable read",)]


def test_a_constraint_is_an_error_of_django_and_the_connection_goes_on():
    organization = build.organization()
    sql = "INSERT INTO orgs_organization SELECT * FROM orgs_organization WHERE id = %s RETURNING id"

    with pytest.raises(IntegrityError) as error:
        connection.prepared_rows(sql, [organization.pk])

    assert isinstance(error.value.__cause__, psycopg.errors.UniqueViolation)
    assert connection.prepared_rows("SELECT 1::int4", []) == [(1,)]


@pytest.mark.parametrize("kind", ["float8", "numeric", "date", "text[]"])
def test_a_type_that_nobody_reads_yet_is_an_error(kind):
    with pytest.raises(NotImplementedError):
        connection.prepared_rows(f"SELECT NULL::{kind}", [])


def test_a_value_that_nobody_writes_yet_is_an_error():
    with pytest.raises(NotImplementedError, match="float"):
        connection.prepared_rows("SELECT %s::text", [1.5])


def test_every_statement_has_columns_of_types_that_are_read():
    connection.ensure_connection()
    asked = connection.connection.pgconn
    for number, statement in enumerate(PreparedStatement.every):
        name = b"described_%d" % number
        sql = libpq._numbered(statement.sql["postgresql"]).sql
        assert asked.prepare(name, sql).status == ExecStatus.COMMAND_OK, statement.question

        described = asked.describe_prepared(name)

        kinds = {described.ftype(column) for column in range(described.nfields)}
        assert kinds <= libpq._READERS.keys(), statement.question
    assert number > 10


@pytest.mark.parametrize("within", [nullcontext, transaction.atomic])
def test_a_server_that_is_gone_is_a_database_that_is_away(within):
    connection.ensure_connection()
    with psycopg.connect(connection.connection.info.dsn, autocommit=True) as other:
        pid = connection.connection.info.backend_pid
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])

    with pytest.raises(OperationalError) as error, within():
        connection.prepared_rows("SELECT 1::int4", [])

    assert connections.is_lost(error.value)
    connection.close()
    assert connection.prepared_rows("SELECT 1::int4", []) == [(1,)]


def test_a_failure_without_a_code_is_a_server_that_is_gone():
    """libpq's own: after a crash it has read the server's last words, and not yet that there are no more."""
    connection.ensure_connection()
    session = connection.connection
    failure = session.pgconn.make_empty_result(ExecStatus.FATAL_ERROR)

    with pytest.raises(psycopg.OperationalError):
        libpq._check(session, failure)

    assert session.broken
    connection.close()
    assert connection.prepared_rows("SELECT 1::int4", []) == [(1,)]
