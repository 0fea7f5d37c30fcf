"""`manage.py backup FILE`: a copy of an SQLite database, while the Hub runs."""

import sqlite3
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import connection
from django.template.defaultfilters import filesizeformat

from core import backups, durations
from core.command import Group, HubCommand
from core.progress import Progress
from hub.backup import NotWhole, copy


class Command(HubCommand):
    help = (
        "Copies the SQLite database to a file while the Hub runs, looks whether the copy is whole, and "
        "prints when it was taken."
    )
    group = Group.KEEP
    summary = "copies an SQLite database while the Hub runs"
    examples = {
        "backup /var/backups/hub.sqlite3": "copy the database to a new file",
        "backup /var/backups/hub.sqlite3 --force": "replace the copy of yesterday",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="where the copy goes; only you can read it")
        parser.add_argument("--force", action="store_true", help="replace the file if it exists")

    def handle(self, *args: Any, file: Path, force: bool, **options: Any) -> None:
        if connection.vendor != "sqlite":
            raise CommandError(
                "This Hub is on PostgreSQL: use pg_dump, as docs/v0/how-to/back-up-and-restore.md says."
            )
        database = Path(connection.settings_dict["NAME"])
        _check(file, database, force=force)
        begun = time.monotonic()
        try:
            taken_at = copy(database, file, on_progress=self._progress())
        except NotWhole as error:
            raise CommandError(
                f"The database is damaged, so nothing was saved. SQLite says: {error}"
            ) from None
        except (OSError, sqlite3.Error) as error:
            raise CommandError(f"Nothing was saved in {file}: {error}.") from error
        took = durations.in_short(time.monotonic() - begun)
        size = filesizeformat(file.stat().st_size).replace("\xa0", " ")
        at = backups.as_text(taken_at)
        self.stdout.write(f"Saved {size} in {file} in {took}. The copy is whole.")
        self.stdout.write(f"After restoring it: manage.py after_restore --taken-at {at}")

    def _progress(self) -> Any:
        known: list[Progress] = []

        def on_progress(left: int, total: int) -> None:
            if not known:
                known.append(Progress(self.stderr, total))
            known[0].step(total - left - known[0].done)

        return on_progress


def _check(file: Path, database: Path, *, force: bool) -> None:
    if not file.parent.is_dir():
        raise CommandError(f"There is no folder {file.parent}. Make it, readable by you alone.")
    if file.is_dir():
        raise CommandError(f"{file} is a folder. Name a file in it.")
    beside = {Path(f"{database.resolve()}{end}") for end in ("", "-wal", "-shm", "-journal")}
    if file.resolve() in beside:
        raise CommandError(f"{file} belongs to the database itself. Name another file.")
    if file.exists() and not force:
        raise CommandError(f"{file} exists. Name another file, or replace it with --force.")
