"""A plain bar chart of medians, as SVG."""

from collections.abc import Sequence
from typing import NamedTuple

from tests.pictures import svg

LONGEST, LETTER, ROW, TOP, MARGIN, NUMBER = 400, 7, 24, 44, 20, 90  # pixels


class Bar(NamedTuple):
    """A thing and its figure."""

    label: str
    value: float


def drawn(title: str, unit: str, bars: Sequence[Bar]) -> str:
    """One bar below the other, beside their labels."""
    largest = max((bar.value for bar in bars), default=0) or 1
    left = MARGIN + LETTER * max((len(bar.label) for bar in bars), default=0)
    shapes = [svg.text(MARGIN, TOP - 18, f"{title} ({unit})", "name")]
    for n, (label, value) in enumerate(bars):
        y, length = TOP + n * ROW, max(1, round(value / largest * LONGEST))
        shapes += [
            svg.text(left - 8, y + 13, label, anchor="end"),
            f'<rect x="{left}" y="{y}" width="{length}" height="{ROW - 8}"/>',
            svg.text(left + length + 8, y + 13, f"{value:.3g}", "says"),
        ]
    return svg.picture(
        left + LONGEST + NUMBER + MARGIN, TOP + len(bars) * ROW + MARGIN, title, shapes
    )
