"""Reports per week, as a chart and as a table."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from reports.models import Report

WEEKS = 8
HEIGHT, STEP, WIDTH = 120, 48, 32  # of the bars, in units of the drawing


@dataclass(frozen=True)
class Bar:
    """A week, by its Monday, and its bar in the chart."""

    week: date
    reports: int
    x: int
    height: int

    @property
    def y(self) -> int:
        """The top of the bar."""
        return HEIGHT - self.height + 20  # room for the number above

    @property
    def middle(self) -> int:
        """The horizontal center of the bar."""
        return self.x + WIDTH // 2


def bars(reports: QuerySet[Report]) -> list[Bar]:
    """How many reports arrived in each of the last eight weeks, the current one last."""
    today = timezone.now().date()
    monday = today - timedelta(days=today.weekday())
    weeks = [monday - timedelta(weeks=ago) for ago in reversed(range(WEEKS))]
    starts = [datetime.combine(each, time(), UTC) for each in weeks]
    ends = [*starts[1:], starts[-1] + timedelta(weeks=1)]
    within = [
        Q(received_at__gte=start, received_at__lt=end)
        for start, end in zip(starts, ends, strict=True)
    ]
    counts = {f"week_{n}": Count("pk", filter=each) for n, each in enumerate(within)}
    counted = reports.values("received_at").aggregate(**counts)
    return drawn(weeks, dict(zip(weeks, counted.values(), strict=True)))


def drawn(weeks: Iterable[date], counts: dict[date, int]) -> list[Bar]:
    """One bar per week, the highest as high as the chart; every count above 0 is visible."""
    highest = max(counts.values(), default=1)
    return [
        Bar(week, count, x=number * STEP + 8, height=count and max(2, HEIGHT * count // highest))
        for number, week in enumerate(weeks)
        for count in [counts.get(week, 0)]
    ]
