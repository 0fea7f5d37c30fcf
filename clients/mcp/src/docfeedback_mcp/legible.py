"""Makes texts by others readable and safe for people and models."""

import json
import re
from collections.abc import Iterator
from typing import Any

from docfeedback.report import texts
from docfeedback.visible import escaped, looked_at

WIDTH = 100
TEXT_LINE = re.compile(r'( *)("[a-z_]+": )?"(.*)"(,?)')
PART = re.compile(  # an escape, a surrogate pair in one, or a word with the space behind it
    r"\\ud[89ab]..\\ud[c-f]..|\\u....|\\.|[^\\ ]{1,40} ?| "
)


def shown(body: Any) -> str:
    """The JSON of `body` for a person, in lines of at most 100 characters.

    A longer text continues in the quotes of the next line, and so does one with line ends. Joined, the
    parts are the text again: nothing is left out or added.
    """
    lines = json.dumps(body, ensure_ascii=False, indent=2).split("\n")
    return "\n".join(line for long in lines for line in _wrapped(long))


def hides(body: Any) -> bool:
    """Whether it contains invisible characters other than tabs and line ends, or some that hide others."""
    return any(
        not (is_seen or c in "\t\r\n") for _, text in texts(body) for c, is_seen in looked_at(text)
    )


def line(text: str, most: int) -> str:
    """A text from outside as one visible line of at most `most` characters."""
    beginning = text[: 4 * most]  # or a long text keeps the server busy
    plain = "".join(
        " " if c.isspace() else c for c, is_seen in looked_at(beginning) if c.isspace() or is_seen
    )
    words = " ".join(plain.split())
    is_whole = len(words) <= most and len(beginning) == len(text)
    return words if is_whole else f"{words[: most - 1]}…"


def _wrapped(json_line: str) -> Iterator[str]:
    found = TEXT_LINE.fullmatch(json_line)
    if found is None:
        yield json_line
        return
    indent, key, text, comma = found[1], found[2] or "", escaped(found[3]), found[4]
    whole = f'{indent}{key}"{text}"{comma}'
    if len(whole) <= WIDTH and "\\n" not in text:
        yield whole
        return
    if key:
        yield f"{indent}{key.rstrip()}"
        indent += "  "
    *first, last = _pieces(text, WIDTH - len(f'{indent}""{comma}'))
    yield from (f'{indent}"{piece}"' for piece in first)
    yield f'{indent}"{last}"{comma}'


def _pieces(text: str, most: int) -> Iterator[str]:
    """Cut between words and after line ends; line ends that follow each other stay together."""
    piece = ""
    for part in PART.findall(text):
        if len(piece) + len(part) > most or _is_whole(piece, part):
            yield piece
            piece = ""
        piece += part
    yield piece


def _is_whole(piece: str, part: str) -> bool:
    return piece.endswith("\\n") and part != "\\n" and bool(piece.replace("\\n", "").strip())
