"""The rooms of the code and the arrows between them."""

import ast
from textwrap import wrap

from tests.pictures import svg
from tests.rooms import ROOMS, ROOT, arrows

WIDTH, HEIGHT, GAP_X, GAP_Y, MARGIN = 260, 62, 110, 26, 20  # pixels
TRACK = 14  # between two lines beside each other
LINE = 40  # characters

Point = tuple[int, int]
Way = tuple[Point, Point]


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
    """How far from the ground each is drawn: right below the lowest room that imports from it.

    What has no arrow at all stands on the ground.
    """
    top = max(depths(found).values())
    level: dict[str, int] = {}
    for room in reversed(ROOMS):
        above = (level[other] for other in level if room in found[other])
        level[room] = min(above, default=top + 1 if found[room] else 1) - 1
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
    ways = [(at[room], at[target]) for room in ROOMS for target in sorted(shown[room])]
    lines = [*_down(ways), *_right(ways), *_left(ways)]
    boxes = [
        svg.box(*at[room], WIDTH, HEIGHT, f"{room}/", wrap(_says(room), LINE)[:2]) for room in ROOMS
    ]
    return svg.picture(width, height, "Rooms of the code", [*lines, *boxes])


def _below(room: str, found: dict[str, set[str]]) -> set[str]:
    return found[room].union(*(_below(target, found) for target in found[room]))


def _down(ways: list[Way]) -> list[str]:
    """Straight down in one column, where rooms follow each other."""
    return [
        svg.line(f"M{x1 + WIDTH // 2} {y1 + HEIGHT}V{y2}")
        for (x1, y1), (x2, y2) in ways
        if x1 == x2
    ]


def _right(ways: list[Way]) -> list[str]:
    """From the side of a room to the side of another, in the gap right before that."""
    lines = []
    for n, ((x1, y1), (x2, y2)) in enumerate(way for way in ways if way[0][0] < way[1][0]):
        turn = x2 - TRACK * (1 + n % 3)
        lines.append(
            svg.line(f"M{x1 + WIDTH} {y1 + HEIGHT * 3 // 4}H{turn}V{y2 + HEIGHT // 4}H{x2}")
        )
    return lines


def _left(ways: list[Way]) -> list[str]:
    """The same to the left, each in a track of its own."""
    lines = []
    for n, ((x1, y1), (x2, y2)) in enumerate(way for way in ways if way[0][0] > way[1][0]):
        turn = x2 + WIDTH + TRACK * (1 + n)
        lines.append(svg.line(f"M{x1} {y1 + HEIGHT // 2}H{turn}V{y2 + HEIGHT // 2}H{x2 + WIDTH}"))
    return lines


def _says(room: str) -> str:
    """The first sentence of its package's docstring."""
    source = (ROOT / room / "__init__.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]
