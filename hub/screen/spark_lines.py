"""Lines of a few days beside a figure: a point for each day, the latest at the right."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

WIDTH, HEIGHT, EDGE = 80, 20, 2  # of the drawing; EDGE keeps the line's ends inside
DAY = timedelta(days=1)


class SparkLine(NamedTuple):
    """The points of an SVG's polyline, and its numbers in words."""

    points: str
    words: str


def of(
    days: Sequence[float | None], said: Callable[[float], str] = "{:,.0f}".format
) -> SparkLine | None:
    """A line through the days that have a number, the oldest first; None if that would be a flat 0."""
    highest = max((each for each in days if each), default=0)
    known = [(n, each) for n, each in enumerate(days) if each is not None]
    if not highest or len(known) < 2:
        return None
    step = (WIDTH - 2 * EDGE) / (len(days) - 1)
    height = (HEIGHT - 2 * EDGE) / highest
    points = " ".join(
        f"{EDGE + n * step:.1f},{HEIGHT - EDGE - each * height:.1f}" for n, each in known
    )
    told = ", ".join("–" if each is None else said(each) for each in days)
    return SparkLine(points, f"The last {len(days)} days, one by one: {told}")


def per_day(times: Iterable[datetime], now: datetime, days: int) -> list[int]:
    """How many of these times are in each of the latest days of 24 hours, the oldest first."""
    counts = [0] * days
    for at in times:
        ago = (now - at) // DAY
        if 0 <= ago < days:
            counts[-1 - ago] += 1
    return counts
