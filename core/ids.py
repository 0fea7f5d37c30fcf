"""Ids of everything that has a public id: ULIDs, 26 characters of Crockford's base 32."""

import os
import re
from typing import Any, TypeVar
from uuid import UUID

from django.db import models
from django.db.models import QuerySet
from ulid import PureRandomPolicy, ULIDGenerator

Row = TypeVar("Row", bound=models.Model)
ULID_FORM = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")

RANDOM = 10  # bytes of each
AT_ONCE = 100  # ids for which random bytes are taken from the system


class _Randomness:
    """Random bytes of the system for an id, taken for many at once: with each call, another thread goes on.

    The generator asks one thread at a time. No two processes have the same ones.
    """

    def __init__(self) -> None:
        self._left = b""
        os.register_at_fork(after_in_child=self._forget)

    def __call__(self, timestamp: int) -> bytes:
        if not self._left:
            self._left = os.urandom(AT_ONCE * RANDOM)
        taken, self._left = self._left[:RANDOM], self._left[RANDOM:]
        return taken

    def _forget(self) -> None:
        self._left = b""


# Fresh randomness for each: with the library's default, one receipt would guess the next.
_generator = ULIDGenerator(randomness=_Randomness(), policy=PureRandomPolicy())


def new_id() -> str:
    """A new random id."""
    return str(_generator.generate())


def new_uuid() -> UUID:
    """The same as a UUID, for tables of libraries: in the order of their time, as ids are."""
    return _generator.generate().to_uuid()


def is_id(text: str) -> bool:
    """Whether `text` has the form of an id, so that it is safe to look it up in the database."""
    return bool(ULID_FORM.fullmatch(text))


def find(rows: QuerySet[Row], text: str) -> Row | None:
    """The row with this id, which a stranger may have written; None if there is none."""
    return rows.filter(pk=text).first() if is_id(text) else None


class ULIDField(models.CharField):
    """A primary key that generates its own value."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.update(max_length=26, primary_key=True, default=new_id, editable=False)
        super().__init__(*args, **kwargs)

    def deconstruct(self) -> Any:
        """Leave out of migrations what is always the same."""
        name, path, args, kwargs = super().deconstruct()
        for key in ("max_length", "primary_key", "default", "editable"):
            del kwargs[key]
        return name, path, args, kwargs
