"""A reporter's text between two parts of a template, where halves that are harmless alone may meet.

`@{agent_name}`, `GH-{summary}`, `{summary}{details}`, `[{summary}]({details})`: what a template has
around a placeholder is live by the maintainer's wish, and makes nothing of the reporter's live.
"""

import re
import unicodedata
from urllib.parse import quote

from integrations import github_markdown
from integrations.safe_text import ZWSP, neutralize

CONTAINER = r"[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t][ \t>]*+)*+"  # a line's quotes and list items

_CONTAINER = re.compile(CONTAINER)
_NO_QUOTE = re.compile(r"[^\s>]")
_TAG = re.compile(
    r"<(?!!--)[A-Za-z/!?](?:[^<>\"']++|\"[^\"]*+\"|'[^']*+')*+(?:\"[^\"]*+|'[^']*+)?\Z"
)
_NUMBERED = re.compile(r"(?:[@#]|gh-?)\Z", re.IGNORECASE)
_TARGET = ("](", "]:")  # of a link, all of which the text would be
_IN_URL = ("://", "www.", *_TARGET)
_FENCE = ("```", "~~~")  # GitHub renders some languages, such as mermaid
_HARMLESS_BEFORE = frozenset(["", *" \t\n*_(\"'>,.;)|`"])
_HARMLESS_AFTER = frozenset(["", *" \t\n*_)\"'<,.;:!?|`"])


def placed(text: str, before: str, after: str) -> str:
    """A cleaned text, not empty, inert between two parts of a template.

    It keeps to the quote, list item, table cell or code in which it begins. In a URL or a tag it is
    percent-encoded, and a link's target or a host it never becomes.
    """
    paragraph = before.rpartition("\n\n")[2]
    host, target = _is_in_host(paragraph), _is_target(paragraph)
    if _TAG.search(paragraph) or (_is_in_url(paragraph) and not host and not target):
        text = neutralize(quote(text, safe=""))
        text = ZWSP + text if _NUMBERED.search(paragraph[-3:]) else text
    else:
        text = _as_text(text, before.rpartition("\n")[2], after.partition("\n")[0])
    if target:
        return f"{ZWSP} {ZWSP}{text}"  # what follows a target's space would have to be a title
    return f" {ZWSP}{text}" if host else text  # the name of a host goes on across U+200B


def takes_code(before: str, after: str) -> bool:
    """Whether a code block can stand between two parts of a template, alone on its lines."""
    line, paragraph = before.rpartition("\n")[2], before.rpartition("\n\n")[2]
    if after.partition("\n")[0].strip() or not _CONTAINER.fullmatch(line):
        return False
    if _TAG.search(paragraph) or _is_target(paragraph):
        return False
    return github_markdown.takes_code(before, after, prefix=_prefix(line))


def continued(text: str, before: str) -> str:
    """A text of many lines, all of them in the quote or list item of a template's line."""
    prefix = _prefix(before.rpartition("\n")[2])
    first, *others = text.split("\n")
    return "\n".join([first, *(prefix + line if line else prefix.rstrip() for line in others)])


def _as_text(text: str, before: str, after: str) -> str:
    """A text as Markdown, between the two ends of its line in the template."""
    for mark, instead in ("`", "'"), ("|", "¦"):  # code, and the cells of a table
        if mark in before + after:
            text = " ".join(text.split()).replace(mark, instead)
    text = neutralize(text)
    harmless = before[-1:] in _HARMLESS_BEFORE and not before.rstrip(" \t").endswith(_FENCE)
    if not harmless or unicodedata.combining(text[0]):
        text = ZWSP + text
    if after[:1] not in _HARMLESS_AFTER:
        text += ZWSP
    return continued(text, before)


def _is_target(paragraph: str) -> bool:
    return paragraph.rstrip().endswith(_TARGET)


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


def _last_word(paragraph: str) -> str:
    """The word in which a paragraph ends; empty where it ends in white space."""
    return "" if paragraph[-1:].isspace() else "".join(paragraph.rsplit(maxsplit=1)[-1:])


def _prefix(line: str) -> str:
    """What the next line has to begin with, to stay in the quotes and list items of this one."""
    container = _CONTAINER.match(line)
    return _NO_QUOTE.sub(" ", container[0]) if container else ""
