"""Locks rows that are then read together with what they refer to."""

from typing import Any, TypeVar

from django.db.models import QuerySet

Rows = TypeVar("Rows", bound=QuerySet[Any])


def locked(rows: Rows) -> Rows:
    """The same rows, locked in their order until the transaction ends, and read after that: also `select_related`.

    In one query, PostgreSQL would join a row that it has waited for with what this had referred to before, which gives
    nothing if it refers to something else now.
    """
    mine = rows.select_for_update(of=("self",), no_key=True)
    return rows.filter(pk__in=list(mine.values_list("pk", flat=True)))
