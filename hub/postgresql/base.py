"""Django's PostgreSQL with a pool that gets over a restart of the server at once."""

from threading import Lock
from time import monotonic
from typing import Any

import psycopg
from django.db.backends.postgresql import base
from psycopg_pool import ConnectionPool

_draining = Lock()


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection that is found broken takes all idle ones with it.

    They were broken by the same restart. psycopg's own check (`CONN_HEALTH_CHECKS`) would wait a
    second and more between one and the next, until nobody waits any longer.
    """

    _drained_at = 0.0

    def get_new_connection(self, conn_params: dict[str, Any]) -> psycopg.Connection:
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
        """Once for all threads that got a broken one: what was made since is whole."""
        with _draining:
            if type(self)._drained_at <= asked_at:
                type(self)._drained_at = monotonic()
                self.pool.drain()
