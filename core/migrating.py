"""Operations for migrations that run while the Hub serves."""

from typing import Any

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations import AddIndex


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


def _kind(schema_editor: BaseDatabaseSchemaEditor) -> type[AddIndex]:
    return AddIndexConcurrently if schema_editor.connection.vendor == "postgresql" else AddIndex
