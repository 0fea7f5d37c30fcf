"""A search for a text in a column whose time its writer cannot stretch."""

from typing import Any

from django.db.models import BooleanField, Func, TextField, Value
from django.db.models.functions import Left

LONGEST = 2048  # characters; an address in its canonical form has up to nine times as many


class _Folded(Func):
    """A text without capitals, as `icontains` has it: on SQLite, those of ASCII are folded only."""

    output_field = TextField()

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """In bytes; no character of UTF-8 begins inside another one."""
        template = "convert_to(upper(%(expressions)s), 'UTF8')"
        return self.as_sql(compiler, connection, template=template, **context)

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """In lower case."""
        return self.as_sql(compiler, connection, function="lower", **context)


class Mentions(Func):
    """Whether a column has this text in it, in upper or lower case.

    `LIKE` takes a step for each character that it compares, and begins anew at each place of the column: for
    a text that matches almost everywhere, that is its length times as much. Both databases compare memory here,
    and only the first `LONGEST` characters.
    """

    output_field = BooleanField()
    template = "%(function)s(%(expressions)s) > 0"

    def __init__(self, column: str, text: str) -> None:
        super().__init__(_Folded(Left(column, LONGEST)), _Folded(Value(text, TextField())))

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """With `position` as a function, since `strpos` of texts begins anew as `LIKE` does."""
        function = 'pg_catalog."position"'
        return self.as_sql(compiler, connection, function=function, **context)

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """With `instr`."""
        return self.as_sql(compiler, connection, function="instr", **context)
