"""Times as people say them, in UTC."""

from datetime import UTC, datetime, timedelta

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def in_words(at: datetime, now: datetime) -> str:
    """Such as "just now", "18 min ago", "in 4 days", "yesterday", "20 Nov", or "20 Nov 2025"; in UTC."""
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
    if 0 < days < 7:
        return f"in {days} days"
    return f"{at.day} {at:%b}" if at.year == now.year else f"{at.day} {at:%b %Y}"
