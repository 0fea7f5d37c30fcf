"""Text without color codes, escapes and line breaks, to be searched for secrets.

`grep --color` puts color codes into a token, an editor zero-width spaces, Markdown a backslash, an
HTML page entities, a terminal a line end. All of these are dropped here, for searching only. A title
makes one line of a text, so it is searched like that, too.
"""

import re
import unicodedata

from reports.contract import SECRETS

_WRITTEN = re.compile(SECRETS["written"])
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u115f\u1160]|[^\x00-\x7f\w]")
_WORD = re.compile(r"\S+")
_NAMES: dict[str, str] = SECRETS["names"]
DECIMAL, HEX, NAME, ITSELF = 1, (2, 3, 4), 5, 6  # the groups of _WRITTEN


def plain(text: str) -> str:
    """A cleaned text in plain ASCII letters and signs, with escapes decoded.

    Letters and digits of other scripts stay.
    """
    return _WRITTEN.sub(_meant, _seen(text))


def places(text: str) -> list[tuple[int, int]]:
    """Where in `text` each character of `plain(text)` begins and ends."""
    lengths = {character: len(_seen(character)) for character in set(text)}
    origins = [at for at, character in enumerate(text) for _ in range(lengths[character])]
    found: list[tuple[int, int]] = []
    end = 0
    for match in _WRITTEN.finditer(_seen(text)):
        found += [(at, at + 1) for at in origins[end : match.start()]]
        whole = origins[match.start()], origins[match.end() - 1] + 1
        found += [whole] * len(_meant(match))
        end = match.end()
    return found + [(at, at + 1) for at in origins[end:]]


def in_one_line(text: str) -> str:
    """The text as a title has it: all white space between its words is one space."""
    return " ".join(text.split())


def places_in_one_line(text: str) -> list[tuple[int, int]]:
    """Where in `text` each character of `in_one_line(text)` begins and ends."""
    found: list[tuple[int, int]] = []
    for word in _WORD.finditer(text):
        if found:
            found.append((found[-1][1], word.start()))
        found += [(at, at + 1) for at in range(*word.span())]
    return found


def _seen(text: str) -> str:
    return _UNSEEN.sub("", text if text.isascii() else unicodedata.normalize("NFKD", text))


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
