"""`manage.py check_setup`: list the problems of the configuration."""

from typing import Any

from django.core.management.base import CommandError

from core.command import Group, HubCommand
from hub.setup import problems


class Command(HubCommand):
    help = "Checks the configuration and lists its problems; exits with 1 if there are any."
    group = Group.SET_UP
    summary = "lists the problems of the configuration"
    examples = {"check_setup": "print what was checked, and what to do about it"}
    asks_the_database = False

    def handle(self, *args: Any, **options: Any) -> None:
        found = problems()
        for problem in found:
            self.stdout.write(f"- {problem}")
        if found:
            raise CommandError(f"{len(found)} problem{'s' * (len(found) > 1)} found.")
        self.stdout.write("No problems found.")
