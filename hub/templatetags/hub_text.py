"""Template filters for messages."""

import re

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from hub.screen import rendered
from integrations.issue.evidence import LABELS
from integrations.issue.rendering import render_issue
from reports.cleaning import clean

register = template.Library()
register.filter("visible", clean)  # for a stranger's words in one piece, such as a name
_REMOVED = re.compile(r"\[removed: [^\]\n<]{1,60}\]")


@register.filter
def codes(text: str) -> SafeString:
    """`text` with what is between backticks shown as code.

    >>> codes("Set Name to `_hub`.")
    'Set Name to <code>_hub</code>.'
    """
    return _tagged("code", re.split(r"`([^`]+)`", text))


@register.filter
def marked(text: str) -> SafeString:
    """`text` with each note of a removed secret marked.

    >>> marked("It is [removed: AWS key].")
    'It is <mark>[removed: AWS key]</mark>.'
    """
    return _tagged("mark", re.split(r"(\[removed: [^]\n]{1,60}\])", text))


@register.filter
def formatted(text: str) -> SafeString:
    """A reporter's text as it was meant: its code and lists. Nothing in it acts, and nothing is hidden.

    >>> formatted("Run `npm ci`. <!-- @all -->")
    '<p>Run <code>npm ci</code>. &lt;!-- @all --&gt;</p>\\n'
    """
    _, harmless = render_issue("{details}", {"details": text})
    html = rendered.html(harmless).replace(rendered.MARK, "")
    return SafeString(_REMOVED.sub(r"<mark>\g<0></mark>", html))


@register.filter
def evidence_label(kind: str) -> str:
    """What this kind of evidence is called in an issue.

    >>> evidence_label("error_message")
    'Exact error'
    """
    return LABELS.get(kind, kind)


def _tagged(tag: str, parts: list[str]) -> SafeString:
    """The parts joined, every second one of them within the tag."""
    name = mark_safe(tag)  # noqa: S308  (it is ours)
    return format_html_join(
        "",
        "{}",
        (
            (format_html("<{0}>{1}</{0}>", name, part) if odd % 2 else part,)
            for odd, part in enumerate(parts)
        ),
    )
