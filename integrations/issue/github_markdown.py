"""What GitHub's own Markdown parser (cmark-gfm) makes of a text. Only this module uses the parser."""

import ctypes
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import unescape
from threading import Lock
from typing import Any, NamedTuple

from cmarkgfm import _cmark, cmark
from cmarkgfm.cmark import Options

EXTENSIONS = ["table", "strikethrough", "autolink", "tagfilter", "tasklist"]
UNSEEN = "\u2060"  # a word joiner, which no cleaned text has
_RUN = re.compile(r"`+|~+")

_one_at_a_time = Lock()  # which signs an extension has, all threads share in cmark-gfm

# What cmarkgfm has compiled in and gives no name to in Python: its own functions free nothing that they return
# (https://github.com/theacodes/cmarkgfm/issues/53). They take so little time that no other thread is let in:
# there are thousands of calls for one text, for which all others wait.
_LIBRARY = ctypes.PyDLL(_cmark.__file__)
_LIBRARY.cmark_get_default_mem_allocator.restype = ctypes.c_void_p
_MEMORY = _cmark.ffi.cast("cmark_mem *", _LIBRARY.cmark_get_default_mem_allocator())
_free_tree = _cmark.ffi.cast(
    "void (*)(cmark_node *)", ctypes.cast(_LIBRARY.cmark_node_free, ctypes.c_void_p).value
)
for _name, _returned in {
    "cmark_iter_new": ctypes.c_void_p,
    "cmark_iter_get_node": ctypes.c_void_p,
    "cmark_node_get_type_string": ctypes.c_char_p,
    "cmark_node_get_literal": ctypes.c_char_p,
    "cmark_node_get_url": ctypes.c_char_p,
}.items():
    getattr(_LIBRARY, _name).restype = _returned
_ENTERS, _DONE = 2, 1  # of cmark_event_type


class Reading(NamedTuple):
    """What GitHub reads a text as: entities and backslashes are resolved.

    `text` is what is searched for mentions and references, without code and the words of links and images: with a line
    feed between two elements, and what is `between` for HTML in a line.
    """

    text: str
    html: list[str]  # as written, each tag of a line and each block by itself
    urls: list[str]
    code_lines: frozenset[int]  # the numbers, from 0, of the lines of code blocks
    html_in_link: str  # the first that is no image, as written


HTML_BETWEEN = "\0"  # which no text has that was parsed
_BREAK = re.compile(r"<(?:[bh]r|su[bp])[\s/>]", re.ASCII | re.IGNORECASE)
_IMAGE = re.compile(r"<img[\s/>]", re.ASCII | re.IGNORECASE)


def html(text: str, *, breaks: bool = False) -> str:
    """HTML before GitHub removes what is dangerous: to be examined, not shown.

    With `breaks` each line end is one, as in issues.
    """
    options = Options.CMARK_OPT_UNSAFE | Options.CMARK_OPT_FOOTNOTES
    if breaks:
        options |= Options.CMARK_OPT_HARDBREAKS
    with _one_at_a_time, _parsed(text, options) as (parser, root):
        shown = _rendered(parser, root, options)
    return shown.decode(errors="replace")  # of `[^` without a note cmark-gfm cuts characters in two


def read(text: str) -> Reading:
    """What GitHub searches in a text, what it does not search, and where it leads."""
    reading = Reading("", [], [], frozenset(), "")
    searched: list[str] = []
    lines: set[int] = set()
    inside = 0  # links and images around
    in_link = ""
    with _one_at_a_time, _parsed(text, Options.CMARK_OPT_FOOTNOTES) as (_, root):
        for enters, node in _events(root):
            kind = (_LIBRARY.cmark_node_get_type_string(node) or b"").decode()
            if kind in ("link", "image"):
                inside += 1 if enters else -1
                if enters:
                    reading.urls.append(_decoded(_LIBRARY.cmark_node_get_url(node)))
            if kind == "code_block":
                lines.update(_lines_of(node))
            if kind in ("html_inline", "html_block"):
                reading.html.append(_decoded(_LIBRARY.cmark_node_get_literal(node)))
                if inside and not in_link and not _IMAGE.match(reading.html[-1]):
                    in_link = reading.html[-1]
            elif kind == "text" and not inside:
                searched.append(_decoded(_LIBRARY.cmark_node_get_literal(node)))
                continue
            searched.append(between(reading.html[-1]) if kind == "html_inline" else "\n")
    return reading._replace(
        text="".join(searched), code_lines=frozenset(lines), html_in_link=in_link
    )


