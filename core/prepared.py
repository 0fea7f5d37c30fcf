"""Statements in SQL for what runs with each report, where building a queryset costs more than it answers.

Each stands in the room that asks, and is compared with a plain queryset by `tests/test_prepared.py`. On
PostgreSQL they are prepared, unless `HUB_PREPARED_STATEMENTS` is false.
"""

import json
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from functools import cache, partial, wraps
from typing import Any, ParamSpec, TypeVar

from django.db import DEFAULT_DB_ALIAS, NotSupportedError, connections, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.expressions import DatabaseDefault
from django.utils.duration import duration_microseconds

from core import clock

M = TypeVar("M", bound=models.Model)
P = ParamSpec("P")
T = TypeVar("T")

NOW = {
    "postgresql": "statement_timestamp()",
    "sqlite": "strftime('%%Y-%%m-%%d %%H:%%M:%%f', 'now')",
}
SUM = "django_format_dtdelta"  # a function that Django adds to SQLite
AS_THEY_ARE = (  # these are given no other values than those that they return
    models.BooleanField,
    models.CharField,
    models.DateTimeField,
    models.IntegerField,
    models.TextField,
)


def again_if_stale(work: Callable[P, T]) -> Callable[P, T]:
    """Does `work` once more if a migration has changed a column that a statement was prepared for.

    In a transaction that was begun before, the error is raised: what else was done there is lost.
    """

    @wraps(work)
    def done(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return work(*args, **kwargs)
        except NotSupportedError:
            database = connections[DEFAULT_DB_ALIAS]
            if database.in_atomic_block:
                raise
            database.connection.close()
            database.close()
            return work(*args, **kwargs)

    return done


class PreparedStatement:
    """A question to the database, and the SQL that asks it.

    Written for PostgreSQL: a list is a parameter of `= ANY(%s)`, a type may follow a parameter
    (`%s::text`), and `{now}` is the database's clock, to which a `timedelta` is added as
    `{now} + %s::interval`; so it is with a column. Times are passed as they are; what is returned is read by `time_of`.
    """

    every: "list[PreparedStatement]" = []

    def __init__(self, question: str, sql: str):
        self.question = question
        self.written = sql
        self.sql = {vendor: self._for(vendor) for vendor in NOW}
        self.every.append(self)

    def _for(self, vendor: str) -> str:
        """The SQL for this database."""
        sql, now = self.written, NOW[vendor]
        if vendor == "sqlite":
            sql = re.sub(r"(\{now\}|\b\w+\.\w+) ([+-]) %s::interval", rf"{SUM}('\2', \1, %s)", sql)
            sql = re.sub(r"::\w+", "", sql)
            sql = sql.replace("= ANY(%s)", "IN (SELECT value FROM json_each(%s))")
            sql = re.sub(
                "FOR (NO KEY UPDATE|UPDATE|SHARE) OF", "-- its one writer is this transaction:", sql
            )
        if clock.ahead:
            seconds = clock.ahead.total_seconds()
            later = {
                "postgresql": f"({now} + interval '{seconds} seconds')",
                "sqlite": f"{SUM}('+', {now}, {int(seconds * 1e6)})",
            }
            now = later[vendor]
        return sql.replace("{now}", now)

    def first(self, *values: Any) -> tuple[Any, ...] | None:
        """The first row; None if there is none."""
        return next(iter(self.rows(*values)), None)

    @again_if_stale
    def rows(self, *values: Any) -> list[tuple[Any, ...]]:
        """All rows, read to their end: until then, SQLite keeps its lock."""
        database = connections[DEFAULT_DB_ALIAS]
        sql = self._for(database.vendor) if clock.ahead else self.sql[database.vendor]
        if database.vendor == "postgresql":
            return database.prepared_rows(sql, values)  # type: ignore[attr-defined]
        bound = [each if type(each) is str else _for_sqlite(each, database) for each in values]
        with database.cursor() as cursor:
            cursor.execute(sql, bound)
            return cursor.fetchall()


def time_of(value: datetime | str) -> datetime:
    """A time that a statement has returned. SQLite does not say that it is in UTC, nor always that it is one."""
    time = datetime.fromisoformat(value) if isinstance(value, str) else value
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def find(model: type[M], column: str, value: Any) -> M | None:
    """The row of the model with this value in a unique column; None if there is none."""
    row = _find(model, column).first(value)
    return None if row is None else model.from_db(DEFAULT_DB_ALIAS, *_read(model, row))


@cache
def _find(model: type[models.Model], column: str) -> PreparedStatement:
    columns = ", ".join(str(field.column) for field in model._meta.concrete_fields)
    return PreparedStatement(
        f"Which row has this {column}?",
        f"SELECT {columns} FROM {model._meta.db_table} WHERE {column} = %s",  # noqa: S608
    )


def _read(model: type[models.Model], row: tuple[Any, ...]) -> tuple[list[str], list[Any]]:
    """The names and values of a row's columns, as Django reads them."""
    database = connections[DEFAULT_DB_ALIAS]
    values = list(row)
    for place, (expression, converters) in _converters(model, database.vendor).items():
        for convert in converters:
            values[place] = convert(values[place], expression, database)
    return [field.attname for field in model._meta.concrete_fields], values


@cache
def _converters(model: type[models.Model], vendor: str) -> dict[int, tuple[Any, list[Any]]]:
    """How this database's values become the model's, by the places of their columns."""
    database = connections[DEFAULT_DB_ALIAS]
    found: dict[int, tuple[Any, list[Any]]] = {}
    for place, field in enumerate(model._meta.concrete_fields):
        column = field.get_col(model._meta.db_table)
        converters = [
            *database.ops.get_db_converters(column),
            *column.get_db_converters(database),
        ]
        if converters:
            found[place] = (column, converters)
    return found


def insert(
    row: models.Model,
    *,
    unique: str = "",
    only_if: str = "",
    on_conflict: str = "DO NOTHING RETURNING 1",
    values: Iterable[Any] = (),
) -> tuple[Any, ...] | None:
    """Insert a new row. If there is one with the same `unique` column, or with the same of any that is
    unique, do what `on_conflict` says instead. Neither, unless `only_if` is true.

    Returns what its RETURNING says; None if nothing was inserted or changed. `values` are the
    parameters of both. Sends no signals, fills in no times of saving (`auto_now`), and a conflict breaks no
    transaction.
    """
    model, given = type(row), row.__dict__
    saved = {
        name: given[name]
        for name in _columns(model)
        if not isinstance(given[name], DatabaseDefault)
    }
    for name, write in _written(model).items():
        if saved.get(name) is not None:
            saved[name] = write(saved[name])
    return _insert(model, tuple(saved), unique, only_if, on_conflict).first(
        *saved.values(), *values
    )


@cache
def _columns(model: type[models.Model]) -> dict[str, models.Field]:
    """By the names of their values; all but a number that the database counts."""
    meta = model._meta
    return {each.attname: each for each in meta.concrete_fields if each is not meta.auto_field}


@cache
def _written(model: type[models.Model]) -> dict[str, Callable[[Any], Any]]:
    """How those values are written that the database does not take as they are."""
    fields = {name: _target_of(field) for name, field in _columns(model).items()}
    return {
        name: partial(_json, encoder=field.encoder)
        if isinstance(field, models.JSONField)
        else partial(field.get_db_prep_save, connection=connections[DEFAULT_DB_ALIAS])
        for name, field in fields.items()
        if not isinstance(field, AS_THEY_ARE)
    }


def _json(value: Any, encoder: type[json.JSONEncoder] | None) -> str:
    is_empty = not value and type(value) in (list, dict)  # as most are
    return str(value) if is_empty else json.dumps(value, cls=encoder)


def _target_of(field: models.Field) -> models.Field:
    """The field itself, or the one that a foreign key holds a value of."""
    return _target_of(field.target_field) if isinstance(field, models.ForeignKey) else field


@cache
def _insert(
    model: type[models.Model], names: tuple[str, ...], unique: str, only_if: str, on_conflict: str
) -> PreparedStatement:
    fields = [_columns(model)[name] for name in names]
    table, columns = model._meta.db_table, ", ".join(str(field.column) for field in fields)
    [key] = [field.column for field in fields if field.name == unique] or [""]
    return PreparedStatement(
        f"Is there no row with this {unique} yet? Then insert this one.",
        f"INSERT INTO {table} ({columns}) {_row(len(fields), only_if)} "
        f"ON CONFLICT {f'({key})' if key else ''} {on_conflict}",
    )


def _row(columns: int, only_if: str) -> str:
    values = ", ".join(["%s"] * columns)
    return f"SELECT {values} WHERE {only_if}" if only_if else f"VALUES ({values})"


def _for_sqlite(value: Any, database: BaseDatabaseWrapper) -> Any:
    """A parameter as Django would pass it on."""
    if isinstance(value, datetime):
        return database.ops.adapt_datetimefield_value(value)
    if isinstance(value, timedelta):
        return duration_microseconds(value)
    if isinstance(value, list):
        return json.dumps(value)
    return value
