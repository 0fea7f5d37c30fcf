"""Fills tables with as many rows as it takes, in a statement for each."""

from django.db import connection
from django.db.models import Model


def series(count: int, name: str) -> str:
    """Rows with the numbers from 1 to `count` in a column of this name."""
    return (
        f"WITH RECURSIVE series({name}) AS (SELECT CAST(1 AS bigint) "
        f"UNION ALL SELECT {name} + 1 FROM series WHERE {name} < {count}) SELECT {name} FROM series"
    )


def copy(row: Model, rows: str, where: str = "TRUE", **changed: str) -> None:
    """Copy `row` once for each of `rows`, which SQL calls `n`, with these columns changed."""
    names = [field.column for field in row._meta.concrete_fields]
    values = ", ".join(changed.get(name, f"one.{name}") for name in names)
    table = row._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({', '.join(names)}) SELECT {values} FROM ({rows}) AS n, {table} AS one "
            f"WHERE one.id = '{row.pk}' AND {where}"
        )
        if connection.vendor == "postgresql" and row._meta.pk.get_internal_type() == "BigAutoField":
            cursor.execute(
                f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))"
            )
