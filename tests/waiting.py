"""Waiting for what other processes and threads do; no longer than needed, and not for ever."""

import time
from collections.abc import Callable

from django.db import connection

LOCKED = (
    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


def wait_until(true: Callable[[], object], seconds: float = 120) -> bool:
    """Whether it became true in time."""
    deadline = time.monotonic() + seconds
    while not (result := true()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return bool(result)


def is_somebody_waiting_for_a_lock() -> bool:
    """Whether another connection to this database waits for one; PostgreSQL only."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")  # or a transaction sees the same again
        cursor.execute(LOCKED)
        return cursor.fetchone() is not None
