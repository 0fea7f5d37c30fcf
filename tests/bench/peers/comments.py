"""Isso, a comment server in Python on SQLite: the nearest thing that many people run.

It stores a comment below a page: checks its fields, looks up the thread, writes the row, renders
Markdown and signs a cookie. It knows no owners, no secrets, no duplicates and no forwarding. Its
guard against floods is off, because that reads all comments for each new one.

It sets no pragmas: `synchronous` is FULL, as in the Hub, so a comment that was accepted survives a
power cut; its journal is SQLite's own (DELETE) and the Hub's is WAL. `isso with WAL` is the same
program on a file that was switched to WAL, which stays in the file.
"""

import sqlite3
from pathlib import Path

SETTINGS = """
[general]
dbpath = {database}
host = http://127.0.0.1:1/
notify =
[server]
trusted-proxies = 127.0.0.1
[guard]
enabled = false
"""


def prepare(folder: Path, journal: str) -> dict[str, str]:
    """Its database and settings in `folder`; returns its environment."""
    folder.mkdir()
    database, settings = folder / "comments.sqlite3", folder / "isso.cfg"
    with sqlite3.connect(database) as connection:
        connection.execute(f"PRAGMA journal_mode={journal}")
    settings.write_text(SETTINGS.format(database=database))
    return {"ISSO_SETTINGS": str(settings)}
