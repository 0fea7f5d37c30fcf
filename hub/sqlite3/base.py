"""Django's SQLite backend with cursors that end with an error."""

import sqlite3
from typing import Any

from django.db.backends.sqlite3 import base


class Cursor(base.SQLiteCursorWrapper):
    """Closed by the thread that used it once a statement has failed; nothing goes on with it.

    Python's cursor keeps a statement that has failed since the database was locked until it is deleted. The
    traceback refers to the cursor, so that is done by the garbage collector, in any thread, which waits for the
    connection: for as long as that waits for the lock. If it is the thread that has the lock, neither goes on.
    """

    def execute(self, *args: Any) -> Any:
        """Run one statement."""
        try:
            return super().execute(*args)
        except sqlite3.Error:
            self.close()
            raise

    def executemany(self, *args: Any) -> Any:
        """Run one statement with several lists of parameters."""
        try:
            return super().executemany(*args)
        except sqlite3.Error:
            self.close()
            raise


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection whose cursors are closed once a statement has failed."""

    def create_cursor(self, name: str | None = None) -> Cursor:
        """A new cursor."""
        return self.connection.cursor(factory=Cursor)
