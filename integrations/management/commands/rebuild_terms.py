"""`manage.py rebuild_terms`: parse again what reports are compared by."""

from argparse import ArgumentParser
from typing import Any

from core.command import Group, HubCommand
from core.progress import Progress
from integrations.folding import rebuilding


class Command(HubCommand):
    help = (
        "Parses again what reports are compared by, where an older version of the rule did so, or none. "
        "It may be stopped and run again; maintain does the same at leisure."
    )
    group = Group.KEEP
    summary = "parses again what reports are compared by"
    examples = {
        "rebuild_terms": "after an upgrade, without waiting for maintain",
        "rebuild_terms --dry-run": "only count",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only count, change nothing")

    def handle(self, *args: Any, dry_run: bool, **options: Any) -> None:
        needed = rebuilding.outdated().count()
        if dry_run:
            self.stdout.write(f"{needed:,} to be parsed again.")
            return
        progress = Progress(self.stderr, needed)
        rebuilt = rebuilding.rebuild(on_progress=progress.step)
        self.stdout.write(f"{rebuilt:,} parsed again.")
