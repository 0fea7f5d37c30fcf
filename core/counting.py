"""Counts that cost the same however much there is: above `MOST` they say only that there is more."""

from typing import Any

from django.db.models import QuerySet

MOST = 1000


def up_to_most(rows: QuerySet[Any]) -> int:
    """How many rows there are; one more than `MOST` if there are more. Give them the order of an index."""
    return rows[: MOST + 1].count()


def in_words(count: int) -> str:
    """Such as 123 or "more than 1,000"."""
    return f"more than {MOST:,}" if count > MOST else f"{count:,}"


def or_more(count: int, looked_at: int) -> str:
    """Such as 123, or "123 or more" if more than `MOST` were `looked_at`, so that there may be others."""
    return f"{count:,} or more" if looked_at > MOST else f"{count:,}"
