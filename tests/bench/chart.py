"""A plain bar chart of medians, as SVG."""

from collections.abc import Sequence
from typing import NamedTuple

from tests.pictures import svg

WIDTH, LABELS, ROW, TOP, MARGIN, NUMBER = 820, 330, 24, 44, 20, 90  # pixels


class Bar(NamedTuple):
    """A thing and its figure."""

    label: str
    value: float


def drawn(title: str, unit: str, bars: Sequence[Bar]) -> str:
    """One bar below the other, the longest over the whole width."""
    longest = max((bar.value for bar in bars), default=0) or 1
    room = WIDTH - LABELS - MARGIN - NUMBER
    shapes = [svg.text(MARGIN, TOP - 18, f"{title} ({unit})", "name")]
    for n, (label, value) in enumerate(bars):
        y, length = TOP + n * ROW, max(1, round(value / longest * room))
        shapes += [
            svg.text(LABELS - 8, y + 13, label, anchor="end"),
            f'<rect x="{LABELS}" y="{y}" width="{length}" height="{ROW - 8}"/>',
            svg.text(LABELS + length + 8, y + 13, f"{value:.3g}", "says"),
        ]
    return svg.picture(WIDTH, TOP + len(bars) * ROW + MARGIN, title, shapes)
