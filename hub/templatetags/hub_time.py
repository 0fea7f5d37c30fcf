"""Template filters for times."""

from datetime import UTC, datetime

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from core import times

register = template.Library()


@register.filter
def ago(at: datetime | None) -> SafeString | str:
    """A time as people say it, with the whole of it where one points; nothing for None.

    `<time datetime="2026-11-22T14:03:00+00:00" title="22 Nov 2026, 14:03 UTC">18 min ago</time>`
    """
    if at is None:
        return ""
    at = at.astimezone(UTC)
    whole = f"{at.day} {at:%b %Y, %H:%M} UTC"
    said = times.in_words(at, timezone.now())
    return format_html('<time datetime="{}" title="{}">{}</time>', at.isoformat(), whole, said)
