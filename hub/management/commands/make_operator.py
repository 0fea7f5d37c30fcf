"""`manage.py make_operator <login>`: let somebody who has signed in into /admin/."""

from argparse import ArgumentParser

from django.core.management.base import BaseCommand, CommandError

from orgs.models import User


class Command(BaseCommand):
    help = "Lets a person who has signed in with this GitHub login into /admin/, or out of it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("login")
        parser.add_argument("--undo", action="store_true", help="no longer an operator")

    def handle(self, *args, login: str, undo: bool, **options) -> None:
        found = User.objects.filter(membership__login__iexact=login)
        if undo and not found:  # whose organization has gone
            found = User.objects.filter(username__iexact=login)
        if not found:
            raise CommandError(f"{login} has not signed in yet. They sign in at /login/ first.")
        if len(found) > 1:
            raise CommandError(
                f"More than one account was called {login}. Each has to sign in again, so that "
                "the Hub learns what it is called now."
            )
        found.update(is_staff=not undo, is_superuser=not undo)
        self.stdout.write(f"{login} is {'no longer ' if undo else ''}an operator of this Hub.")
