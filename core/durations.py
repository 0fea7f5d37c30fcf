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
