"""Tables in GitHub's Markdown, whose parser fills each row up to the width of the table's header.

A few thousand characters can make half a million cells. They are counted here, in the text alone,
before the parser sees it. Cells of a row beyond that width are visible only in the raw text.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

CELLS = 2_000  # of all tables of an issue together
COLUMNS = 20  # further ones are out of sight
DELIMITERS = r"^[ \t>]*+(?=[|:\- \t\v\f]*+$)(?=[ \t-]*+[|:\v\f])"  # what a table's second line is

_SPACE = " \t\v\f"
_PIPE_IN_CELL = re.compile(r"(?<!\\)\\\|")
_SECOND_LINE = re.compile(DELIMITERS, re.MULTILINE)
_END = re.compile(  # blank, or a fence; indented by more it could be a row
    r"(?: {0,3}>)*+(?:[ \t]*+| {0,3}(?:`{3,}+[^`]*|~{3}.*))"
)


class Table(NamedTuple):
    """A possible Markdown table.

    `line` is the number of its second line; `widest`, the number of cells in the widest row below.
    """

    line: int
    columns: int
    rows: int
    widest: int

    @property
    def cells(self) -> int:
        """How many cells the parser makes for it."""
        return self.columns * self.rows


def is_in(text: str) -> bool:
    """Whether `text` may contain a Markdown table."""
    return bool(_SECOND_LINE.search(text))


def ends_one(line: str) -> bool:
    """Whether a line ends a table: it is blank, also in a quote, or begins or ends code."""
    return bool(_END.fullmatch(line))


def can_be_shown(text: str) -> bool:
    """Whether a text's tables are small, and all of their cells can be seen."""
    if not is_in(text):
        return True
    lines = text.split("\n")
    hiding = any(table.widest > table.columns or table.columns > COLUMNS for table in found(lines))
    return not hiding and next(too_large(lines), None) is None


def too_large(lines: Sequence[str]) -> Iterator[int]:
    """The numbers of the lines whose tables would exceed the limit for all tables together."""
    left = CELLS
    for table in found(lines):
        if table.cells > left:
            yield table.line
        else:
            left -= table.cells


def found(lines: Sequence[str]) -> Iterator[Table]:
    """All possible tables in `lines`, the last one first, each up to a line that ends it.

    Never fewer cells than the parser makes.
    """
    rows = widest = 0
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number]
        if ends_one(line):
            rows = widest = 0
            continue
        rows += 1
        if _SECOND_LINE.match(line):
            yield Table(number, _columns(line), rows, widest)
        widest = max(widest, _columns(line))


def _columns(row: str) -> int:
    if "|" not in row:
        return 1
    row = _PIPE_IN_CELL.sub("x", row.lstrip(_SPACE + ">").rstrip(_SPACE))
    return 1 + row.removeprefix("|").removesuffix("|").count("|")
