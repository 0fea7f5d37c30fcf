"""Which HTML a template may have: what every parser reads alike. Any other is refused, or made inert.

So whoever looks for mentions need not know how GitHub reads a tag that does not end, or a text in a table
outside of its cells.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from integrations.issue.github_markdown import Reading, html, read
from integrations.issue.safe_text import ZWSP
from integrations.issue.template_limits import PLACEHOLDER, cut, with_line_feeds

FOOTER = "\n\n---\n[Receipt of this report](https://hub.example)"  # as the Hub's own
LONGEST = 100  # characters of a piece that is named

_FLAGS = re.ASCII | re.IGNORECASE
_SPACE = r"[ \t\n]"
_SHOWN = (  # by GitHub, or left out by it without what is in them
    r"(?:details|summary|br|hr|p|div|span|b|i|em|strong|sub|sup|kbd|del|ins|s|img|picture|source|ul|ol|li"
    r"|dl|dt|dd|h[1-6]|blockquote|q|samp|var|abbr|code|pre|a|table|thead|tbody|tr|td|th|tfoot|caption|figure"
    r"|figcaption|center|font|u|small|mark|strike|tt|cite|dfn|time|wbr|bdo|ruby|rt|rp)(?=[\s/>])"
)
_ATTRIBUTES = (
    rf"(?:{_SPACE}++[a-z_][\w:.-]*+"
    rf"(?:{_SPACE}*+=(?:(?=>)|{_SPACE}*+(?:\"[^\"<>]*+\"|'[^'<>]*+'|[^\s\"'=<>`]++)))?+)*+{_SPACE}*+/?+>"
)
_TAG = rf"<(?:/{_SHOWN}{_SPACE}*+>|{_SHOWN}{_ATTRIBUTES})"
_COMMENT = r"<!--(?!-?>)(?:[^-]++|-(?!-!?>))*+-->"
_WHOLE = re.compile(rf"</?(?!{_SHOWN})[a-z][\w-]*+{_ATTRIBUTES}", _FLAGS)
_PIECE = re.compile(r"<[^<>\n]*+>?+")
MARKUP = re.compile(  # of plain HTML; linear in any
    rf"{_TAG}|<!--(?:[^-]++|-(?!-!?>))*+(?:-->)?+", _FLAGS
)
_PLAIN = re.compile(  # with what a reporter wrote between
    rf"(?:[^<]++|<(?=[{ZWSP} \t\n])|{_TAG}|{_COMMENT})*+", _FLAGS
)
_OF_TABLE = r"</?(?:table|t[dhr]|thead|tbody|tfoot|caption)(?=[\s/>])"
_OUT_OF_CELL = r"<(?:table|tr|/t[dhr]|/caption|/?t(?:head|body|foot))(?=[\s/>])"
_TABLES = re.compile(  # a report's list may end where a cell does
    rf"(?:[^<]++|{_COMMENT}|(?!{_OUT_OF_CELL}|<!--)<"
    rf"|{_OUT_OF_CELL}[^<>]*+>(?:{_SPACE}++|{_COMMENT}|</(?:p|li|[uo]l|blockquote)>)*+(?={_OF_TABLE}))*+",
    _FLAGS,
)
_HAS_TABLE = re.compile(_OF_TABLE, _FLAGS)
_FILLED = re.compile(rf"{ZWSP}([a-z_]+){ZWSP}", re.ASCII)

_NOT_SHOWN = "is HTML that GitHub does not show. Leave it out, or write it between backticks."
_NOT_CLOSED = (
    "is HTML that programs read in different ways. Close each tag and comment in its own paragraph, put "
    "values between quotes, without < and >, and write any other < as &lt;."
)
_IN_LINK = (
    'is HTML in the text of a link. Only images may be there: write the link as <a href="…">…</a>.'
)
_NOT_IN_CELL = (
    "is followed by a text that is in no cell of its table. Put it between <td> and </td>."
)


class Odd(NamedTuple):
    """`piece`: the first HTML that is not plain, its first 100 characters. `problem`: what is wrong, and what to do."""

    piece: str
    problem: str


@lru_cache(maxsize=64)
def odd_in_template(template: str) -> Odd | None:
    """As `odd_in`, with and without texts in the placeholders; of a template as it is used."""
    template = cut(with_line_feeds(template))
    for text in "", rf"{ZWSP}\g<1>{ZWSP}":
        if odd := odd_in(PLACEHOLDER.sub(text, template)):
            return odd._replace(piece=_FILLED.sub(r"{\1}", odd.piece)[:LONGEST])
    return None


def odd_in(text: str) -> Odd | None:
    """The first HTML of a text that not every parser reads alike, or that GitHub does not show."""
    if "<" not in text:
        return None
    text += FOOTER  # of which HTML that is left open makes something else
    reading = read(text)
    for written in reading.html:
        if (end := _end_of(_PLAIN, written)) < len(written):
            is_whole = _WHOLE.match(written, end)
            return Odd(_piece(written, end), _NOT_SHOWN if is_whole else _NOT_CLOSED)
    if reading.html_in_link:
        return Odd(_piece(reading.html_in_link, 0), _IN_LINK)
    return _odd_in_tables(reading, text)


def words(odd: Odd) -> str:
    """A sentence about it for whoever wrote the template."""
    return f"`{odd.piece}` {odd.problem}"


def _odd_in_tables(reading: Reading, text: str) -> Odd | None:
    if not any(map(_HAS_TABLE.search, reading.html)):
        return None
    shown = html(text)
    end = _end_of(_TABLES, shown)
    return Odd(_piece(shown, end), _NOT_IN_CELL) if end < len(shown) else None


def _end_of(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.match(text)
    return found.end() if found else 0


def _piece(text: str, start: int) -> str:
    found = _PIECE.match(text, start)
    return found[0][:LONGEST].rstrip() if found else ""
