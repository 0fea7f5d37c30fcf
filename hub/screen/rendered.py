"""An issue's Markdown as people see it on GitHub, with nothing in it that acts.

Where text was made harmless, a mark shows it. Links lead nowhere, and images are words.
"""

import re
from html import unescape
from typing import NamedTuple

from django.utils.html import escape
from django.utils.safestring import SafeString

from integrations.issue import github_markdown
from integrations.issue.safe_text import ZWSP

MARK = SafeString("<mark>·</mark>")
LONGEST = 66_000  # characters; GitHub takes 65,536
TAGS = 20_000  # with more, it is shown as Markdown
DEPTH = 40  # elements deeper than that are left out

_TOKEN = re.compile(
    r"<!--(?:[^-]|-(?!->))*+(?:-->)?|<(/?)([a-z][a-z0-9]*+)([^<>]*+)>|<", re.A | re.I
)
_START = re.compile(r'\sstart="(\d{1,9})"')
_ALT = re.compile(r'\salt="([^"]*+)"')

_INLINE = "b br code del em i kbd s strong sub sup"
_BLOCKS = "blockquote details hr li ol p pre summary table tbody td th thead tr ul"
_SHOWN = {name: name for name in f"{_INLINE} {_BLOCKS}".split()}
_SHOWN |= {f"h{level}": "h4" for level in range(1, 7)} | {"a": "u"}
_EMPTY = {"br", "hr"}
_BEGUN = {"pre": '<pre tabindex="0">', "table": '<div tabindex="0"><table>'}  # these may scroll
_ENDED = {"table": "</table></div>"}
_ROWS = {"table", "thead", "tbody"}
_PARTS = _ROWS | {"tr"}  # of a table; only rows and cells may be in them
_PARENTS = {
    "li": {"ul", "ol"},
    "tr": _ROWS,
    "td": {"tr"},
    "th": {"tr"},
    "thead": {"table"},
    "tbody": {"table"},
    "summary": {"details"},
}


class Issue(NamedTuple):
    """An issue as it is shown, made harmless at `changes` places."""

    title: SafeString
    body: SafeString
    source: SafeString
    changes: int


def issue(title: str, body: str) -> Issue:
    """An issue with this title and Markdown; the page shows it by `hub/_issue.html`."""
    return Issue(text(title), html(body), source(body), changes(title + body))


def html(markdown: str) -> SafeString:
    """The Markdown rendered as GitHub does it, to be put into a block such as `<div class="prose">`.

    Only the elements of `_SHOWN`, without attributes, and each is closed. Takes time linear in the
    length, of which `LONGEST` counts.
    """
    made = github_markdown.html(markdown[:LONGEST], breaks=True)
    if made.count("<") > TAGS:
        return source(markdown)
    shown = _Shown()
    end = 0
    for token in _TOKEN.finditer(made):
        shown.text(made[end : token.start()])
        shown.token(token)
        end = token.end()
    shown.text(made[end:])
    shown.close_down_to(0)
    return SafeString("".join(shown.parts))


def source(markdown: str) -> SafeString:
    """The Markdown itself."""
    return SafeString(f'<pre tabindex="0">{text(markdown[:LONGEST])}</pre>')


def text(words: str) -> SafeString:
    """Plain text, such as a title."""
    return SafeString(_marked(escape(words)))


def changes(words: str) -> int:
    """At how many places text was made harmless."""
    return words.count(ZWSP)


def _marked(escaped: str) -> str:
    return escaped.replace(ZWSP, MARK)


class _Shown:
    """What is shown so far, and which elements of it are open."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._open: list[str] = []

    def text(self, words: str) -> None:
        """Text between two tags, in which nothing begins a tag."""
        self.parts.append(_marked(words))

    def token(self, token: re.Match[str]) -> None:
        """A tag as it may be shown; nothing for a comment."""
        closes, name, rest = token[1], (token[2] or "").lower(), token[3] or ""
        if token[0] == "<":
            self.parts.append("&lt;")
        elif name == "img":
            alt = _ALT.search(rest)
            self.parts.append(
                f'<span class="chip">image {text(unescape(alt[1] if alt else ""))}</span>'
            )
        elif name == "input":
            self.parts.append("☑" if "checked" in rest else "☐")
        elif name in _EMPTY:
            self.parts.append(f"<{name}>")
        elif element := _SHOWN.get(name):
            self._close(element) if closes else self._begin(element, rest)

    def _begin(self, element: str, rest: str) -> None:
        parent = self._open[-1] if self._open else ""
        if len(self._open) == DEPTH or parent not in _PARENTS.get(element, {parent}):
            return
        if parent in _PARTS and element not in _PARENTS:
            return  # browsers move it out of the table, and another table there ends this one
        start = _START.search(rest) if element == "ol" else None
        self.parts.append(_BEGUN.get(element) or f"<{element}{start[0] if start else ''}>")
        self._open.append(element)

    def _close(self, element: str) -> None:
        if element in self._open:
            last = len(self._open) - 1 - self._open[::-1].index(element)
            self.close_down_to(last)

    def close_down_to(self, depth: int) -> None:
        """Close all elements but the outermost so many."""
        while len(self._open) > depth:
            element = self._open.pop()
            self.parts.append(_ENDED.get(element) or f"</{element}>")
