"""Django's PostgreSQL backend with a pool that recovers at once when the server restarts."""

from threading import Lock
from time import monotonic
from typing import Any

import psycopg
from django.db.backends.postgresql import base
from psycopg_pool import ConnectionPool

_draining = Lock()


class DatabaseWrapper(base.DatabaseWrapper):
    """When a connection turns out to be broken, all idle ones are dropped.

    They were broken by the same restart. psycopg's own check (`CONN_HEALTH_CHECKS`) would wait a second
    and more between one and the next, until requests give up.
    """

    _drained_at = 0.0

    def get_new_connection(self, conn_params: dict[str, Any]) -> psycopg.Connection:
        """A connection from the pool that works."""
        asked_at = monotonic()
        connection = super().get_new_connection(conn_params)
        if self.pool is None:
            return connection
        try:
            ConnectionPool.check_connection(connection)
        except psycopg.Error:
            self._drain(asked_at)
            self.pool.putconn(connection)
            return super().get_new_connection(conn_params)
        return connection

    def _drain(self, asked_at: float) -> None:
        """Empty the pool once for all threads that got a broken connection; newer ones are fine."""
        with _draining:
            if type(self)._drained_at <= asked_at:
                type(self)._drained_at = monotonic()
                self.pool.drain()
