"""`manage.py reconcile_installations`: what webhooks should have told."""

from django.core.management.base import BaseCommand

from integrations.github_sync.reconciling import reconcile
from integrations.management.commands.retry_deliveries import Progress
from integrations.models import Installation


class Command(BaseCommand):
    help = (
        "Asks GitHub about every installation and its repositories, for webhooks that never came, "
        "and prints how many were asked about."
    )

    def handle(self, *args, **options) -> None:
        progress = Progress(self.stderr, Installation.objects.in_use().count())
        outcomes = reconcile(progress.step)
        self.stdout.write(
            f"{outcomes['asked']} installations are up to date; "
            f"about {outcomes['unanswered']} GitHub gave no answer."
        )
