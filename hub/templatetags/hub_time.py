"""Template filters for times."""

from datetime import UTC, datetime, timedelta

from django import template
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


@register.filter
def ago(at: datetime | None) -> SafeString | str:
    """A time as people say it, with the whole of it where one points; nothing for None.

    `<time datetime="2026-11-22T14:03:00+00:00" title="22 Nov 2026, 14:03 UTC">18 min ago</time>`
    """
    if at is None:
        return ""
    at = at.astimezone(UTC)
    whole = f"{date_format(at, 'j M Y, H:i')} UTC"
    said = in_words(at, timezone.now())
    return format_html('<time datetime="{}" title="{}">{}</time>', at.isoformat(), whole, said)


def in_words(at: datetime, now: datetime) -> str:
    """Such as "just now", "18 min ago", "in 3 h", "yesterday", "20 Nov", or "20 Nov 2025"; in UTC."""
    at, now = at.astimezone(UTC), now.astimezone(UTC)
    away = abs(now - at)
    if away < MINUTE:
        return "just now" if at <= now else "in a moment"
    if away < DAY:
        amount = f"{away // MINUTE} min" if away < HOUR else f"{away // HOUR} h"
        return f"{amount} ago" if at <= now else f"in {amount}"
    days = (at.date() - now.date()).days
    if abs(days) == 1:
        return "tomorrow" if days == 1 else "yesterday"
    return date_format(at, "j M" if at.year == now.year else "j M Y")


@register.filter
def took(seconds: float | None) -> str:
    """A duration as people say it.

    >>> took(1.24), took(41.5), took(170), took(7300), took(260_000)
    ('1.2 s', '42 s', '3 min', '2 h', '3 days')
    """
    if seconds is None:
        return ""
    if seconds < 9.95:
        return f"{max(seconds, 0):.1f} s"
    for size, unit, most in ((1, "s", 120), (60, "min", 7200), (3600, "h", 172_800)):
        if seconds < most:
            return f"{round(seconds / size)} {unit}"
    return f"{round(seconds / 86_400)} days"
