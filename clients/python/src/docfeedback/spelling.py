"""What somebody meant who misspelled a name."""

from __future__ import annotations

from typing import Iterable

from .contract import message


def meant(name: str, known: Iterable[str]) -> str:
    """` Did you mean …?` if one of the known names is close to this one, else nothing."""
    close = [(distance(name, each), each) for each in known if len(name) <= 2 * len(each)]
    if not close:
        return ""
    letters, nearest = min(close, key=lambda each: each[0])
    return message("did_you_mean", name=nearest) if letters * 3 <= len(nearest) else ""


def distance(one: str, other: str) -> int:
    """How many letters to insert, delete or replace to turn `one` into `other` (Levenshtein)."""
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        above, row = row, [i]
        for j, goal in enumerate(other, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (letter != goal)))
    return row[-1]
