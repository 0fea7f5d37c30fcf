"""Operations for migrations that run while the Hub serves."""

from collections.abc import Sequence
from typing import Any

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations import AddIndex, SeparateDatabaseAndState
from django.db.migrations.operations.base import Operation
from django.db.models import Model


class AddIndexWhileServing(AddIndexConcurrently):
    """Add an index to a large table; on PostgreSQL concurrently, so that reports are stored meanwhile.

    Its migration has `atomic = False`, and no other operation. Where it was ended before it was recorded,
    it is run again: an index that is there is kept, and one that PostgreSQL has left invalid is made anew.
    """

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, *states: Any
    ) -> None:
        """Add it, unless it is there."""
        name = self.index.name
        if schema_editor.connection.vendor == "postgresql" and _is_invalid(schema_editor, name):
            _drop(schema_editor, name)
        if _is_there(schema_editor, states[-1].apps.get_model(app_label, self.model_name), name):
            return
        _kind(schema_editor).database_forwards(self, app_label, schema_editor, *states)

    def database_backwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, *states: Any
    ) -> None:
        """Remove it."""
        _kind(schema_editor).database_backwards(self, app_label, schema_editor, *states)


class RemoveIndexesWhileServing(SeparateDatabaseAndState):
    """Remove indexes by their names; on PostgreSQL concurrently. Those that Django has made for fields, too.

    Of each text that is indexed it makes a second one on PostgreSQL, for `LIKE 'x%'`, which nobody asks; the
    name of that ends with `_like`. `state_operations` tell the models of the others. Its migration has
    `atomic = False`. They are not made again backwards: the version before is only slower without them
    (and SQLite cannot go back beyond the migration that has made one by its name).
    """

    def __init__(self, indexes: Sequence[str], state_operations: Sequence[Operation] = ()) -> None:
        super().__init__(state_operations=state_operations)
        self.indexes = indexes

    def deconstruct(self) -> tuple[str, Sequence[Any], dict[str, Any]]:
        """As Django writes it."""
        name, args, kwargs = super().deconstruct()
        return name, args, {"indexes": self.indexes, **kwargs}

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, *states: Any
    ) -> None:
        """Remove those that are there."""
        for name in self.indexes:
            _drop(schema_editor, name)

    def database_backwards(self, *args: Any) -> None:
        """Nothing."""

    def describe(self) -> str:
        """Which ones."""
        return f"Remove {', '.join(self.indexes)}"


INVALID = """
    SELECT 1 FROM pg_class JOIN pg_index ON pg_index.indexrelid = pg_class.oid
    WHERE relname = %s AND pg_table_is_visible(pg_class.oid) AND NOT indisvalid
"""


def _is_invalid(schema_editor: BaseDatabaseSchemaEditor, name: str) -> bool:
    """Whether PostgreSQL was ended while it made the index, which costs each write and helps nobody."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(INVALID, [name])
        return cursor.fetchone() is not None


def _is_there(schema_editor: BaseDatabaseSchemaEditor, model: type[Model], name: str) -> bool:
    connection = schema_editor.connection
    with connection.cursor() as cursor:
        return name in connection.introspection.get_constraints(cursor, model._meta.db_table)


def _drop(schema_editor: BaseDatabaseSchemaEditor, name: str) -> None:
    is_postgresql = schema_editor.connection.vendor == "postgresql"
    how = "CONCURRENTLY IF EXISTS" if is_postgresql else "IF EXISTS"
    schema_editor.execute(f"DROP INDEX {how} {schema_editor.quote_name(name)}")


def _kind(schema_editor: BaseDatabaseSchemaEditor) -> type[AddIndex]:
    return AddIndexConcurrently if schema_editor.connection.vendor == "postgresql" else AddIndex
