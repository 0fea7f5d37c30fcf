"""Blocks of code as HTML: colored, with their output below them, in tabs where they have tabs."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from django.utils.html import escape
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Literal, Name, Number, String, _TokenType
from pygments.util import ClassNotFound

from hub.docs.fences import Example, Fence, examples

CLASSES = {  # of look.css, by what a piece of code is; the first that fits
    Comment: "hc",
    Name.Tag: "",  # the keys of JSON
    Keyword: "hk",
    Name.Builtin: "hk",
    Number: "hs",
    String: "hs",
    Literal: "hs",
}
MOST_TABS = 4  # as many as look.css has panels


def group(fences: Sequence[Fence], number: int) -> str:
    """Adjacent blocks; those with tabs become one group of tabs. `number` tells groups of a page apart."""
    found = []
    for is_tabs, those in groupby(examples(fences), key=lambda each: bool(each.code.tab)):
        blocks = list(those)
        found.append(_tabs(blocks, number) if is_tabs else "".join(map(_example, blocks)))
    return "".join(found)


def _tabs(blocks: list[Example], number: int) -> str:
    """Radio buttons and panels: they work without script."""
    labels, panels = [], []
    for place, (tab, those) in enumerate(groupby(blocks, key=lambda each: each.code.tab), 1):
        checked = " checked" if place == 1 else ""
        labels.append(
            f'<label><input type="radio" name="tab{number}"{checked}>{escape(tab)}</label>'
        )
        inner = "".join(map(_example, those))
        panels.append(f'<div class="p{place}">{inner}</div>')
    if len(panels) > MOST_TABS:
        raise ValueError(f"A group has {len(panels)} tabs; there can be {MOST_TABS}.")
    legend = '<legend class="hidden">Show this for</legend>'
    head = f'<fieldset class="seg">{legend}{"".join(labels)}</fieldset>'
    return f'<div class="stack panels">{head}{"".join(panels)}</div>\n'


def _example(example: Example) -> str:
    code = example.code
    if code.is_output:
        return f'<div class="example">{_output(code)}</div>\n'
    name = f'<p class="hint"><code>{escape(code.file)}</code></p>' if code.file else ""
    block = f'<div class="copyable" data-name="code">{_pre(code)}</div>'
    output = _output(example.output) if example.output else ""
    return f'<div class="example">{name}{block}{output}</div>\n'


def _output(fence: Fence) -> str:
    return _pre(fence, ' class="output"')


def _pre(fence: Fence, attributes: str = "") -> str:
    return f'<pre{attributes} tabindex="0"><code>{colored(fence.code, fence.language)}</code></pre>'


def colored(code: str, language: str) -> str:
    """The code as HTML, with a `span` around what has a color.

    >>> colored("x = 1", "python")
    'x = <span class="hs">1</span>'
    """
    return "".join(
        f'<span class="{css}">{escape(text)}</span>' if css and text.strip() else escape(text)
        for css, text in _pieces(code, language)
    )


def _pieces(code: str, language: str) -> Iterator[tuple[str, str]]:
    """Pairs of a class and a text; neighbors with one class are one."""
    try:
        lexer = get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        lexer = get_lexer_by_name("text", stripnl=False)
    *tokens, (kind, last) = lexer.get_tokens(code.rstrip("\n"))
    tokens.append((kind, last.removesuffix("\n")))  # which every lexer adds
    for css, those in groupby(tokens, key=lambda each: _class(each[0])):
        yield css, "".join(text for _, text in those)


def _class(kind: _TokenType) -> str:
    return next((css for each, css in CLASSES.items() if kind in each), "")
