"""How a database would answer what some code asks: which index it reads, and whether it sorts."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

Found = TypeVar("Found")
SMALL = ["seqscan", "sort", "bitmapscan", "hashjoin", "mergejoin"]  # what is quicker for a few rows


class Plan(str):
    """A plan, with the statement that it is of."""

    sql = ""


def plan_of(query: Any) -> str:
    """The plan of a queryset, as if the table were large."""
    return _as_if_large(query.explain)


def plans_of(work: Callable[[], Any]) -> list[Plan]:
    """The plans of all that `work` reads."""
    with CaptureQueriesContext(connection) as queries:
        work()
    asked = [each["sql"].lstrip() for each in queries]
    read = [each for each in asked if each.startswith(("SELECT", "(SELECT", "WITH"))]
    return _as_if_large(lambda: [_explained(each) for each in read])


def plan_of_sql(statement: str) -> Plan:
    """The plan of a statement, as if the tables were large."""
    return _as_if_large(lambda: _explained(statement))


def whole_tables_in(plans: Iterable[str], *tables: str) -> list[str]:
    """The plans that read one of these tables from its first row on."""
    return [
        plan
        for plan in plans
        for table in tables
        for line in plan.splitlines()
        if f"Seq Scan on {table}" in line or (f"SCAN {table}" in line and "INDEX" not in line)
    ]


def _explained(statement: str) -> Plan:
    word = "EXPLAIN QUERY PLAN" if connection.vendor == "sqlite" else "EXPLAIN"
    with connection.cursor() as cursor:
        cursor.execute(f"{word} {statement}")
        plan = Plan("\n".join(str(row[-1]) for row in cursor.fetchall()))
    plan.sql = statement
    return plan


def _as_if_large(explain: Callable[[], Found]) -> Found:
    """Whatever other tests have left in the tables: PostgreSQL counts their pages, even the empty ones."""
    if connection.vendor == "sqlite":
        return explain()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        if tables := _with_pages():
            cursor.execute(f"TRUNCATE {', '.join(tables)} CASCADE")
        cursor.execute("".join(f"SET LOCAL enable_{each} = off;" for each in SMALL))
        found = explain()
        transaction.set_rollback(True)
    return found


def _with_pages() -> list[str]:
    """The only ones that have to be emptied: each one and its indexes become new files."""
    ours = connection.introspection.django_table_names()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname = ANY(%s) "
            "AND relnamespace = current_schema()::regnamespace AND pg_relation_size(oid) > 0",
            [ours],
        )
        return [connection.ops.quote_name(name) for (name,) in cursor.fetchall()]
