"""Draws the rooms of the code and the arrows between them. Run by script/map."""

import ast
import sys
from html import escape
from textwrap import wrap

from tests.rooms import ROOMS, ROOT, arrows

PICTURE = ROOT / "docs" / "rooms.svg"
WIDTH, HEIGHT, GAP_X, GAP_Y, MARGIN = 260, 62, 40, 26, 20  # pixels
LINE = 40  # characters
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .room { font-weight: 600 }
  .says { font-size: 11px; fill: #59636e }
  rect { fill: #fff; stroke: #8c959f; rx: 6 }
  path { fill: none; stroke: #8c959f; stroke-width: 1.5; marker-end: url(#tip) }
  #tip path { fill: #8c959f; stroke: none; marker-end: none }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .says { fill: #9198a1 } rect { fill: #151b23; stroke: #656c76 }
  }
"""
TIP = (
    '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
    'orient="auto"><path d="M0 0 8 4 0 8z"/></marker>'
)


def direct(found: dict[str, set[str]]) -> dict[str, set[str]]:
    """The arrows that no others imply: from A to C is left out where A leads to B and B to C."""
    return {
        room: {
            target
            for target in targets
            if not any(target in _below(other, found) for other in targets - {target})
        }
        for room, targets in found.items()
    }


def depths(found: dict[str, set[str]]) -> dict[str, int]:
    """How many rooms are below each, along the longest way down."""
    depth: dict[str, int] = {}
    for room in ROOMS:
        depth[room] = 1 + max((depth[target] for target in found[room]), default=-1)
    return depth


def levels(found: dict[str, set[str]]) -> dict[str, int]:
    """How far from the ground each is drawn: right below the lowest room that imports from it."""
    top = max(depths(found).values())
    level: dict[str, int] = {}
    for room in reversed(ROOMS):
        above = (level[other] for other in level if room in found[other])
        level[room] = min(above, default=top + 1) - 1
    return level


def drawn() -> str:
    """The picture as SVG: what is higher imports from what is lower."""
    found = arrows()
    depth, level, shown = depths(found), levels(found), direct(found)
    top = max(level.values())
    at: dict[str, tuple[int, int]] = {}
    for n in range(top + 1):
        row = sorted((room for room in ROOMS if level[room] == n), key=lambda room: -depth[room])
        for x, room in enumerate(row):
            at[room] = MARGIN + x * (WIDTH + GAP_X), MARGIN + (top - n) * (HEIGHT + GAP_Y)
    width = max(x for x, _ in at.values()) + WIDTH + MARGIN
    height = max(y for _, y in at.values()) + HEIGHT + MARGIN
    lines = [_arrow(at[room], at[target]) for room in ROOMS for target in sorted(shown[room])]
    boxes = [_box(room, *at[room]) for room in ROOMS]
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="Rooms of the code">'
    )
    return "\n".join([head, f"<style>{STYLE}</style>", TIP, *lines, *boxes, "</svg>\n"])


def _below(room: str, found: dict[str, set[str]]) -> set[str]:
    return found[room].union(*(_below(target, found) for target in found[room]))


def _arrow(begin: tuple[int, int], end: tuple[int, int]) -> str:
    """Straight down in its column, and from side to side to another."""
    (x1, y1), (x2, y2) = begin, end
    if x1 == x2:
        x = x1 + WIDTH // 2
        return f'<path d="M{x} {y1 + HEIGHT}V{y2}"/>'
    if x1 < x2:
        x1, y1, x2 = x1 + WIDTH, y1 + HEIGHT * 3 // 4, x2 + WIDTH // 2
        return f'<path d="M{x1} {y1} C{x2} {y1} {x2} {y1} {x2} {y2}"/>'
    y1, y2, x2 = y1 + HEIGHT // 2, y2 + HEIGHT // 2, x2 + WIDTH
    return f'<path d="M{x1} {y1} C{x1 - GAP_X} {y1} {x2 + GAP_X} {y2} {x2} {y2}"/>'


def _box(room: str, x: int, y: int) -> str:
    says = [
        f'<text class="says" x="{x + 12}" y="{y + 38 + 14 * n}">{escape(line)}</text>'
        for n, line in enumerate(wrap(_says(room), LINE)[:2])
    ]
    return "\n".join(
        [
            f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}"/>',
            f'<text class="room" x="{x + 12}" y="{y + 20}">{room}/</text>',
            *says,
        ]
    )


def _says(room: str) -> str:
    """The first sentence of its package's docstring."""
    source = (ROOT / room / "__init__.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


if __name__ == "__main__":
    PICTURE.write_text(drawn(), encoding="utf-8")
    sys.stdout.write(f"{PICTURE.relative_to(ROOT)}: {len(ROOMS)} rooms\n")
