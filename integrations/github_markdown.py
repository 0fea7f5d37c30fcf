"""What GitHub's own Markdown parser (cmark-gfm) makes of a text. The one place that asks it."""

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from html import unescape

import cmarkgfm
from cmarkgfm.cmark import Options

EXTENSIONS = ["table", "strikethrough", "autolink", "tagfilter", "tasklist"]
UNSEEN = "\u2060"  # a word joiner: no cleaned text has any
_CODE = re.compile(r"<pre><code[^>]*>(.*?)\n</code></pre>", re.DOTALL)
_PLACEHOLDER = re.compile(r"\{[a-z_]+\}")


def html(text: str) -> str:
    """HTML as it is before GitHub takes away what is dangerous: for questions, not for a page."""
    options = Options.CMARK_OPT_UNSAFE | Options.CMARK_OPT_FOOTNOTES
    return cmarkgfm.markdown_to_html_with_extensions(text, options=options, extensions=EXTENSIONS)


def shows_code(body: str, blocks: Iterable[str]) -> bool:
    """Whether each of the texts is a code block of the body, as often as it is given."""
    shown = Counter(unescape(code) for code in _CODE.findall(html(body)))
    return not Counter(blocks) - shown


@lru_cache(maxsize=256)
def takes_code(before: str, after: str, *, prefix: str) -> bool:
    """Whether a code block is one between two parts of a template, its lines after `prefix`."""
    block = f"```\n{prefix}x\n{prefix}```"
    return all(
        shows_code(_PLACEHOLDER.sub(word, before) + block + _PLACEHOLDER.sub(word, after), ["x"])
        for word in ("", "word")
    )


def what_ends(body: str) -> str:
    """The line that ends a code block or comment that a template leaves open, or nothing."""
    longest = max(map(len, re.findall(r"`+|~+", body)), default=0)
    for line in ("", "\n" + "`" * longest, "\n" + "~" * longest, "\n-->", "\n</pre>"):
        if f"<p>{UNSEEN}</p>" in html(f"{body}{line}\n\n{UNSEEN}"):
            return line
    return ""
