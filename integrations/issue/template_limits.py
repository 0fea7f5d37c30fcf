"""How large a template may be, so that no report makes a huge issue of it in memory.

Counted in the template alone, before any text is rendered; what a report adds is limited when the
template is filled (`rendering`).
"""

import re
from collections import Counter

from integrations.issue import tables
from integrations.issue.placement import CONTAINER

CHARACTERS, PLACEHOLDERS = 20_000, 50
REPEATS = 4  # of a placeholder that may be many lines long
CONTAINER_WIDTH = 32  # characters before a line's text: each line of a long text gets them too
LONG = frozenset({"details", "suggested_fix", "evidence"})  # all others are one line
PLACEHOLDER = re.compile(r"(?<!\{)\{([a-z_]+)\}(?!\})")

_CONTAINER = re.compile(CONTAINER)
_MARK = re.compile(r"[^ \t]")
_LINE_END = re.compile("\r\n?")


def with_line_feeds(template: str) -> str:
    """The template with LF line ends only, as the Hub counts lines."""
    return _LINE_END.sub("\n", template)


def problem(template: str) -> str:
    """What is too large in a template, and what to do; empty if it is used as it is."""
    template = with_line_feeds(template)
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
    for row in tables.too_large(lines):
        return (
            f"The table at line {row + 1} is too large. Keep to {tables.CELLS:,} cells, all tables "
            "of the template together, and put an empty line after each."
        )
    return ""


def cut(template: str) -> str:
    """The template, which has LF line ends, shortened if `problem` finds something.

    Characters after the first 20,000 are dropped, and so is the part of a line's quotes, list items and
    indentation after 32 characters; an ellipsis replaces each placeholder after the 50th, and each long
    one after its fourth; a table that is too large loses the line that makes it one.
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
    too_large = set(tables.too_large(lines))
    lines = [line for number, line in enumerate(lines) if number not in too_large]
    return PLACEHOLDER.sub(kept, "\n".join(lines))


def _width(line: str) -> int:
    """The width of a line's quotes and list items; with indentation only if the line has a placeholder."""
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
