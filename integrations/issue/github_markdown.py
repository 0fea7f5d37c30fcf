"""What GitHub's own Markdown parser (cmark-gfm) makes of a text. Only this module uses the parser."""

import ctypes
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import unescape
from threading import Lock

from cmarkgfm import _cmark, cmark
from cmarkgfm.cmark import Options

EXTENSIONS = ["table", "strikethrough", "autolink", "tagfilter", "tasklist"]
UNSEEN = "\u2060"  # a word joiner, which no cleaned text has
_RUN = re.compile(r"`+|~+")

_one_at_a_time = Lock()  # which signs an extension has, all threads share in cmark-gfm

# What cmarkgfm has compiled in and gives no name to in Python: its own functions free nothing that they return
# (https://github.com/theacodes/cmarkgfm/issues/53).
_LIBRARY = ctypes.CDLL(_cmark.__file__)
_LIBRARY.cmark_get_default_mem_allocator.restype = ctypes.c_void_p
_MEMORY = _cmark.ffi.cast("cmark_mem *", _LIBRARY.cmark_get_default_mem_allocator())
_free_tree = _cmark.ffi.cast(
    "void (*)(cmark_node *)", ctypes.cast(_LIBRARY.cmark_node_free, ctypes.c_void_p).value
)


def html(text: str, *, breaks: bool = False) -> str:
    """HTML before GitHub removes what is dangerous: to be examined, not shown.

    With `breaks` each line end is one, as in issues.
    """
    options = Options.CMARK_OPT_UNSAFE | Options.CMARK_OPT_FOOTNOTES
    if breaks:
        options |= Options.CMARK_OPT_HARDBREAKS
    with _one_at_a_time:
        shown = _rendered(text, options)
    return shown.decode(errors="replace")  # of `[^` without a note cmark-gfm cuts characters in two


def _rendered(text: str, options: int) -> bytes:
    """What `cmarkgfm.markdown_to_html_with_extensions` returns, and nothing of it is left in memory."""
    cmark.core_extensions_ensure_registered()
    parser = cmark.parser_new(options=options)
    try:
        for name in EXTENSIONS:
            cmark.parser_attach_syntax_extension(parser, cmark.find_syntax_extension(name))
        cmark.parser_feed(parser, text)
        root = cmark.parser_finish(parser)
        shown = _cmark.lib.cmark_render_html(
            root, options, cmark.parser_get_syntax_extensions(parser)
        )
        _free_tree(root)
        try:
            return bytes(_cmark.ffi.string(shown))
        finally:
            _MEMORY.free(shown)
    finally:
        cmark.parser_free(parser)


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
