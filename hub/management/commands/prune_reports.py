"""`manage.py prune_reports`: forget what is older than HUB_RETENTION_DAYS."""

from argparse import ArgumentParser

from django.conf import settings
from django.core.management.base import BaseCommand

from core.progress import Progress
from hub import pruning


class Command(BaseCommand):
    help = (
        "Deletes reports that never became an issue and that nobody has sent for "
        "HUB_RETENTION_DAYS, and with them attempts and invitations of that age, and what has "
        "expired: sessions, tokens, states of installing, ids of webhooks."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="count, and delete nothing")

    def handle(self, *args, dry_run: bool, **options) -> None:
        counts = pruning.count()
        if not dry_run:
            progress = Progress(self.stderr, counts.total())
            counts = pruning.prune(on_progress=progress.step)
        found = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        self.stdout.write(f"{'To delete' if dry_run else 'Deleted'}: {found or 'nothing'}.")
        self.stdout.write(f"Reports that became an issue are kept; others for {_days()}.")
        if dry_run:
            self.stdout.write("Nothing was deleted (--dry-run).")


def _days() -> str:
    return f"{settings.HUB_RETENTION_DAYS} days (HUB_RETENTION_DAYS)"
