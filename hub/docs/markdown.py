"""Markdown as HTML and as sections of text: CommonMark with tables, and no HTML of its own."""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from django.utils.html import escape
from markdown_it import MarkdownIt
from markdown_it.token import Token

from hub.docs import code, fences

PARSER = MarkdownIt("commonmark", {"html": False}).enable("table")
NOTE = "Note:"
WIDE = 3  # columns, from which a table does not fit on a phone
LONG = 12  # characters of a name in its first column, above which it does not, either
LIGHT, DARK = "-light.webp", "-dark.webp"
LINK = re.compile(r"\]\(([^()\s]+)\)")

Link = Callable[[str], str]  # the address that a link in the Markdown leads to


@dataclass(frozen=True)
class Section:
    """A heading and the text below it, up to the next heading."""

    level: int
    title: str
    anchor: str
    text: str

    @property
    def parts(self) -> list[str]:
        """Its title in parts, between which a line may end: a path is longer than a column."""
        return re.split("(?<=/)", self.title)


def parse(text: str) -> list[Token]:
    """The tokens of a page; its headings have their ids."""
    tokens = PARSER.parse(text)
    taken: Counter[str] = Counter()
    for opening, inline in itertools.pairwise(tokens):
        if opening.type == "heading_open":
            opening.attrSet("id", _unique(anchor(plain(inline)), taken))
    return tokens


def anchor(title: str) -> str:
    """The anchor of a heading, as GitHub makes it.

    >>> anchor("Don't: `POST /v1/reports`")
    'dont-post-v1reports'
    """
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _unique(name: str, taken: Counter[str]) -> str:
    taken[name] += 1
    return f"{name}-{taken[name] - 1}" if taken[name] > 1 else name


def plain(inline: Token) -> str:
    """The text of an `inline` token, without its markup."""
    parts = {"softbreak": " ", "hardbreak": " "}
    return "".join(parts.get(each.type, each.content) for each in inline.children or ())


def sections(text: str) -> list[Section]:
    """The sections of a page in order; its title is the first."""
    found: list[Section] = []
    for opening, inside in _by_heading(parse(text)):
        title, *rest = (words for token in inside for words in _words(token))
        level, name = int(opening.tag[1]), str(opening.attrGet("id"))
        found.append(Section(level, title, name, "\n".join(rest)))
    return found


def _by_heading(tokens: Sequence[Token]) -> Iterator[tuple[Token, list[Token]]]:
    """Each heading's opening token, and all tokens after it up to the next."""
    places = [place for place, token in enumerate(tokens) if token.type == "heading_open"]
    for start, end in zip(places, [*places[1:], len(tokens)], strict=True):
        yield tokens[start], list(tokens[start + 1 : end])


def _words(token: Token) -> Iterator[str]:
    if token.type == "inline":
        yield plain(token)
    elif token.type in ("fence", "code_block"):
        yield token.content


def html(text: str, *, link: Link) -> str:
    """The page as HTML. `link` makes an address of each link and image."""
    tokens = parse(text)
    for token in tokens:
        for each in token.children or ():
            _lead(each, link)
            _light(each)
    _mark_lead(tokens)
    _mark_cells(tokens)
    _mark_notes(tokens)
    return str(PARSER.renderer.render(list(_shaped(tokens)), PARSER.options, {}))


def _lead(token: Token, link: Link) -> None:
    for name in ("href", "src"):
        if token.attrGet(name) is not None:
            token.attrSet(name, link(str(token.attrGet(name))))


def _light(token: Token) -> None:
    """A picture of a page has a second one, for the dark theme; neither is loaded before it is seen."""
    source = str(token.attrGet("src") or "")
    if token.type == "image" and source.endswith(LIGHT):
        alt, dark = escape(plain(token)), source.removesuffix(LIGHT) + DARK
        pictures = {"by-day": source, "by-night": dark}
        token.type = "html_inline"
        token.content = "".join(
            f'<img class="{css}" src="{escape(each)}" alt="{alt}" loading="lazy">'
            for css, each in pictures.items()
        )


def with_links(text: str, *, link: Link) -> str:
    """The Markdown itself, with other addresses in its links; blocks of code are left alone."""
    lines = text.splitlines(keepends=True)
    inside = {
        line
        for token in PARSER.parse(text)
        if token.type in ("fence", "code_block") and token.map
        for line in range(*token.map)
    }
    return "".join(
        line if number in inside else LINK.sub(lambda match: f"]({link(match[1])})", line)
        for number, line in enumerate(lines)
    )


def _mark_lead(tokens: Sequence[Token]) -> None:
    """The paragraph after the title says what the reader will have at the end."""
    for heading, following in itertools.pairwise(tokens):
        if (heading.type, heading.tag, following.type) == ("heading_close", "h1", "paragraph_open"):
            following.attrSet("class", "lead")


def _mark_cells(tokens: Sequence[Token]) -> None:
    """Each cell of a wide table, or one of long names, says its column: on a phone its cells stand below each other."""
    for table, rows in _tables(tokens):
        labels = [plain(inline) for cell, inline in rows if cell.type == "th_open"]
        names = [code for _, inline in rows[len(labels) :: len(labels)] for code in _codes(inline)]
        if len(labels) >= WIDE or any(len(name) > LONG for name in names):
            table.attrSet("class", "record")
            cells = (cell for cell, _ in rows if cell.type == "td_open")
            for cell, label in zip(cells, itertools.cycle(labels), strict=False):
                cell.attrSet("data-label", label)


def _codes(inline: Token) -> list[str]:
    """The names in a cell, which a phone would break in the middle."""
    return [each.content for each in inline.children or () if each.type == "code_inline"]


def _tables(tokens: Sequence[Token]) -> list[tuple[Token, list[tuple[Token, Token]]]]:
    """Each table's opening token, and its cells with their texts."""
    found: list[tuple[Token, list[tuple[Token, Token]]]] = []
    for token, following in itertools.pairwise(tokens):
        if token.type == "table_open":
            found.append((token, []))
        elif token.type in ("th_open", "td_open"):
            found[-1][1].append((token, following))
    return found


def _mark_notes(tokens: Sequence[Token]) -> None:
    for quote, inline in zip(tokens, tokens[2:], strict=False):
        if quote.type == "blockquote_open" and plain(inline).startswith(NOTE):
            quote.tag, quote.attrs = "div", {"class": "card"}
            closing = next(
                each
                for each in tokens[tokens.index(quote) :]
                if each.type == "blockquote_close" and each.level == quote.level
            )
            closing.tag = "div"


def _shaped(tokens: Sequence[Token]) -> Iterator[Token]:
    """The tokens with blocks of code in their groups, headings as links to themselves, tables in a frame."""
    for number, run in enumerate(fences.runs(tokens)):
        if run[0].type in ("fence", "code_block"):
            yield _raw(code.group([fences.read(token) for token in run], number))
        else:
            yield from _framed(run[0])


def _framed(token: Token) -> Iterator[Token]:
    if token.type == "th_open":
        token.attrSet("scope", "col")
    before, after = {
        "table_open": ('<div class="list">', ""),
        "table_close": ("", "</div>\n"),
    }.get(token.type, ("", ""))
    if token.type == "heading_open" and token.tag != "h1":
        after = f'<a href="#{escape(token.attrGet("id"))}">'
    elif token.type == "heading_close" and token.tag != "h1":
        before = "</a>"
    if before:
        yield _raw(before)
    yield token
    if after:
        yield _raw(after)


def _raw(content: str) -> Token:
    return Token("html_block", "", 0, content=content)
