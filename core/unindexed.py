"""A column that SQLite does not look up in an index, so that it uses another one."""

from typing import Any

from django.db.models import Func


class Unindexed(Func):
    """The column itself. Without statistics, SQLite believes that every index finds ten rows.

    https://www.sqlite.org/optoverview.html#disqualifying_where_clause_terms_using_unary_
    """

    template = "%(expressions)s"

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """The column with a unary plus."""
        return self.as_sql(compiler, connection, template="+%(expressions)s", **context)
