"""`manage.py freeze_docs 0.1`: keep the docs as they are now, for good."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from core.command import Group, HubCommand
from hub.docs import shelf, snapshots


class Command(HubCommand):
    help = "Copies docs/v0/ to a snapshot that is served at its own address and never changes."
    group = Group.DEVELOP
    summary = "keeps these docs as they are now, as a snapshot of a version"
    examples = {
        "freeze_docs 0.1": "keep them as those of version 0.1",
    }
    asks_the_database = False
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("version", help="the version that the docs describe, such as 0.1")

    def handle(self, *args: Any, version: str, **options: Any) -> None:
        try:
            snapshot = snapshots.freeze(shelf.FOLDER / shelf.LATEST, version)
        except snapshots.CannotFreeze as error:
            raise CommandError(str(error)) from error
        count = len((snapshot / snapshots.MANIFEST).read_text(encoding="utf-8").splitlines())
        self.stdout.write(
            f"Froze {count} files in {snapshot}. They are served at /{snapshot.name}/. Commit them."
        )
