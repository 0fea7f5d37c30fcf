"""Text without color codes, escapes and line breaks, to be searched for secrets.

`grep --color` puts color codes into a token, an editor zero-width spaces, Markdown a backslash, an
HTML page entities, a terminal a line end. All of these are dropped here, for searching only. A title
makes one line of a text, so it is searched like that, too.
"""

import re
import unicodedata
from typing import NamedTuple

from reports.cleaning import without_marks
from reports.contract import SECRETS

_WRITTEN = re.compile(SECRETS["written"])
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u115f\u1160]|[^\x00-\x7f\w]")
_OTHER = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]|[^\x00-\x7f]")  # which may be seen as more or fewer
_WORD = re.compile(r"\S+")
_NAMES: dict[str, str] = SECRETS["names"]
DECIMAL, HEX, NAME, ITSELF = 1, (2, 3, 4), 5, 6  # the groups of _WRITTEN


def plain(text: str) -> str:
    """A text in plain ASCII letters and signs, with escapes decoded.

    Letters and digits of other scripts stay.
    """
    return _WRITTEN.sub(_meant, _seen(text))


class Places(NamedTuple):
    """From which characters of a text each one of a reading of it comes: from the first to the last."""

    first: list[int]
    last: list[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The part of the text that this part of the reading comes from."""
        return self.first[start], self.last[end - 1] + 1


def places(text: str) -> Places:
    """Where in `text` the characters of `plain(text)` come from."""
    seen = _origins(text)
    found, end = Places([], []), 0
    for match in _WRITTEN.finditer(_seen(text)):
        between, length = seen[end : match.start()], len(_meant(match))
        found.first.extend([*between, *[seen[match.start()]] * length])
        found.last.extend([*between, *[seen[match.end() - 1]] * length])
        end = match.end()
    found.first.extend(seen[end:])
    found.last.extend(seen[end:])
    return found


def _origins(text: str) -> list[int]:
    """Where in `text` each character of `_seen(text)` stands; most are as they were."""
    found: list[int] = []
    end, lengths = 0, {each: len(_seen(each)) for each in {*_OTHER.findall(text)}}
    for match in _OTHER.finditer(text):
        at = match.start()
        found.extend(range(end, at))
        found.extend([at] * lengths[match[0]])
        end = at + 1
    found.extend(range(end, len(text)))
    return found


def in_one_line(text: str) -> str:
    """The text as a title has it: all white space between its words is one space."""
    return " ".join(text.split())


def places_in_one_line(text: str) -> Places:
    """Where in `text` the characters of `in_one_line(text)` come from."""
    found = Places([], [])
    for word in _WORD.finditer(text):
        if found.last:
            found.first.append(found.last[-1] + 1)
            found.last.append(word.start() - 1)
        found.first.extend(range(*word.span()))
        found.last.extend(range(*word.span()))
    return found


def _seen(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFKD", without_marks(text))
    return _UNSEEN.sub("", text)


def _meant(written: re.Match[str]) -> str:
    """The one character that an entity or an escape stands for; nothing for what only separates."""
    kind = written.lastindex
    if kind is None:
        return ""
    if kind == DECIMAL:
        return chr(int(written[kind])) if int(written[kind]) < 0x80 else written[0]
    if kind in HEX:
        return chr(int(written[kind], 16))
    return _NAMES.get(written[kind], written[0]) if kind == NAME else written[kind]
