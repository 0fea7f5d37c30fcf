"""`manage.py reverify_domains`: check the DNS records of verified claims again."""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError

from core.command import Group, HubCommand
from core.progress import Progress
from orgs.domains import hosts, reverification
from orgs.models import Domain
from orgs.models.domain import DomainQuerySet

AT_ONCE_AGAIN = timedelta(seconds=10)  # for --domain: longer than one check takes


class Command(HubCommand):
    help = (
        "Checks the DNS record of every verified claim again and prints the results. "
        "Claims that another run has checked in the last ten minutes are skipped."
    )
    group = Group.KEEP
    summary = "checks the DNS records of verified claims again"
    examples = {
        "reverify_domains --due": "check what is due",
        "reverify_domains --domain docs.example.com --dry-run": "look at one, and save nothing",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        which = parser.add_mutually_exclusive_group()
        which.add_argument(
            "--due", action="store_true", help="only claims that are due for a check"
        )
        which.add_argument("--domain", default="", help="only the claims of this name")
        parser.add_argument("--dry-run", action="store_true", help="ask the DNS, save nothing")

    def handle(self, *args: Any, due: bool, domain: str, dry_run: bool, **options: Any) -> None:
        claims = _claims(due=due, name=domain)
        progress = Progress(self.stderr, claims.count())
        outcomes = reverification.run(
            claims,
            dry_run=dry_run,
            fresh=AT_ONCE_AGAIN if domain else reverification.FRESH,
            on_progress=progress.step,
        )
        counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
        looked = f"{outcomes.total()} checked: {counts}." if outcomes else "None checked."
        left_out = progress.total - outcomes.total()
        self.stdout.write(f"{looked} {left_out} skipped." if left_out else looked)
        if dry_run:
            self.stdout.write("Nothing was saved (--dry-run).")


def _claims(*, due: bool, name: str) -> DomainQuerySet:
    if due:
        return reverification.due()
    claims = Domain.objects.to_be_proved_again()
    if not name:
        return claims
    try:
        claims = claims.filter(name=hosts.normalize(name))
    except hosts.InvalidHost as error:
        raise CommandError(str(error)) from None
    if not claims.exists():
        raise CommandError(f"Nobody has verified {name}.")
    return claims
