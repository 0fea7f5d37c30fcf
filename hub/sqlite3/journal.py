"""Begins SQLite's journal (`-wal`) anew where somebody always reads, so that it never ends by itself."""

from collections.abc import Callable
from pathlib import Path

from django.db import connection

MOST = 32 * 1024 * 1024  # bytes; SQLite keeps it at 4 MiB where there is a moment without readers
PATIENCE = 1000  # milliseconds to wait for who reads now: nobody else writes meanwhile


def shorten(_go_on: Callable[[], bool] = lambda: True) -> bool:
    """Empty the journal if it is longer than `MOST`. Returns whether it did; who reads for long keeps it from that."""
    if connection.vendor != "sqlite":
        return False
    path = Path(connection.settings_dict["NAME"])
    journal = path.with_name(f"{path.name}-wal")
    if not journal.exists() or journal.stat().st_size <= MOST:
        return False
    with connection.cursor() as cursor:
        [[patience]] = cursor.execute("PRAGMA busy_timeout").fetchall()
        cursor.execute(f"PRAGMA busy_timeout = {PATIENCE}")
        try:
            [[is_busy, *_]] = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {patience}")
    return not is_busy
