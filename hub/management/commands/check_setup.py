"""`manage.py check_setup`: what is missing in the operator's configuration, in words."""

from django.core.management.base import BaseCommand, CommandError

from hub.setup import problems


class Command(BaseCommand):
    help = "Says what is missing in the configuration; exits with 1 where something is."

    def handle(self, *args, **options) -> None:
        found = problems()
        for problem in found:
            self.stdout.write(f"- {problem}")
        if found:
            raise CommandError(f"{len(found)} to mend.")
        self.stdout.write("Everything that can be seen from here is set up.")
