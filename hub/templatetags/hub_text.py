"""Template filters for messages."""

import re

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

register = template.Library()


@register.filter
def codes(text: str) -> SafeString:
    """`text` with what is between backticks shown as code.

    >>> codes("Set Name to `_hub`.")
    'Set Name to <code>_hub</code>.'
    """
    parts = enumerate(re.split(r"`([^`]+)`", text))
    return format_html_join(
        "",
        "{}",
        ((format_html("<code>{}</code>", part) if odd % 2 else part,) for odd, part in parts),
    )


@register.filter
def marked(text: str) -> SafeString:
    """`text` with each note of a removed secret marked.

    >>> marked("It is [removed: AWS key].")
    'It is <mark>[removed: AWS key]</mark>.'
    """
    parts = enumerate(re.split(r"(\[removed: [^]\n]{1,60}\])", text))
    return format_html_join(
        "",
        "{}",
        ((format_html("<mark>{}</mark>", part) if odd % 2 else part,) for odd, part in parts),
    )
