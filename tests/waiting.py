"""Waiting for what other processes and threads do; no longer than needed, and not for ever."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from django.db import connection, transaction
from django.db.models import QuerySet

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


def while_waiting(change: Callable[[], object], act: Callable[[], object]) -> object:
    """Do `change`, which is committed once `act` waits for it in another session; what `act` returns.

    PostgreSQL only.
    """
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            change()
            acting = pool.submit(in_a_session, act)
            assert wait_until(is_somebody_waiting_for_a_lock)
        return acting.result()


def in_a_session(act: Callable[[], object]) -> object:
    """Do `act`, and close the connection of this thread."""
    try:
        return act()
    finally:
        connection.close()


def free_while_it_waits(
    change: Callable[[], object], first: QuerySet, others: QuerySet
) -> set[object]:
    """The ids of the other rows that `change` has not locked while it waits for the first; PostgreSQL only."""

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            list(first.select_for_update(no_key=True))
            changing = pool.submit(in_a_session, change)
            assert wait_until(is_somebody_waiting_for_a_lock)
            free = others.select_for_update(skip_locked=True, no_key=True)
            found = {each.pk for each in free}
        changing.result()
    return found
