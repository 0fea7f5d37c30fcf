"""Counts that cost the same however much there is: above `MOST` they say only that there is more."""

from typing import Any

from django.db import connection
from django.db.models import QuerySet

MOST = 1000


def up_to_most(rows: QuerySet[Any]) -> int:
    """How many rows there are; one more than `MOST` if there are more. Give them the order of an index."""
    return rows[: MOST + 1].count()


def each_up_to_most(**rows: QuerySet[Any]) -> dict[str, int]:
    """The same for several queries, in one statement."""
    asked = [each.values("pk")[: MOST + 1].query.sql_with_params() for each in rows.values()]
    counts = ", ".join(f"(SELECT COUNT(*) FROM ({sql}) AS counted)" for sql, _ in asked)  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {counts}", [each for _, values in asked for each in values])
        return dict(zip(rows, cursor.fetchone(), strict=True))


def are_any(rows: QuerySet[Any]) -> bool:
    """Whether there are rows, found by the index of their order: `exists` drops it, and may read them all."""
    return bool(rows.values("pk")[:1])


def in_short(count: int) -> str:
    """Such as 123 or "1,000+"."""
    return f"{MOST:,}+" if count > MOST else f"{count:,}"


def in_words(count: int) -> str:
    """Such as 123 or "more than 1,000"."""
    return f"more than {MOST:,}" if count > MOST else f"{count:,}"


def or_more(count: int, looked_at: int) -> str:
    """Such as 123, or "123 or more" if more than `MOST` were `looked_at`, so that there may be others."""
    return f"{count:,} or more" if looked_at > MOST else f"{count:,}"
