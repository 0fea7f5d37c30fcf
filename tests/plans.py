"""How a database would answer what some code asks: which index it reads, and whether it sorts."""

from collections.abc import Callable, Iterable
from typing import Any

from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

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
    asked = [each["sql"] for each in queries]
    return [plan_of_sql(each) for each in asked if each.startswith(("SELECT", "(SELECT", "WITH"))]


def plan_of_sql(statement: str) -> Plan:
    """The plan of a statement, as if the tables were large."""
    plan = Plan(_as_if_large(lambda: _explained(statement)))
    plan.sql = statement
    return plan


def whole_tables_in(plans: Iterable[str], *tables: str) -> list[str]:
    """The plans that read one of these tables from its first row on."""
    return [
        plan
        for plan in plans
        for table in tables
        for line in plan.splitlines()
        if f"Seq Scan on {table}" in line or (f"SCAN {table}" in line and "INDEX" not in line)
    ]


def _explained(statement: str) -> str:
    word = "EXPLAIN QUERY PLAN" if connection.vendor == "sqlite" else "EXPLAIN"
    with connection.cursor() as cursor:
        cursor.execute(f"{word} {statement}")
        return "\n".join(str(row[-1]) for row in cursor.fetchall())


def _as_if_large(explain: Callable[[], str]) -> str:
    """Whatever other tests have left in the tables: PostgreSQL counts their pages, even the empty ones."""
    if connection.vendor == "sqlite":
        return explain()
    tables = map(connection.ops.quote_name, connection.introspection.django_table_names())
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(f"TRUNCATE {', '.join(tables)}")
        cursor.execute("".join(f"SET LOCAL enable_{each} = off;" for each in SMALL))
        plan = explain()
        transaction.set_rollback(True)
    return plan
