"""Where parsers of HTML put a text that stands in a table, but in no cell of it: before the table."""

import re
from collections.abc import Iterator

_TAG = re.compile(
    r"(</?(?:table|t[dhr]|tbody|thead|tfoot|caption)(?=[\s/>])[^<>]*+>)", re.ASCII | re.IGNORECASE
)
_NAME = re.compile(r"</?[a-z]++", re.ASCII | re.IGNORECASE)
_CELLS = ("<td", "<th", "<caption")


def has_any(html: str) -> bool:
    """Whether it has any tag of a table."""
    return bool(_TAG.search(html))


def texts(html: str, between: str) -> Iterator[str]:
    """HTML in the order in which it is shown: each cell by itself, and all else with `between` for each tag of a table.

    https://html.spec.whatwg.org/multipage/parsing.html#foster-parent
    """
    shown: list[list[str]] = [[]]  # what is outside of tables, and each cell that has begun
    in_cell: list[bool] = []  # for each table that has begun
    for number, part in enumerate(_TAG.split(html)):
        if number % 2 == 0:
            shown[-1].append(part if not in_cell or in_cell[-1] else part.strip())
            continue
        name = _NAME.match(part)
        tag = name[0].lower() if name else ""
        if in_cell and in_cell[-1] and tag != "<table":
            yield between.join(shown.pop())
            in_cell[-1] = False
        if tag == "<table" and (not in_cell or in_cell[-1]):
            in_cell.append(False)
        elif tag == "</table" and in_cell:
            in_cell.pop()
        elif tag in _CELLS and in_cell:
            in_cell[-1] = True
            shown.append([])
    yield from map(between.join, shown)
