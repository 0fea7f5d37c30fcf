"""Text as a person reads it who looks for a secret, with nothing between its characters.

`grep --color` puts color codes into a token, an editor zero-width spaces, Markdown a backslash, an
HTML page entities, a terminal a line end. All of these are dropped here, for searching only. A title
makes one line of a text, so it is searched like that, too.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Match, Pattern, Tuple

from .contract import table

_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u115f\u1160]|[^\x00-\x7f\w]")
DECIMAL, HEX, NAME = 1, (2, 3, 4), 5  # groups of `written`; the last is the character itself


def plain(text: str) -> str:
    """`text` in plain ASCII letters and signs, with escapes decoded.

    Letters and digits of other scripts stay.
    """
    ansi, written = _patterns()
    text = ansi.sub("", text)
    if not text.isascii():
        letters = "".join(
            c for c in text if unicodedata.category(c)[0] != "M"
        )  # or NFKD sorts them
        text = unicodedata.normalize("NFKD", letters)
    return written.sub(_meant, _UNSEEN.sub("", text))


def in_one_line(text: str) -> str:
    """`text` as a title has it: all white space between its words is one space."""
    return " ".join(text.split())


@lru_cache(maxsize=None)
def _patterns() -> Tuple[Pattern[str], Pattern[str]]:
    shared = table("secrets.json")
    return re.compile(shared["ansi"]), re.compile(shared["written"])


def _meant(written: Match[str]) -> str:
    """The one character that an entity or an escape stands for; nothing for what only separates."""
    kind = written.lastindex
    if kind is None:
        return ""
    if kind == DECIMAL:
        return chr(int(written[kind])) if int(written[kind]) < 0x80 else written[0]
    if kind in HEX:
        return chr(int(written[kind], 16))
    if kind == NAME:
        return str(table("secrets.json")["names"].get(written[kind], written[0]))
    return written[kind]
