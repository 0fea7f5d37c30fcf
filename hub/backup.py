"""Makes a copy of an SQLite database while the Hub runs."""

import os
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from core import backups

PAGES = 256  # of 4 KiB, copied in one step
OnProgress = Callable[[int, int], None]  # how many pages are left, of how many


class NotWhole(Exception):
    """The copy is damaged, so the database is as well."""


def copy(
    database: Path, target: Path, *, on_progress: OnProgress = lambda left, total: None
) -> datetime:
    """Copy the database to `target`, which is replaced at the end, whole or not at all; returns the copy's time.

    Others write meanwhile: the copy is one long read of the database as it is now. Its file is nobody
    else's to read. Raises `OSError`, `sqlite3.Error` and `NotWhole`.
    """
    handle, name = tempfile.mkstemp(
        dir=target.parent, prefix=f".{target.name}."
    )  # with the mode 0600
    os.close(handle)
    made = Path(name)
    try:
        taken_at = _copy(database, made, on_progress)
        _save(made)
        made.replace(target)
        _save(target.parent)
    finally:
        for each in (made, Path(f"{made}-journal")):
            each.unlink(missing_ok=True)
    return taken_at


def _copy(database: Path, made: Path, on_progress: OnProgress) -> datetime:
    with (
        closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as source,
        closing(sqlite3.connect(made, isolation_level=None)) as target,
    ):
        taken_at = datetime.now(UTC).replace(microsecond=0)
        source.execute("BEGIN")
        source.execute("SELECT count(*) FROM sqlite_master").fetchone()  # from here on, one moment
        source.backup(target, pages=PAGES, progress=lambda _, left, total: on_progress(left, total))
        target.execute("PRAGMA journal_mode=DELETE")  # one file, without others beside it
        target.execute(backups.note(taken_at))
        found = target.execute("PRAGMA integrity_check").fetchone()[0]
    if found != "ok":
        raise NotWhole(found)
    return taken_at


def _save(path: Path) -> None:
    """Have the disk keep a file, or the names in a folder."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
