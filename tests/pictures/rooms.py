"""The rooms of the code and the arrows between them."""

import ast
from textwrap import wrap

from tests.pictures import svg
from tests.rooms import ROOMS, ROOT, arrows

WIDTH, HEIGHT, GAP_X, GAP_Y, MARGIN = 260, 62, 40, 26, 20  # pixels
LINE = 40  # characters


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
    boxes = [
        svg.box(*at[room], WIDTH, HEIGHT, f"{room}/", wrap(_says(room), LINE)[:2]) for room in ROOMS
    ]
    return svg.picture(width, height, "Rooms of the code", [*lines, *boxes])


def _below(room: str, found: dict[str, set[str]]) -> set[str]:
    return found[room].union(*(_below(target, found) for target in found[room]))


def _arrow(begin: tuple[int, int], end: tuple[int, int]) -> str:
    """Straight down in its column, and from side to side to another."""
    (x1, y1), (x2, y2) = begin, end
    if x1 == x2:
        x = x1 + WIDTH // 2
        return svg.line(f"M{x} {y1 + HEIGHT}V{y2}")
    if x1 < x2:
        x1, y1, x2 = x1 + WIDTH, y1 + HEIGHT * 3 // 4, x2 + WIDTH // 2
        return svg.line(f"M{x1} {y1} C{x2} {y1} {x2} {y1} {x2} {y2}")
    y1, y2, x2 = y1 + HEIGHT // 2, y2 + HEIGHT // 2, x2 + WIDTH
    return svg.line(f"M{x1} {y1} C{x1 - GAP_X} {y1} {x2 + GAP_X} {y2} {x2} {y2}")


def _says(room: str) -> str:
    """The first sentence of its package's docstring."""
    source = (ROOT / room / "__init__.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]
