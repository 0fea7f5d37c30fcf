"""How the database reads what some code asks for."""

from collections.abc import Callable
from typing import Any, NamedTuple

from django.db import connection
from django.test.utils import CaptureQueriesContext

SMALL = ["enable_seqscan", "enable_sort", "enable_bitmapscan"]  # what is quicker for a few rows


class Plan(NamedTuple):
    """A statement, and how it is executed."""

    sql: str
    text: str


def plans_of(call: Callable[[], object]) -> list[Plan]:
    """The plans of all queries that `call` makes."""
    with CaptureQueriesContext(connection) as queries:
        call()
    selects = [each["sql"] for each in queries if each["sql"].startswith("SELECT")]
    return [Plan(sql, plan_of(sql)) for sql in selects]


def plan_of(sql: str) -> str:
    """The plan of a statement, as if the tables were large."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            return _explained(cursor, f"EXPLAIN QUERY PLAN {sql}")
        cursor.execute("".join(f"SET {each} = off;" for each in SMALL))
        try:
            return _explained(cursor, f"EXPLAIN {sql}")
        finally:
            cursor.execute("".join(f"RESET {each};" for each in SMALL))


def _explained(cursor: Any, statement: str) -> str:
    cursor.execute(statement)
    return "\n".join(row[-1] for row in cursor.fetchall())
