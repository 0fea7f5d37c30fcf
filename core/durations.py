"""Durations in words."""

from datetime import datetime

UNITS = [("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1)]


def in_words(since: datetime, until: datetime | None) -> str:
    """The time between, such as "2 minutes", in the largest unit that fits; empty if it is not known."""
    if until is None:
        return ""
    seconds = max(1, round((until - since).total_seconds()))
    name, size = next(each for each in UNITS if seconds >= each[1])
    number = seconds // size
    return f"{number} {name}{'' if number == 1 else 's'}"


def in_short(seconds: float | None) -> str:
    """Seconds as people say them, in one unit; empty for None.

    >>> in_short(0.02), in_short(1.24), in_short(41.5), in_short(170), in_short(7300), in_short(260_000)
    ('under 0.1 s', '1.2 s', '42 s', '3 min', '2 h', '3 days')
    """
    if seconds is None:
        return ""
    if seconds < 0.1:
        return "under 0.1 s"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    for size, unit, most in ((1, "s", 120), (60, "min", 7200), (3600, "h", 172_800)):
        if seconds < most:
            return f"{round(seconds / size)} {unit}"
    return f"{round(seconds / 86_400)} days"


def between(since: datetime, until: datetime | None) -> str:
    """The time between as `in_short` says it; empty if it is not known."""
    return in_short((until - since).total_seconds() if until else None)
