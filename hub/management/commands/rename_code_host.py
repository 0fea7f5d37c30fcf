"""`manage.py rename_code_host`: go on with the database at the code host's new address."""

from typing import Any

from django.conf import settings

from core.command import Group, HubCommand
from hub.setup import code_host


class Command(HubCommand):
    help = (
        "Notes that HUB_GITHUB_URL is the new address of the code host that the database is of. Not for another "
        "host, where the numbers of accounts and installations are others'."
    )
    group = Group.KEEP
    summary = "goes on with the database where the code host has a new address"
    examples = {"rename_code_host": "HUB_GITHUB_URL is the same host as before, at a new address"}

    def handle(self, *args: Any, **options: Any) -> None:
        code_host.remember()
        self.stdout.write(f"The database is of the code host {settings.HUB_GITHUB_URL}.")
