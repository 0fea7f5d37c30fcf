"""Reads the tables of the reference, to compare them with the code."""

import re
from pathlib import Path

from tests.rooms import ROOT

REFERENCE = ROOT / "docs/v0/reference"
CODE = re.compile(r"`([^`]+)`")
CELL = re.compile(r"(?<!\\)\|")


def page(name: str) -> Path:
    """The file of a page of the reference."""
    return REFERENCE / f"{name}.md"


def rows(name: str, *header: str) -> list[list[str]]:
    """The cells of all tables of a page that begin with these columns."""
    found = [table[2:] for table in _tables(name) if table[0][: len(header)] == list(header)]
    assert found, f"{name}.md has no table that begins with {header}"
    return [row for table in found for row in table]


def column(name: str, *header: str) -> list[str]:
    """The code in the first column of these tables, such as names; each once."""
    names = [code for row in rows(name, *header) for code in codes(row[0])]
    assert len(names) == len(set(names)), f"{name}.md has a row twice"
    return names


def codes(cell: str) -> list[str]:
    """What a cell has between backticks."""
    return CODE.findall(cell)


def _tables(name: str) -> list[list[list[str]]]:
    """Every table of a page: its rows, the header and the line below it included."""
    text = re.sub(r"(?ms)^```.*?^```", "", page(name).read_text())
    blocks = re.findall(r"(?m)(?:^\|.*\|$\n?)+", text)
    return [[_cells(line) for line in block.splitlines()] for block in blocks]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in CELL.split(line)[1:-1]]
