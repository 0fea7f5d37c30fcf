"""Operations for migrations that run while the Hub serves."""

from collections.abc import Sequence
from typing import Any

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations import AddIndex, SeparateDatabaseAndState
from django.db.migrations.operations.base import Operation


class AddIndexWhileServing(AddIndexConcurrently):
    """Add an index to a large table; on PostgreSQL concurrently, so that reports are stored meanwhile.

    Its migration has `atomic = False`, and no other operation. If it fails, drop the invalid index that
    it leaves behind, and run it again.
    """

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, *states: Any
    ) -> None:
        """Add it."""
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
        is_postgresql = schema_editor.connection.vendor == "postgresql"
        how = "CONCURRENTLY IF EXISTS" if is_postgresql else "IF EXISTS"
        for name in self.indexes:
            schema_editor.execute(f"DROP INDEX {how} {schema_editor.quote_name(name)}")

    def database_backwards(self, *args: Any) -> None:
        """Nothing."""

    def describe(self) -> str:
        """Which ones."""
        return f"Remove {', '.join(self.indexes)}"


def _kind(schema_editor: BaseDatabaseSchemaEditor) -> type[AddIndex]:
    return AddIndexConcurrently if schema_editor.connection.vendor == "postgresql" else AddIndex
