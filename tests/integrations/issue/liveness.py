"""What would act on GitHub: seen by GitHub's own Markdown parser, and by readers of the raw text.

Stricter than GitHub: what is found need not be live there, but what is live there is found.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from html.parser import HTMLParser

import cmarkgfm
from cmarkgfm.cmark import Options

from integrations.issue.rendering import render_issue
from integrations.issue.safe_text import clean

FOOTER = "\n\n---\n[Receipt](https://docs.example.com/r/1/)"
EXTENSIONS = ["table", "strikethrough", "autolink", "tagfilter", "tasklist"]
NOT_SEARCHED = {"pre", "code", "a"}  # elsewhere GitHub looks for mentions and references
VOID = {"br", "hr", "img", "input", "source"}
HARMLESS = {"p", "br", "hr", "em", "strong", "del", "code", "pre", "blockquote", "a"}
HARMLESS |= {"ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td"}
LINES = {"p", "li", "tr", "pre", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6"}

_FLAGS = re.ASCII | re.IGNORECASE | re.MULTILINE
MENTION = re.compile(r"(?<![a-z0-9_])@[a-z0-9]", _FLAGS)
REFERENCE = re.compile(r"#\d|(?<![a-z0-9_])gh-\d", _FLAGS)
COMMIT = re.compile(r"(?<![a-z0-9_])[0-9a-f]{7,40}(?![a-z0-9_])", _FLAGS)
FORMULA = re.compile(r"(?<!\u200b)\$|\$(?!\u200b)")  # where one may begin or end, and TeX hide text
KEYWORD = r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|duplicate of)"
IN_RAW_TEXT = {
    "raw mention": MENTION,
    "raw reference": REFERENCE,
    "keyword": re.compile(KEYWORD + r":?\s+(?:[\w./-]*#|gh-|https?://\S+/)\d", _FLAGS),
    "command": re.compile(r"^[\s>]*/[a-z]", _FLAGS),
    "marker": re.compile(r"<!--\s*hub:", _FLAGS),
    "unseen": re.compile(
        r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200e\u200f\u2028-\u202e\u2060-\u2069\u3164"
        r"\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff\ud800-\udfff]"
    ),
}
HARMLESS_IN_CODE = {  # no account, team or issue has such a name
    "raw mention": re.compile(r"(?<![a-z0-9_])@[a-z0-9]+_", _FLAGS),
    "raw reference": re.compile(r"#\d+[a-z_]", _FLAGS),
}
_CODE = re.compile(r'<pre data-sourcepos="(\d+):\d+-(\d+):\d+"><code')


class Page(HTMLParser):
    """A body as GitHub's parser has it, before GitHub takes away dangerous HTML.

    `texts`: (text, names of the elements around it); `links`: addresses; `elements`: how many.
    """

    def __init__(self, body: str) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[tuple[str, set[str]]] = []
        self.links: list[str] = []
        self.elements: Counter[str] = Counter()
        self._around: list[str] = []
        self._text = ""
        self._deepest = 0
        self.feed(html(body))
        self.close()
        self._end_text()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._end_text()
        self.elements[tag] += 1
        self.links += [value for name, value in attrs if name in {"href", "src"} and value]
        if tag not in VOID:
            self._around.append(tag)
            deep = sum(each in {"blockquote", "ul", "ol"} for each in self._around)
            self._deepest = max(self._deepest, deep)

    def handle_endtag(self, tag: str) -> None:
        self._end_text()
        if tag in self._around:
            del self._around[len(self._around) - 1 - self._around[::-1].index(tag) :]

    def handle_comment(self, data: str) -> None:
        self._end_text()
        self.elements["comment"] += 1

    def handle_data(self, data: str) -> None:
        self._text += data

    def _end_text(self) -> None:
        if self._text:
            self.texts.append((self._text, set(self._around)))
        self._text = ""

    @property
    def text(self) -> str:
        """All that is to be read."""
        return " ".join(text for text, _ in self.texts)

    def shows(self, word: str) -> bool:
        """Whether the word is to be read, and not as code."""
        return any(not around & {"pre", "code"} for around in self.around(word))

    @property
    def depth(self) -> int:
        """In how many quotes and lists the text that is in most of them stands."""
        return self._deepest

    def around(self, word: str) -> list[set[str]]:
        """The elements around each text that has the word in it."""
        return [around for text, around in self.texts if word in text]


class _Lines(HTMLParser):
    """`most`: how many lines in a row show nothing; marks of lists and frames of tables count as nothing."""

    def __init__(self, body: str) -> None:
        super().__init__(convert_charrefs=True)
        self.most = self._now = 0
        self._begun: list[tuple[str, int]] = []
        self.feed(html(body, breaks=True))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"br", "hr"}:
            self._add(1)
        elif tag not in VOID:
            self._begun.append((tag, self._now))

    def handle_endtag(self, tag: str) -> None:
        while self._begun:
            begun, before = self._begun.pop()
            if begun == tag:
                self._add(int(tag in LINES and before == self._now))
                return

    def handle_data(self, data: str) -> None:
        in_code = any(tag == "pre" for tag, _ in self._begun)
        for number, line in enumerate(data.split("\n")):
            self._add(int(in_code and number > 0))
            if line.replace("\u200b", "").strip():
                self._now = 0
                self._begun = [(tag, -1) for tag, _ in self._begun]

    def _add(self, lines: int) -> None:
        self._now += lines
        self.most = max(self.most, self._now)


def highest_gap(body: str) -> int:
    """How many lines in a row show nothing in an issue."""
    return _Lines(body).most


def html(body: str, *, unsafe: bool = True, positions: bool = False, breaks: bool = False) -> str:
    options = Options.CMARK_OPT_FOOTNOTES | (Options.CMARK_OPT_UNSAFE if unsafe else 0)
    options |= Options.CMARK_OPT_SOURCEPOS if positions else 0
    options |= Options.CMARK_OPT_HARDBREAKS if breaks else 0
    return cmarkgfm.markdown_to_html_with_extensions(body, options=options, extensions=EXTENSIONS)


def live(body: str, *, links: tuple[str, ...] = ()) -> Counter[str]:
    """What acts in a body, and how often. Links that begin with one of `links` do not count."""
    normalized = unicodedata.normalize("NFKC", body)
    found = _in_page(normalized, links)
    del found["commit"]  # GitHub looks for those in the text as it is
    found |= _in_page(body, links)
    return found | _live_in_raw_body(normalized) | _live_in_raw_body(body)


def newly_live(
    template: str, fields: Mapping[str, str], *, links: tuple[str, ...], repository: str = ""
) -> Counter[str]:
    """What is live in a report's issue, in this repository, and not by the template itself.

    For the template, each of `fields` that has a text has a harmless one, of one or two words or
    paragraphs; an address of `links` stays.
    """

    def issue(texts: Mapping[str, str]) -> str:
        return render_issue(template, texts, repository=repository)[1] + FOOTER

    by_itself: Counter[str] = Counter()
    for text in "word", "two words", "two\n\nparagraphs":
        harmless = {
            name: value if value.startswith(links) else text if clean(value).strip() else ""
            for name, value in fields.items()
        }
        by_itself |= live(issue(harmless), links=links)
    return live(issue(fields), links=links) - by_itself


def live_in_raw_text(text: str) -> Counter[str]:
    """What acts where nobody knows of Markdown: in titles, for bots, in replies by mail."""
    return +Counter({name: len(pattern.findall(text)) for name, pattern in IN_RAW_TEXT.items()})


def _live_in_raw_body(body: str) -> Counter[str]:
    """As `live_in_raw_text`, without what is harmless in code."""
    found, code = live_in_raw_text(body), _code(body)
    for name, pattern in HARMLESS_IN_CODE.items():
        found[name] -= len(pattern.findall(code))
    return +found


def _code(body: str) -> str:
    """The lines of a body that are inside of fences, one block after another."""
    lines = body.split("\n")
    blocks = _CODE.findall(html(body, positions=True))
    return "\n".join(line for start, end in blocks for line in lines[int(start) : int(end) - 1])


def _in_page(body: str, links: tuple[str, ...]) -> Counter[str]:
    page = Page(body)
    searched = [text for text, around in page.texts if not NOT_SEARCHED & around]
    outside = [text for text, around in page.texts if "pre" not in around]  # also in code of a line
    found = Counter({tag: n for tag, n in page.elements.items() if tag not in HARMLESS})
    found["raw HTML"] = html(body, unsafe=False).count("<!-- raw HTML omitted -->")
    found["link"] = sum(not link.startswith(links) for link in page.links)
    for name, pattern in ("mention", MENTION), ("reference", REFERENCE), ("commit", COMMIT):
        found[name] = sum(len(pattern.findall(text)) for text in searched)
    found["formula"] = sum(len(FORMULA.findall(text)) for text in outside)
    return +found