def between(tag: str) -> str:
    """What stands for a tag or comment: `HTML_BETWEEN`, or a line feed where GitHub always separates two texts."""
    return "\n" if _BREAK.match(tag) else HTML_BETWEEN


@contextmanager
def _parsed(text: str, options: int) -> Iterator[tuple[Any, Any]]:
    """The parser and the tree of a text, of which nothing is left in memory."""
    cmark.core_extensions_ensure_registered()
    parser = cmark.parser_new(options=options)
    try:
        for name in EXTENSIONS:
            cmark.parser_attach_syntax_extension(parser, cmark.find_syntax_extension(name))
        cmark.parser_feed(parser, text)
        root = cmark.parser_finish(parser)
        try:
            yield parser, root
        finally:
            _free_tree(root)
    finally:
        cmark.parser_free(parser)


def _rendered(parser: Any, root: Any, options: int) -> bytes:
    """What `cmarkgfm.markdown_to_html_with_extensions` returns."""
    shown = _cmark.lib.cmark_render_html(root, options, cmark.parser_get_syntax_extensions(parser))
    try:
        return bytes(_cmark.ffi.string(shown))
    finally:
        _MEMORY.free(shown)


def _events(root: Any) -> Iterator[tuple[bool, ctypes.c_void_p]]:
    """Each node of a tree as it is entered and left, those without children as they are entered."""
    walk = ctypes.c_void_p(
        _LIBRARY.cmark_iter_new(ctypes.c_void_p(int(_cmark.ffi.cast("uintptr_t", root))))
    )
    try:
        while (event := _LIBRARY.cmark_iter_next(walk)) != _DONE:
            yield event == _ENTERS, ctypes.c_void_p(_LIBRARY.cmark_iter_get_node(walk))
    finally:
        _LIBRARY.cmark_iter_free(walk)


def _lines_of(node: ctypes.c_void_p) -> range:
    first, last = _LIBRARY.cmark_node_get_start_line(node), _LIBRARY.cmark_node_get_end_line(node)
    return range(first - 1, last)


def _decoded(literal: bytes | None) -> str:
    return (literal or b"").decode(errors="replace")


def shows_code(body: str, blocks: Iterable[str]) -> bool:
    """Whether each of the texts is shown as a code block of the body, as often as it is given."""
    return not Counter(blocks) - _shown(body)


def taking_code(pieces: Sequence[str], prefixes: Mapping[int, str]) -> frozenset[int]:
    """The placeholders, by their numbers in `prefixes`, where GitHub would show a code block.

    Place 1 is between the first two pieces. All that can are checked once more together, with words in
    the other places.
    """
    for _ in range(2):
        kept = [_shown(_with_code(pieces, prefixes, word)) for word in ("", "word")]
        prefixes = {n: each for n, each in prefixes.items() if all(f"x{n}" in s for s in kept)}
    return frozenset(prefixes)


def _with_code(pieces: Sequence[str], prefixes: Mapping[int, str], word: str) -> str:
    """The pieces with a numbered code block or a word between each two."""
    text = pieces[0]
    for number, piece in enumerate(pieces[1:], 1):
        prefix = prefixes.get(number)
        block = word if prefix is None else f"```\n{prefix}x{number}\n{prefix}```"
        text += block + piece
    return text


def _shown(body: str) -> Counter[str]:
    return Counter(map(unescape, _code_in(html(body))))


def _code_in(shown: str) -> Iterator[str]:
    """The code blocks of HTML; a template may have begun many that do not end."""
    end = 0
    while (begun := shown.find("<pre><code", end)) >= 0:
        if (end := shown.find("</code></pre>", begun)) < 0:
            return
        start = shown.index(">", begun + len("<pre>")) + 1
        yield shown[start:end].removesuffix("\n")


def what_ends(body: str) -> str:
    """The line that ends a code block or comment that a template leaves open, or nothing."""
    longest = max(map(len, _RUN.findall(body)), default=0)
    for line in ("", "\n" + "`" * longest, "\n" + "~" * longest, "\n-->", "\n</pre>"):
        if f"<p>{UNSEEN}</p>" in html(f"{body}{line}\n\n{UNSEEN}"):
            return line
    return ""
