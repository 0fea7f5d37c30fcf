"""Template filters for messages."""

import re

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

register = template.Library()


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
