"""Begins SQLite's journal (`-wal`) anew where somebody always reads, so that it never ends by itself."""

from collections.abc import Callable
from pathlib import Path

from django.db import connection

MOST = 32 * 1024 * 1024  # bytes; SQLite keeps it at 4 MiB where there is a moment without readers
PATIENCE = 1000  # milliseconds to wait for who reads now: nobody else writes meanwhile


def shorten(_go_on: Callable[[], bool] = lambda: True) -> bool:
    """Empty the journal if it is longer than `MOST`. Returns whether it did; who reads for long keeps it from that."""
    journal = Path(f"{connection.settings_dict['NAME']}-wal")
    if connection.vendor != "sqlite" or not journal.exists() or journal.stat().st_size <= MOST:
        return False
    patience = _asked("PRAGMA busy_timeout")
    _asked(f"PRAGMA busy_timeout = {PATIENCE}")
    try:
        is_busy = _asked("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        _asked(f"PRAGMA busy_timeout = {patience}")
    return not is_busy


def _asked(pragma: str) -> int:
    """The first that SQLite answers, to a cursor of its own: one that has failed is closed."""
    with connection.cursor() as cursor:
        [[first, *_]] = cursor.execute(pragma).fetchall()
    return int(first)
