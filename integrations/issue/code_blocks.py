"""Code blocks in a reporter's text, kept as code.

GitHub acts on nothing inside a code block, but bots and mail replies read the raw text. So only
what could name an account, a team, an issue or a command is broken there, and other samples can be
copied. The blocks are written again with a fence that nothing inside can close.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from pygments.lexers import get_all_lexers

from integrations.issue import gaps
from integrations.issue.safe_text import FLAGS, KEYWORD, ZWSP, Rules, applied, inert

FURTHER = {  # languages that Pygments does not know
    *("astro", "bicep", "cjs", "cmd", "csv", "dotenv", "env", "jsonc", "jsonl", "mdx", "mjs"),
    *("node", "patch", "plaintext", "prisma", "razor", "svelte", "txt", "vb", "wasm"),
}
RENDERED = {"geojson", "math", "mermaid", "stl", "suggestion", "topojson"}  # and not shown as code

_OPENING = re.compile(r"([ \t]*+)(`{3,}+|~{3,}+)([^`]*+)")
_LANGUAGE = re.compile(r"[A-Za-z0-9+#.-]{1,20}")
_RULES: Rules = [
    (re.compile(pattern, FLAGS), r"\g<0>" + ZWSP)
    for pattern in (  # NFKC may make a letter or a digit of what is not ASCII
        r"(?<![a-z0-9_])@(?![a-z0-9]++_)(?=[a-z0-9]|[^\x00-\x7f])",  # mentions, not @lru_cache
        r"#(?!\d++[a-z_])(?=\d|[^\x00-\x7f])",  # references, not #0366d6
        r"(?<![a-z0-9])gh(?=-\d|-[^\x00-\x7f])",
        KEYWORD + r"(?=[:：]?\s+(?:https?[:：]//|[^\s#]*+#\d))",
        r"^(?:[^\S\n]|>)*/(?=[a-z]|[^\x00-\x7f])",  # bot commands
        r"``(?=`)|~~(?=~)",  # code fences
        r"<(?=[!！]--\s*hub[:：])",  # the Hub's marker
    )
]


class CodeBlock(NamedTuple):
    """A code block, with its fences in `text`; `indent` and `info` are those of its opening fence."""

    indent: str
    info: str
    lines: list[str]
    text: str


def keep_code(text: str, prose: Callable[[str], str] = inert) -> tuple[str, list[str]]:
    """A cleaned Markdown text made inert, and the text of each of its code blocks as it is shown.

    Only closed blocks are kept as code, and of several in a row that show nothing only the first. `prose`
    makes the rest inert.
    """
    written, shown = [], []
    in_gap = False  # an empty block is the last thing that was shown
    for part in _parts(text):
        if isinstance(part, str):
            written.append(prose(part))
            in_gap &= gaps.is_one(part)
            continue
        is_empty = not "".join(part.lines).strip()
        if is_empty and in_gap:
            written.append(prose(part.text))
            continue
        in_gap = is_empty
        code, fence = _inert(part), _fence(part.lines)
        written += [fence + _language(part.info), code, fence]
        shown.append(code)
    return "\n".join(written), shown


def end_code(text: str) -> str:
    """`text` with its last code block closed."""
    *_, last = _parts(text)
    opening = isinstance(last, str) and _OPENING.fullmatch(last.partition("\n")[0])
    return f"{text}\n{opening[2]}" if opening else text


def _parts(text: str) -> Iterator[str | CodeBlock]:
    """Prose and code in turn. As in CommonMark, a fence that is never closed takes all the rest."""
    lines = text.split("\n")
    at = 0  # the first line not yet yielded
    for number, line in enumerate(lines):
        opening = _OPENING.fullmatch(line) if number >= at else None
        if not opening:
            continue
        if at < number:
            yield "\n".join(lines[at:number])
            at = number
        end = _end(lines, number, opening)
        if end is None:
            break
        written = "\n".join(lines[number : end + 1])
        yield CodeBlock(opening[1], opening[3], lines[number + 1 : end], written)
        at = end + 1
    if at < len(lines):
        yield "\n".join(lines[at:])


def _end(lines: list[str], start: int, opening: re.Match[str]) -> int | None:
    """The number of the line that closes a block, if any does."""
    indent, fence = len(opening[1]) + 3, opening[2]  # it may be indented by three more
    for number in range(start + 1, len(lines)):
        line = lines[number].rstrip()
        run = line[:indent].lstrip() + line[indent:]
        if run == fence[0] * max(len(run), len(fence)):
            return number
    return None


def _inert(block: CodeBlock) -> str:
    indent = len(block.indent)
    lines = (line[:indent].lstrip() + line[indent:] for line in block.lines)
    return applied(_RULES, "\n".join(line if line.strip() else "" for line in lines))


def _fence(lines: list[str]) -> str:
    """A fence longer than every run of backticks inside."""
    runs = (len(run) for line in lines for run in re.findall("`+", line))
    return "`" * (1 + max([2, *runs]))


def _language(info: str) -> str:
    """The language in an opening fence, or nothing if it is none that is known: nobody sees this word.

    Nor if GitHub would do more than color the code.
    """
    word = info.split()[0] if info.strip() else ""
    return word if word.lower() in _languages() and applied(_RULES, word) == word else ""


@cache
def _languages() -> frozenset[str]:
    """The names of languages, as those who write Markdown use them."""
    names = {name for _, aliases, *_ in get_all_lexers(plugins=False) for name in aliases}
    return frozenset(filter(_LANGUAGE.fullmatch, (names | FURTHER) - RENDERED))
