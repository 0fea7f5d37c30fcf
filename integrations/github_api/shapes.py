"""Reads values of GitHub's JSON. Each raises `TypeError` if it is something else, for `answers.making_sense`."""

from typing import Any, cast

from core import told

LONGEST_URL = 500  # characters


def number(found: Any) -> int:
    """An id, or the number of an issue."""
    if not told.is_id(found):
        raise TypeError("no id")
    return cast(int, found)


def name(found: Any) -> str:
    """The name of an account or repository, or a word such as `open`."""
    if not told.is_name(found):
        raise TypeError("no name")
    return cast(str, found)


def flag(found: Any) -> bool:
    """Whether something is so. What is neither is believed neither way: null would make a repository public."""
    if not isinstance(found, bool):
        raise TypeError("neither true nor false")
    return found


def text(found: Any) -> str:
    """A text that may be missing; half of a surrogate pair, which no encoding takes, becomes a question mark."""
    if not isinstance(found, str | None):
        raise TypeError("no text")
    return (found or "").encode(errors="replace").decode()


def page(found: Any) -> str:
    """The URL of a page that people open; empty for anything else, since there is another way to know it."""
    is_page = isinstance(found, str) and found.startswith(("https://", "http://"))
    return found if is_page and len(found) <= LONGEST_URL and found.isprintable() else ""
