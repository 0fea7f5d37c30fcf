"""Rows as CSV (RFC 4180), with nothing hidden, and nothing that a spreadsheet takes for a formula.

Every text is quoted: many spreadsheets begin a new cell at a semicolon or tab, too.
"""

import csv
import re
from collections.abc import Generator, Iterable
from typing import Any

from reports.cleaning import clean

FORMULA = tuple(
    "=+-@\t\r\n＝＋－＠"
)  # a spreadsheet calculates what begins with these; wide forms too
INSIDE = re.compile(
    r"([;,\t\r\n|][ \u00a0\ufeff\"']*)(?=[=+\-@＝＋－＠])"
)  # where a cell may begin, too
RISKY = re.compile(r"[=+\-@\t\r\n＝＋－＠]")  # a text without one of these begins no formula
BOM = "\ufeff"  # tells spreadsheets that the file is UTF-8


class _Line:
    """A file for `csv` that returns what is written to it."""

    def write(self, text: str) -> str:
        """Return the text."""
        return text


def lines(rows: Iterable[Iterable[Any]]) -> Generator[str, None, None]:
    """Each row as a line, one at a time."""
    writer = csv.writer(_Line(), quoting=csv.QUOTE_NONNUMERIC)
    yield BOM
    for row in rows:
        yield writer.writerow([harmless(_seen(each)) for each in row])


def _seen(cell: Any) -> Any:
    return clean(cell) if isinstance(cell, str) else cell


def harmless(cell: Any) -> Any:
    """The cell, with an apostrophe before what would be a formula, also after a separator in it.

    https://owasp.org/www-community/attacks/CSV_Injection
    """
    if not isinstance(cell, str) or not RISKY.search(cell):
        return cell
    inside = INSIDE.sub(r"\1'", cell)
    return f"'{inside}" if cell.lstrip(" \u00a0\ufeff").startswith(FORMULA) else inside
