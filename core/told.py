"""Whether a value that another host has told, in JSON, is what it should be: it is kept in columns, and shown."""

from typing import Any

LARGEST = 2**63 - 1  # number that fits a column
LONGEST = 255  # characters of the name of an account or repository


def is_id(found: Any) -> bool:
    """Whether it is a number that something can have as its id; `True` is none."""
    return type(found) is int and 0 < found <= LARGEST


def is_name(found: Any) -> bool:
    """Whether it is a name: not too long, and without invisible characters."""
    return isinstance(found, str) and 0 < len(found) <= LONGEST and found.isprintable()
