"""Django's PostgreSQL backend with a pool that recovers at once when the server restarts."""

import select
from collections.abc import Sequence
from threading import Lock
from time import monotonic
from typing import Any, ClassVar

import psycopg
from django.db.backends.postgresql import base, operations
from django.db.backends.utils import CursorWrapper, debug_transaction
from django.db.utils import DatabaseErrorWrapper
from django.utils.functional import cached_property
from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool

from hub.postgresql import prepared

A_MOMENT = 0.05  # seconds in which a server has hardly restarted
REST = 60  # seconds after which a connection is tried before it is used again

_draining = Lock()


class DatabaseOperations(operations.DatabaseOperations):
    """Tells Django's log of queries what psycopg forgets: the text of a statement that is prepared."""

    def last_executed_query(self, cursor: Any, sql: str, params: Any) -> str:
        """The statement with its values, however they were sent."""
        if isinstance(cursor, psycopg.ClientCursor):
            return super().last_executed_query(cursor, sql, params)
        return self.compose_sql(sql, params)


class Errors(DatabaseErrorWrapper):
    """Turns psycopg's errors into Django's, and notes whether the server takes changes."""

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        if isinstance(exc_value, psycopg.errors.ReadOnlySqlTransaction):
            self.wrapper.is_read_only = True  # type: ignore[attr-defined]
        super().__exit__(exc_type, exc_value, traceback)


class DatabaseWrapper(base.DatabaseWrapper):
    """Keeps a connection from one request to the next where the server asks it to (`keep`, `take_up`).

    Tries one from the pool only if it has rested, or if the server has said something meanwhile.

    A server that ends says so, and to see that costs no round trip. When a connection turns out to be
    broken, all idle ones are dropped: they were broken by the same restart. psycopg's own check
    (`CONN_HEALTH_CHECKS`) would wait a second and more between one and the next, until requests give up.
    So it is with a server that takes no changes: after a failover another one may be at its name.
    """

    ops_class = DatabaseOperations
    _drained_at = 0.0
    _waiting: ClassVar[list[None]] = []  # one for each thread that waits for a connection
    _asked_at = 0.0
    _is_kept = False  # between two requests of a thread
    is_read_only = False  # its server takes no changes

    def get_new_connection(self, conn_params: dict[str, Any]) -> psycopg.Connection:
        """A connection from the pool that works."""
        self._is_kept = self.is_read_only = False
        self._asked_at = asked_at = monotonic()
        connection = self._next(conn_params)
        if self.pool is None or _is_fresh(connection):
            return connection
        try:
            ConnectionPool.check_connection(connection)
        except psycopg.Error:
            self._drain(asked_at)
            self.pool.putconn(connection)
            return self._next(conn_params)
        return connection

    def _next(self, conn_params: dict[str, Any]) -> psycopg.Connection:
        self._waiting.append(None)
        try:
            return super().get_new_connection(conn_params)
        finally:
            self._waiting.pop()

    def keep(self) -> None:
        """After a request: keep the connection for the next one of this thread.

        Not if something is wrong with it, or another thread waits for one: there may be too few.
        """
        if self.connection is None or self.in_atomic_block:
            return
        is_idle = self.connection.pgconn.transaction_status == TransactionStatus.IDLE
        is_used_up = self.errors_occurred or self.is_read_only or not self.get_autocommit()
        if is_used_up or self._waiting or not is_idle:
            self.close()
            return
        self.connection.rests_since = monotonic()
        self._is_kept = True

    def take_up(self) -> None:
        """Before a request: use the connection that was kept, if it works."""
        if self.connection is None or self.in_atomic_block:
            return
        is_long_ago = monotonic() - self._asked_at > REST  # the pool may want to replace it
        if is_long_ago or self._asked_at <= self._drained_at or not self._works():
            self.close()
        self._is_kept = False

    def _works(self) -> bool:
        try:
            if not _is_fresh(self.connection):
                ConnectionPool.check_connection(self.connection)
        except psycopg.Error:
            return False
        return True

    def prepared_rows(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """All rows of a statement that is prepared after some uses; the values are sent apart from it.

        Django's own cursors are only for those who log or watch what is asked.
        """
        self.ensure_connection()
        if self.queries_logged or self.execute_wrappers:
            with self._prepared_cursor() as watched:
                watched.execute(sql, values)
                return watched.fetchall()
        self.validate_no_broken_transaction()
        with self.wrap_database_errors:
            return prepared.rows(self.connection, sql, values)

    def _commit(self) -> None:
        """Django's hook: the round trip alone, without what psycopg does around it."""
        if self.connection is not None:
            with debug_transaction(self, "COMMIT"), self.wrap_database_errors:
                prepared.commit(self.connection)

    def _prepared_cursor(self) -> CursorWrapper:
        with self.wrap_database_errors:
            return self._prepare_cursor(psycopg.Cursor(self.connection))  # type: ignore[attr-defined]

    @cached_property
    def wrap_database_errors(self) -> Errors:
        """What Django has around each call of the driver."""
        return Errors(self)

    def _close(self) -> None:
        if self.connection is not None:
            is_of_no_use = self.is_read_only or self.connection.broken
            if self.is_read_only:
                self.connection.close()
            if not self._is_kept:
                self.connection.rests_since = monotonic()
            if self.pool is not None and is_of_no_use:  # as the others probably are
                self._drain(self._asked_at)
        super()._close()  # type: ignore[misc]

    def _drain(self, asked_at: float) -> None:
        """Empty the pool once for all threads that got a broken connection; newer ones are fine."""
        with _draining:
            if type(self)._drained_at <= asked_at:
                type(self)._drained_at = monotonic()
                self.pool.drain()


def _is_fresh(connection: psycopg.Connection) -> bool:
    """Whether it was used a moment ago, or within a minute and nothing waits to be read from it."""
    rested = monotonic() - getattr(connection, "rests_since", 0.0)
    if rested < A_MOMENT:
        return True
    if rested > REST:
        return False
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    return not waiting.poll(0)
