"""`manage.py reconcile_installations`: ask GitHub about everything now."""

from typing import Any

from core.command import Group, HubCommand
from integrations.github_sync.reconciling import reconcile
from integrations.management.commands.retry_deliveries import Progress
from integrations.models import Installation


class Command(HubCommand):
    help = (
        "Asks GitHub about every installation and its repositories, in case webhooks were missed, "
        "and prints how many GitHub answered about."
    )
    group = Group.KEEP
    summary = "asks GitHub about every installation now"
    examples = {
        "reconcile_installations": "after webhooks were missed",
    }

    def handle(self, *args: Any, **options: Any) -> None:
        progress = Progress(self.stderr, Installation.objects.in_use().count())
        outcomes = reconcile(progress.step)
        total, unanswered = outcomes.total(), outcomes["unanswered"]
        answered = f"did not answer about {unanswered}" if unanswered else "answered about all"
        self.stdout.write(f"{total} installations checked. GitHub {answered} of them.")
