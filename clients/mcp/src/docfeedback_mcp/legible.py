"""Makes texts by others readable and safe for people and models."""

import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from docfeedback.address import FORBIDDEN
from docfeedback.report import texts

BLANK = "\u2800\ufffc\U00013441\U00013442\U00016fe4\U0001d159"  # letters or signs, and yet nothing to see
MOST_MARKS = 8  # on one character, as the Hub: more would stack over the lines around it
LONG_GAP = re.compile(" {5,}")
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


def escaped(text: str) -> str:
    """The same JSON, with invisible characters (or those that hide others) as escapes."""
    without_gaps = LONG_GAP.sub(lambda gap: "\\u0020" * len(gap[0]), text)
    return "".join(
        c if c == "\n" or is_seen else json.dumps(c)[1:-1]
        for c, is_seen in _looked_at(without_gaps)
    )


def hides(body: Any) -> bool:
    """Whether it contains invisible characters other than tabs and line ends, or some that hide others."""
    return any(
        not (is_seen or c in "\t\r\n") for _, text in texts(body) for c, is_seen in _looked_at(text)
    )


def line(text: str, most: int) -> str:
    """A text from outside as one visible line of at most `most` characters."""
    plain = "".join(
        " " if c.isspace() else c for c, is_seen in _looked_at(text) if c.isspace() or is_seen
    )
    words = " ".join(plain.split())
    return words if len(words) <= most else f"{words[: most - 1]}…"


def can_be_seen(character: str) -> bool:
    """Whether the character is visible; of white space, only the space is."""
    if character in " \\":
        return True
    return character.isprintable() and character not in BLANK and not FORBIDDEN.fullmatch(character)


def _looked_at(text: str) -> Iterator[tuple[str, bool]]:
    """Each character, and whether a person sees it and all that is around it."""
    marks = 0
    for character in text:
        marks = marks + 1 if unicodedata.category(character)[0] == "M" else 0
        yield character, marks <= MOST_MARKS and can_be_seen(character)


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
