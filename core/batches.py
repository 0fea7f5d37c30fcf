"""Changes many rows in small batches, so that other requests can write in between."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet

from core import connections

T = TypeVar("T")

AT_ONCE = 5000  # rows that one request changes, so that it takes a second at most
BATCH = 500  # rows that one statement changes
PATIENCE = 5  # seconds, to find which


class Changed(NamedTuple):
    """How many rows were changed, and how many were left, since they are not as a page has shown them."""

    done: int
    left: int


def oldest(rows: "QuerySet[Any]", most: int) -> list[Any]:
    """The lowest primary keys, at most so many. Raises `connections.TooLong`."""
    with connections.patience(PATIENCE):
        return list(rows.order_by("pk").values_list("pk", flat=True)[:most])


def oldest_without(rows: "QuerySet[Any]", most: int, *, left_out: Q) -> tuple[list[Any], int]:
    """Of the same, those that are not `left_out`, and how many are: both from one look. Raises `TooLong`."""
    is_left_out = ExpressionWrapper(left_out, output_field=BooleanField())
    with connections.patience(PATIENCE):
        marked = rows.annotate(is_left_out=is_left_out).order_by("pk")
        found = list(marked.values_list("pk", "is_left_out")[:most])
    taken = [pk for pk, is_left_out in found if not is_left_out]
    return taken, len(found) - len(taken)


def of(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """The same items, `BATCH` at a time."""
    for first in range(0, len(items), BATCH):
        yield items[first : first + BATCH]


def at_leisure(go_on: Callable[[], bool], work: Iterator[int]) -> Iterator[int]:
    """Yields what `work` yields, until `go_on` returns False.

    Rests after each batch as long as it took, so that reports can be stored in between.
    """
    while go_on():
        begun = time.monotonic()
        rows = next(work, None)
        if rows is None:
            return
        took = time.monotonic() - begun
        yield rows
        time.sleep(took)
