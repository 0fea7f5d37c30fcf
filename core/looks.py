"""Looks at the first rows of a query, and at no others."""

from typing import Any

from django.db.models import QuerySet


def at(rows: QuerySet[Any], select: str, *, then: str) -> tuple[str, tuple[Any, ...]]:
    """`select` over the rows of a query with a limit, and what comes `then`: a statement and its values.

    A limit inside a subquery is what no database rearranges: it reads the rows in the order of their index,
    stops after as many, and does not look for another way because of what it believes about a condition.
    """
    sql, values = rows.query.sql_with_params()
    return f"SELECT {select} FROM ({sql}) AS looked_at {then}", values  # noqa: S608  (no values)
