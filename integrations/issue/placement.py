"""Makes a reported text safe for its placeholder: `@{agent_name}` must not become a mention.

`@{agent_name}`, `GH-{summary}`, `{summary}{details}`, `[{summary}]({details})`: what a template has
around a placeholder is live because the maintainer wants it, but must make no reported text live.
"""

import re
import unicodedata
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import quote

from integrations.issue import tables
from integrations.issue.safe_text import ZWSP

CONTAINER = r"[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t][ \t>]*+)*+"  # a line's quotes and list items

_CONTAINER = re.compile(CONTAINER)
_NO_QUOTE = re.compile(r"[^\s>]")
_TAG = re.compile(
    r"<(?!!--)[A-Za-z/!?](?:[^<>\"']++|\"[^\"]*+\"|'[^']*+')*+(?:\"[^\"]*+|'[^']*+)?\Z"
)
_NUMBERED = re.compile(r"(?:[@#]|gh-?)\Z", re.ASCII | re.IGNORECASE)
_TARGET = ("](", "]:")  # of a link, all of which the text would be
_IN_URL = ("://", "www.", *_TARGET)
_CLOSED_BY = {"<": ">", '"': '"', "'": "'"}
_GLUED = re.compile(
    r"[^\s<]*\{[a-z_]+\}", re.ASCII
)  # only these end a URL in prose, no other space
_FENCE = ("```", "~~~")  # GitHub renders some languages, such as mermaid
_HARMLESS_BEFORE = frozenset(["", *" \t\n*_(\"'>,.;)|`"])
_HARMLESS_AFTER = frozenset(["", *" \t\n*_)\"'<,.;:!?|`"])
_CELL = {"`": "'", "|": "¦"}  # what would end code, or a cell of a table, and what stands for it


class Surroundings(NamedTuple):
    """What surrounds a placeholder in its template.

    `prefix` is what every further line of a text must begin with to stay in the quotes and list items of
    the first line. `ends` are the marks that would end what the text is in: if there are any, or in a
    table, the text becomes one line.
    """

    prefix: str
    ends: str
    is_alone: bool  # in its line, so that a code block fits there
    is_paragraph: bool  # so that nothing of the template becomes part of a table
    in_table: bool
    in_address: bool  # or in a tag: the text is percent-encoded
    in_host: bool
    in_target: bool
    is_numbered: bool
    breaks_before: bool
    breaks_after: bool
    goes_on: bool  # a URL here, in what fills a placeholder behind it

    def placed(self, text: str, inert: Callable[[str], str]) -> str:
        """The text, safe at this place: escaped for URLs and cells, indented for lists and quotes.

        It stays in the quote, list item, table cell or code in which it begins. In a URL or a tag it is
        percent-encoded, and it never becomes a link's target or a host.
        """
        if self.in_address:
            text = inert(quote(text, safe=""))
            text = ZWSP + text if self.is_numbered else text
        else:
            text = self._as_text(text, inert)
        if self.in_target:
            return f"{ZWSP} {ZWSP}{text}"  # what follows a target's space would have to be a title
        return f" {ZWSP}{text}" if self.in_host else text  # a host's name goes on across U+200B

    def continued(self, text: str) -> str:
        """A text of several lines, all of them in the quote or list item of the template's line."""
        first, *others = text.split("\n")
        blank = self.prefix.rstrip()
        return "\n".join([first, *(self.prefix + line if line else blank for line in others)])

    def _as_text(self, text: str, inert: Callable[[str], str]) -> str:
        if self.ends or self.in_table:
            text = " ".join(text.split())
        for mark in self.ends:
            text = text.replace(mark, _CELL[mark])
        text = inert(text)
        if self.breaks_before or unicodedata.combining(text[0]):
            text = ZWSP + text
        return self.continued(text + ZWSP if self.breaks_after else text)


def place(before: str, after: str) -> Surroundings:
    """What surrounds a placeholder, from the text of the template before and after it."""
    paragraph, line = before.rpartition("\n\n")[2], before.rpartition("\n")[2]
    rest = after.partition("\n")[0]
    host, target = _is_in_host(paragraph), paragraph.rstrip().endswith(_TARGET)
    tag, table = bool(_TAG.search(paragraph)), tables.is_in(paragraph)
    container = _CONTAINER.match(line)
    fence = line.rstrip(" \t").endswith(_FENCE)
    alone = not (rest.strip() or tag or target or table) and bool(_CONTAINER.fullmatch(line))
    return Surroundings(
        prefix=_NO_QUOTE.sub(" ", container[0]) if container else "",
        ends="".join(mark for mark in _CELL if mark in line or mark in rest),
        is_alone=alone,
        is_paragraph=alone and all(map(tables.ends_one, _around(before, after))),
        in_table=table,
        in_address=tag or (_is_in_url(paragraph) and not host and not target),
        in_host=host,
        in_target=target,
        is_numbered=bool(_NUMBERED.search(paragraph[-3:])),
        breaks_before=line[-1:] not in _HARMLESS_BEFORE or fence,
        breaks_after=rest[:1] not in _HARMLESS_AFTER,
        goes_on=_goes_on(before, after, tag=tag),
    )


def _around(before: str, after: str) -> tuple[str, str]:
    """The lines above and below the one that the placeholder is in."""
    above, below = before.rpartition("\n")[0], after.partition("\n")[2]
    return above.rpartition("\n")[2], below.partition("\n")[0]


def _is_in_url(paragraph: str) -> bool:
    """Whether a paragraph ends in a URL, or in the target of a link."""
    word = _last_word(paragraph)
    begun = any(mark in word.lower() for mark in _IN_URL)
    return begun or paragraph.removesuffix(word).rstrip().endswith("]:")


def _is_in_host(paragraph: str) -> bool:
    """Whether a paragraph ends in the name of a URL's host."""
    word = _last_word(paragraph)
    name = word[1 + max(map(word.rfind, "/?#")) :]
    return "www." in name.lower() or word.removesuffix(name).endswith("//")


def _goes_on(before: str, after: str, *, tag: bool) -> bool:
    """Whether a URL at this place would go on in a reported text: by `/../` it leads elsewhere."""
    opened = before[-1:]
    if opened == "<" or (tag and opened in _CLOSED_BY):
        return not after.startswith(_CLOSED_BY[opened])
    if before.endswith("](") and after.startswith(")"):
        return False
    return bool(_GLUED.match(after))


def _last_word(paragraph: str) -> str:
    """The last word of a paragraph; empty if it ends in white space."""
    return "" if paragraph[-1:].isspace() else "".join(paragraph.rsplit(maxsplit=1)[-1:])
