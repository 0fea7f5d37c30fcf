"""Rows as CSV (RFC 4180) that no spreadsheet takes for formulas."""

import csv
from collections.abc import Generator, Iterable
from typing import Any

FORMULA = tuple("=+-@\t\r\n＝＋－＠")  # what a spreadsheet begins to calculate at, wide forms too
BOM = "\ufeff"  # how a spreadsheet knows that it is UTF-8


class _Line:
    """Where `csv` writes to: it gives back what it was given."""

    def write(self, text: str) -> str:
        return text


def lines(rows: Iterable[Iterable[Any]]) -> Generator[str, None, None]:
    """Each row as a line, one at a time."""
    writer = csv.writer(_Line())
    yield BOM
    for row in rows:
        yield writer.writerow([harmless(each) for each in row])


def harmless(cell: Any) -> Any:
    """The cell, with an apostrophe before what would be a formula.

    https://owasp.org/www-community/attacks/CSV_Injection
    """
    if isinstance(cell, str) and cell.lstrip(" \u00a0\ufeff").startswith(FORMULA):
        return f"'{cell}"
    return cell
