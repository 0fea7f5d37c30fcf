"""`manage.py after_restore`: let a Hub that was restored from a backup send nothing twice."""

from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from core import backups
from core.command import Group, HubCommand
from core.progress import Progress
from hub import restoring
from hub.maintenance import LEASE, RUNNER
from hub.models import Lease

EXAMPLE = "2026-11-22T21:48:55Z"
FIRST = datetime(2020, 1, 1, tzinfo=UTC)  # an issue is looked for from a while before the backup on


class Command(HubCommand):
    help = (
        "Run it once a backup was restored, before the Hub starts: what waits in the backup may have been "
        "sent since it was taken, so the Hub looks for each issue before it sends anything."
    )
    group = Group.KEEP
    summary = "lets a Hub that was restored from a backup send nothing twice"
    examples = {
        f"after_restore --taken-at {EXAMPLE} --dry-run": "count what was unsent then",
        f"after_restore --taken-at {EXAMPLE}": "have the issues looked for",
        "after_restore": "the same, where the backup is a copy that `backup` has made",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--taken-at",
            help=f"when the backup was taken, such as {EXAMPLE}; a copy that `backup` has made knows it",
        )
        parser.add_argument("--dry-run", action="store_true", help="only count, change nothing")
        parser.add_argument(
            "--end-sessions",
            action="store_true",
            help="sign everybody out: sessions that had ended since the backup are valid again",
        )
        parser.add_argument(
            "--revoke-tokens",
            action="store_true",
            help="revoke all access tokens: those revoked since the backup are valid again",
        )

    def handle(self, *args: Any, taken_at: str | None, dry_run: bool, **options: Any) -> None:
        at = _time(taken_at)
        found = restoring.to_mark(at)
        if dry_run:
            self.stdout.write(f"To mark: {_those(found)}.")
            self.stdout.write("Nothing was changed (--dry-run).")
            return
        if not Lease.objects.free({RUNNER: LEASE}):
            raise CommandError(
                "`maintain` runs, or was killed less than a minute ago, or the backup is less than a minute old. "
                "Stop the Hub with all its workers, wait a minute, and run this again. Nothing was changed."
            )
        marked = restoring.mark(at, Progress(self.stderr, sum(found)).step)
        self.stdout.write(
            f"Marked {_those(marked)}: the Hub looks for each issue before it opens one."
        )
        if options["end_sessions"]:
            self.stdout.write(f"Ended {_count(restoring.end_sessions(), 'session')}.")
        if options["revoke_tokens"]:
            self.stdout.write(f"Revoked {_count(restoring.revoke_tokens(), 'access token')}.")
        backups.clear_note()
        self.stdout.write("The Hub may be started.")


def _time(written: str | None) -> datetime:
    """When the backup was taken, as it was written, or as the copy has it."""
    if written is None:
        if noted := backups.noted():
            return noted
        raise CommandError(
            f"Say when the backup was taken, such as --taken-at {EXAMPLE}. If in doubt, earlier is safe."
        )
    try:
        time = datetime.fromisoformat(written.strip())
    except ValueError:
        raise CommandError(f"{written!r} is no time. Write it as {EXAMPLE}.") from None
    if time.utcoffset() is None:
        raise CommandError(f"{written!r} has no time zone. Add one, such as Z for UTC: {EXAMPLE}.")
    if time > timezone.now():
        raise CommandError(f"{written!r} is in the future, by this machine's clock.")
    if time < FIRST:
        raise CommandError(f"{written!r} is before {FIRST:%Y}, when no Hub had sent anything.")
    return time


def _those(marked: restoring.Marked) -> str:
    deliveries, alerts = marked
    return f"{_count(deliveries, 'delivery', 'deliveries')} and {_count(alerts, 'alert')}"


def _count(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or f'{one}s'}"
