"""Django's SQLite backend with cursors that end with an error, and connections that end with their file."""

import os
import sqlite3
from pathlib import Path
from typing import Any, ClassVar

from django.db.backends.sqlite3 import base
from django.utils.functional import cached_property


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
    """A connection to the file that this process has opened first, as long as that is at its path.

    What is written to a file that was moved away or deleted is lost with it. One that was put in its place may be a
    backup that nobody has looked after, or lack migrations: both are looked for at the start of a process, so
    there it is refused until the next one.

    SQLite opens a file that may only be read, and never writes to it by that connection, also once it may be written.
    So such a one lasts for one request.
    """

    _first: ClassVar[dict[Path, tuple[int, int]]] = {}
    _opened: tuple[int, int] | None = None
    is_read_only = False

    def get_new_connection(self, conn_params: dict[str, Any]) -> sqlite3.Connection:
        """A connection to the file. Raises `OperationalError` if it is not there any more, or another one."""
        if self.is_in_memory_db():
            return super().get_new_connection(conn_params)
        first = self._first.get(self._path)
        if first and _identity(self._path) != first:
            raise sqlite3.OperationalError(
                f"{self._path} was moved, deleted or replaced; restart what has it open"
            )
        connection = super().get_new_connection(conn_params)
        self._opened = _identity(self._path)
        self.is_read_only = not os.access(self._path, os.W_OK)
        if self._opened:
            self._first.setdefault(self._path, self._opened)
        return connection

    def close_if_unusable_or_obsolete(self) -> None:
        """Between two requests: close what the next one could not use."""
        super().close_if_unusable_or_obsolete()
        if self.connection is not None and not self.is_in_memory_db() and not self._can_be_kept():
            self.close()

    def create_cursor(self, name: str | None = None) -> Cursor:
        """A new cursor."""
        return self.connection.cursor(factory=Cursor)

    @cached_property
    def _path(self) -> Path:
        return Path(self.settings_dict["NAME"])

    def _can_be_kept(self) -> bool:
        return not self.is_read_only and _identity(self._path) == self._opened


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file is at the path; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
