"""How large a template may be, so that no report makes a large issue of it in memory.

Counted in the template alone, before any text is made; what a report brings is bounded when it is
filled in (`issue_text`).
"""

import re
from collections import Counter
from collections.abc import Iterator

from integrations.seams import CONTAINER, TABLE

CHARACTERS, PLACEHOLDERS = 20_000, 50
REPEATS = 4  # of a placeholder that may be many lines long
CONTAINER_WIDTH = 32  # characters before a line's text: each line of a long text gets them too
CELLS = 2_000  # of tables: GitHub's Markdown fills every row up to the width of the first
LONG = frozenset({"details", "suggested_fix", "evidence"})  # all others are one line
PLACEHOLDER = re.compile(r"(?<!\{)\{([a-z_]+)\}(?!\})")

_CONTAINER = re.compile(CONTAINER)
_MARK = re.compile(r"[^ \t]")


def problem(template: str) -> str:
    """What is too much in a template, and what to do, in words; empty where it is used as it is."""
    if len(template) > CHARACTERS:
        return f"The template has {len(template):,} characters. Shorten it to {CHARACTERS:,}."
    names = PLACEHOLDER.findall(template)
    if len(names) > PLACEHOLDERS:
        return f"The template has {len(names)} placeholders. Keep at most {PLACEHOLDERS}."
    for name, count in Counter(names).items():
        if name in LONG and count > REPEATS:
            return f"{{{name}}} is in the template {count} times. Keep it at most {REPEATS} times."
    lines = template.split("\n")
    for number, line in enumerate(lines, 1):
        if (width := _width(line)) > CONTAINER_WIDTH:
            return (
                f"Line {number} begins with {width:,} characters of quotes, list items and "
                f"indentation. Use at most {CONTAINER_WIDTH}."
            )
    for row in _tables_too_large(lines):
        return (
            f"The table at line {row + 1} is too large. Keep to {CELLS:,} cells, all tables of the "
            "template together, and put an empty line after each."
        )
    return ""


def cut(template: str) -> str:
    """The template, cut by rule where `problem` finds something; the same for all others.

    Characters after the first 20,000 are left out; so is what a line has before its text after 32
    characters; an ellipsis takes the place of each placeholder after the 50th, and of a long one
    after its fourth; a table that is too large loses the line that makes it one.
    """
    seen: Counter[str] = Counter()

    def kept(placeholder: re.Match[str]) -> str:
        name = placeholder[1]
        seen[name] += 1
        too_often = name in LONG and seen[name] > REPEATS
        return "…" if too_often or seen.total() > PLACEHOLDERS else placeholder[0]

    if not problem(template):
        return template
    lines = [_narrowed(line) for line in template[:CHARACTERS].split("\n")]
    too_large = set(_tables_too_large(lines))
    lines = [line for number, line in enumerate(lines) if number not in too_large]
    return PLACEHOLDER.sub(kept, "\n".join(lines))


def _width(line: str) -> int:
    """Of a line's quotes and list items; of its indentation only where a placeholder is in the line."""
    container = _container(line)
    counts = _MARK.search(container) or PLACEHOLDER.search(line)
    return len(container) if counts else 0


def _narrowed(line: str) -> str:
    if _width(line) <= CONTAINER_WIDTH:
        return line
    container = _container(line)
    return container[: CONTAINER_WIDTH - 1].rstrip() + " " + line[len(container) :]


def _container(line: str) -> str:
    found = _CONTAINER.match(line)
    return found[0] if found else ""


def _tables_too_large(lines: list[str]) -> Iterator[int]:
    """The numbers of the lines that would make tables of more cells than all may have together."""
    left, rows = CELLS, 0
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number]
        rows = rows + 1 if line.strip() else 0
        if TABLE.match(line):
            cells = (1 + line.count("|")) * rows
            if cells > left:
                yield number
            else:
                left -= cells
