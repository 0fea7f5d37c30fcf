"""`manage.py prune_reports`: delete what is older than HUB_RETENTION_DAYS."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings

from core.command import Group, HubCommand
from core.progress import Progress
from hub import pruning


class Command(HubCommand):
    help = (
        "Deletes reports that are in no issue and were last sent more than "
        "HUB_RETENTION_DAYS ago, attempts, invitations and ended alerts of that age, and what "
        "has expired: sessions, tokens, states of installations, ids of webhooks."
    )
    group = Group.KEEP
    summary = "deletes what is no longer kept"
    examples = {
        "prune_reports --dry-run": "count what would be deleted",
        "prune_reports": "delete it",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only count, delete nothing")

    def handle(self, *args: Any, dry_run: bool, **options: Any) -> None:
        counts = pruning.count()
        if not dry_run:
            progress = Progress(self.stderr, counts.total())
            counts = pruning.prune(on_progress=progress.step)
        found = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        self.stdout.write(f"{'To delete' if dry_run else 'Deleted'}: {found or 'nothing'}.")
        self.stdout.write(f"Reports that are in an issue are kept; others for {_days()}.")
        if dry_run:
            self.stdout.write("Nothing was deleted (--dry-run).")


def _days() -> str:
    return f"{settings.HUB_RETENTION_DAYS} days (HUB_RETENTION_DAYS)"
