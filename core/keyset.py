"""Rows before or after a row, by the columns that order them: for pages that go on after the last one.

The columns are compared as one, `(a, b) < (x, y)`, so that both databases begin at that place of an index,
however deep it is.

A key of times is for columns that only Python writes. On SQLite they are compared as text, and the
database's clock writes fewer digits: what has the same time as the key would be skipped. The key of such a
column is its text as it is `stored`.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

from django.db.models import F, QuerySet, TextField
from django.db.models.fields.tuple_lookups import Tuple, TupleGreaterThan, TupleLessThan
from django.db.models.functions import Cast
from django.db.models.lookups import GreaterThan, LessThan

Rows = TypeVar("Rows", bound=QuerySet[Any])


class _Before(TupleLessThan):
    """As Django's, which writes `a < x OR (a = x AND …)` for SQLite; that reads no index."""

    as_sqlite = LessThan.as_sql


class _After(TupleGreaterThan):
    """The same the other way."""

    as_sqlite = GreaterThan.as_sql


def stored(column: str) -> Cast:
    """A time exactly as it is stored; as `Value` it may stand in a key."""
    return Cast(column, TextField())


def before(rows: Rows, columns: Sequence[str], key: Sequence[Any]) -> Rows:
    """The rows whose `columns` are less than `key`."""
    return rows.filter(_Before(Tuple(*map(F, columns)), tuple(key)))


def after(rows: Rows, columns: Sequence[str], key: Sequence[Any]) -> Rows:
    """The rows whose `columns` are greater than `key`."""
    return rows.filter(_After(Tuple(*map(F, columns)), tuple(key)))
