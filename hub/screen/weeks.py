"""Reports per week, as columns: how many arrived, and how many of these are not sent yet."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from core import looks
from reports.models import Report

WEEKS = 8
HEIGHT, LEAST, GAP = 130, 2, 1  # in pixels


@dataclass(frozen=True)
class Column:
    """A week, by its Monday, and its column in the chart, whose upper part is not sent yet."""

    week: date
    reports: int
    unsent: int
    height: int
    upper: int

    @property
    def lower(self) -> int:
        """The height of the rest."""
        return self.height - self.begin

    @property
    def begin(self) -> int:
        """Where the rest begins, below the upper part."""
        return self.upper and min(self.upper + GAP, self.height)


def mondays() -> list[date]:
    """The first days of the last weeks, the current one last."""
    today = timezone.now().date()
    monday = today - timedelta(days=today.weekday())
    return [monday - timedelta(weeks=ago) for ago in reversed(range(WEEKS))]


def counted(reports: QuerySet[Report], starts: Sequence[datetime]) -> list[int]:
    """How many reports arrived from each of these times to the next one, and since the last."""
    latest_first = [*enumerate(starts)][::-1]  # most are recent: the first condition holds
    part = f"CASE {' '.join(f'WHEN received_at >= %s THEN {part}' for part, _ in latest_first)} END"
    written = connection.ops.adapt_datetimefield_value
    sql, values = looks.at(
        reports.values("received_at"), f"{part} AS part, COUNT(*)", then="GROUP BY 1"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, [*(written(start) for _, start in latest_first), *values])
        counts = dict(cursor.fetchall())
    return [counts.get(part, 0) for part in range(len(starts))]


def columns(
    weeks: Sequence[date], counts: Sequence[int], unsent: Iterable[datetime]
) -> list[Column]:
    """One column per week, the highest as high as the chart; every count above 0 is visible.

    `unsent`: when the reports that are not sent yet arrived.
    """
    highest = max([*counts, 1])
    days = [each.astimezone(UTC).date() for each in unsent]
    ends = [*weeks[1:], weeks[-1] + timedelta(weeks=1)]
    found = []
    for week, end, count in zip(weeks, ends, counts, strict=True):
        waiting = min(sum(week <= day < end for day in days), count)
        heights = (each and max(LEAST, HEIGHT * each // highest) for each in (count, waiting))
        found.append(Column(week, count, waiting, *heights))
    return found


def start_of(day: date) -> datetime:
    """Its midnight, in UTC."""
    return datetime.combine(day, time(), UTC)
