"""Invisible characters, and those that control a terminal: what is shown must be what is sent."""

from __future__ import annotations

import json
import re
from typing import Any, List

# Controls, white space but the space, invisible and bidirectional marks, half surrogate pairs.
UNSEEN = (
    r"\x00-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f"
    r"\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ud800-\udfff\ufe00-\ufe0f"
    r"\ufeff\uffa0\ufff0-\ufff8"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
LONGEST_QUOTE = 500
_UNSEEN = re.compile(f"[{UNSEEN}]")
_BLANK = re.compile(f"[ {UNSEEN}]*")


def is_blank(text: str) -> bool:
    """Whether the text shows nothing."""
    return bool(_BLANK.fullmatch(text))


def plain(line: str) -> str:
    """A line for a terminal, with a space for each of them."""
    return _UNSEEN.sub(" ", line)


def line(text: str, most: int) -> str:
    """A text from outside as one line of at most `most` characters, with one space between its words."""
    words = " ".join(plain(text).split())
    return words if len(words) <= most else f"{words[: most - 1]}…"


def quoted(text: str) -> str:
    """Others' words for quotes that nothing in them can close."""
    return line(text, LONGEST_QUOTE).replace('"', "'")


def json_line(value: Any) -> str:
    """A value as a line of JSON, with each of them as an escape, so that nothing is lost or hidden."""
    return _escaped(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def json_lines(value: Any) -> List[str]:
    """The same for people, in indented lines."""
    lines = json.dumps(value, ensure_ascii=False, indent=2).split("\n")
    return [_escaped(line) for line in lines]


def _escaped(line: str) -> str:
    return _UNSEEN.sub(lambda found: _escape(found[0]), line)


def _escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))
