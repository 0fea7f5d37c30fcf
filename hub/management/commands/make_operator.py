"""`manage.py make_operator <login>`: give somebody who has signed in access to /admin/."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from core.command import Group, HubCommand
from orgs.models import User


class Command(HubCommand):
    help = "Gives a person who has signed in with this GitHub login access to /admin/."
    group = Group.SET_UP
    summary = "gives a person access to /admin/"
    examples = {
        "make_operator alice": "let alice open /admin/",
        "make_operator alice --undo": "take that access away",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("login", help="the GitHub login of the person")
        parser.add_argument("--undo", action="store_true", help="take the access away")

    def handle(self, *args: Any, login: str, undo: bool, **options: Any) -> None:
        found = User.objects.filter(membership__login__iexact=login)
        if undo and not found:  # their organization was deleted
            found = User.objects.filter(username__iexact=login)
        if not found:
            raise CommandError(
                f"{login} has not signed in yet. They have to sign in at /login/ first."
            )
        if len(found) > 1:
            raise CommandError(
                f"More than one account had the login {login}. Each of them has to sign in again, so "
                "that the Hub learns its current login."
            )
        found.update(is_staff=not undo, is_superuser=not undo)
        self.stdout.write(f"{login} is {'no longer ' if undo else ''}an operator of this Hub.")
