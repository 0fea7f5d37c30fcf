"""Invisible characters, and those that control a terminal: what is shown must be what is sent."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any, Iterator, List, Match, Tuple

from .contract import table

LONGEST_QUOTE = 500
_TABLE = table("visible.json")
_ODD = re.compile(r"[^\n\x20-\x7e]+")
_LONG_GAP = re.compile(f" {{{_TABLE['longest_gap'] + 1},}}")


def _class(ranges: List[str]) -> str:
    """For a pattern, between its brackets."""
    return "".join("-".join(chr(int(end, 16)) for end in each.split("-")) for each in ranges)


BLANK = frozenset(
    chr(int(each, 16)) for each in _TABLE["blank"]
)  # letters or signs, with nothing to see
INVISIBLE = _class(_TABLE["unseen"]) + "".join(sorted(BLANK))
_UNSEEN = re.compile(f"[{INVISIBLE}]")
_WIDE = re.compile(f"[{_class(_TABLE['wide'])}]")
_JOINED = re.compile(f"[{_class(_TABLE['joined'])}]")
_BLANK = re.compile(f"[ {INVISIBLE}]*")


def is_blank(text: str) -> bool:
    """Whether the text shows nothing."""
    return bool(_BLANK.fullmatch(text))


def can_be_seen(character: str) -> bool:
    """Whether the character is visible; of white space, only the space is."""
    return character.isprintable() and not _UNSEEN.fullmatch(character)


def looked_at(text: str) -> Iterator[Tuple[str, bool]]:
    """Each character, and whether a person sees it and all that is around it."""
    marks = 0
    for character in text:
        marks = marks + 1 if unicodedata.category(character)[0] == "M" else 0
        yield character, marks <= _TABLE["most_marks"] and can_be_seen(character)


def escaped(text: str) -> str:
    """The same JSON, with invisible characters (or those that hide others) as escapes.

    So are long gaps, since spaces can push what follows out of sight.
    """
    return _ODD.sub(_with_escapes, _LONG_GAP.sub(lambda gap: "\\u0020" * len(gap[0]), text))


def plain(line: str) -> str:
    """A line for a terminal, with a space for each invisible character."""
    return _UNSEEN.sub(" ", line)


def line(text: str, most: int) -> str:
    """A text from outside as one line of at most `most` characters, with one space between its words."""
    beginning = text[: 4 * most]  # or a long text takes long
    words = " ".join(plain(beginning).split())
    is_whole = len(words) <= most and len(beginning) == len(text)
    return words if is_whole else f"{words[: most - 1]}…"


def quoted(text: str) -> str:
    """Others' words for quotes that nothing in them can close."""
    return line(text, LONGEST_QUOTE).replace('"', "'")


def width(text: str) -> int:
    """In columns of a terminal, of what can be seen."""
    return sum(_columns(text))


def cut(text: str, most: int) -> str:
    """The text in at most `most` columns of a terminal; what does not fit is cut off."""
    end, used = 0, 0
    for place, columns in enumerate(_columns(text)):
        used += columns
        if used < most:
            end = place + 1
        if used > most:
            return f"{text[:end]}…"
    return text


def _columns(text: str) -> Iterator[int]:
    """Of each character: marks stand on the one before; too many count like letters."""
    marks = 0
    for c in text:
        is_mark = unicodedata.category(c) in ("Mn", "Me") or _JOINED.match(c)
        marks = marks + 1 if is_mark else 0
        yield 0 if 0 < marks <= _TABLE["most_marks"] else 2 if _WIDE.match(c) else 1


def json_line(value: Any) -> str:
    """A value as a line of JSON, with each of them as an escape, so that nothing is lost or hidden."""
    return escaped(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def json_lines(value: Any) -> List[str]:
    """The same for people, in indented lines."""
    lines = json.dumps(value, ensure_ascii=False, indent=2).split("\n")
    return [_escaped_behind_indent(line) for line in lines]


def _escaped_behind_indent(line: str) -> str:
    words = line.lstrip(" ")
    return " " * (len(line) - len(words)) + escaped(words)


def _with_escapes(odd: Match[str]) -> str:
    return "".join(c if is_seen else _escape(c) for c, is_seen in looked_at(odd[0]))


def _escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))
