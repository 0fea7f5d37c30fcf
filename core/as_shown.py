"""Settings are changed as a form has shown them: a field that its reader left alone stays as it is stored.

A page may be open while a colleague saves the same settings. So a form with settings sends a mark of each value that
the page has shown, which is as short for a long value, and tells which fields were changed, on the page and since.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.crypto import salted_hmac

from core import keys

NAME = "shown-"  # of a hidden field, before the name of the value
UNMARKED: Mapping[str, str] = {}  # of a program, or of a page of a version without marks


class ChangedMeanwhile(Exception):
    """Somebody has changed values since they were shown that the form changes to others. `names`: which ones."""

    def __init__(self, names: Iterable[str]):
        super().__init__(
            "This was changed in the meantime. Nothing was saved. Look at what is chosen now, and choose again."
        )
        self.names = list(names)


def marks(values: Mapping[str, Any]) -> dict[str, str]:
    """The hidden fields of a form that shows these values, which JSON can have."""
    return {NAME + name: _mark(name, value) for name, value in values.items()}


def sent(form: Mapping[str, Any]) -> dict[str, str]:
    """The marks among the fields of a form."""
    return {name: str(value) for name, value in form.items() if name.startswith(NAME)}


def is_left(name: str, value: Any, shown: Mapping[str, str]) -> bool:
    """Whether a value is the one that was shown, by its mark."""
    return shown.get(NAME + name) == _mark(name, value)


def changed_by_both(
    wanted: Mapping[str, Any], stored: Mapping[str, Any], shown: Mapping[str, str]
) -> list[str]:
    """The names of what was changed in a form and, to something else, in what is stored."""
    marked = [name for name in wanted if NAME + name in shown and name in stored]
    others = [name for name in marked if wanted[name] != stored[name]]
    return [
        name
        for name in others
        if not is_left(name, wanted[name], shown) and not is_left(name, stored[name], shown)
    ]


def settle(
    wanted: Mapping[str, Any], stored: Mapping[str, Any], shown: Mapping[str, str]
) -> dict[str, Any]:
    """What to store of what a form wants, for each of its names. Lock the row first from which `stored` is read.

    A value that was left as `shown` stays as it is stored. One without a mark, or of which nothing is stored, is
    taken. Raises `ChangedMeanwhile`.
    """
    if names := changed_by_both(wanted, stored, shown):
        raise ChangedMeanwhile(names)
    return {
        name: stored[name] if name in stored and is_left(name, value, shown) else value
        for name, value in wanted.items()
    }


def _mark(name: str, value: Any) -> str:
    text = json.dumps([name, value])
    return salted_hmac(NAME, text, secret=keys.lasting(), algorithm="sha256").hexdigest()[:32]
