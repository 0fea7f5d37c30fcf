"""`manage.py make_operator <login>`: give somebody who has signed in access to /admin/."""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError
from django.db.models import Q, QuerySet
from django.utils import timezone

from core.command import Group, HubCommand
from orgs.models import Membership, User

JUST = timedelta(hours=1)  # for so long, a login is taken to be still that of who signed in with it


class Command(HubCommand):
    help = "Gives a person who has just signed in with this GitHub login access to /admin/."
    group = Group.SET_UP
    summary = "gives a person access to /admin/"
    examples = {
        "make_operator alice": "let alice open /admin/",
        "make_operator alice --github-id 583231": "the same, if alice is this account, whenever they signed in",
        "make_operator alice --undo": "take that access away",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("login", help="the GitHub login of the person")
        parser.add_argument(
            "--github-id",
            type=int,
            help="the number of that account, if they have not just signed in",
        )
        parser.add_argument("--undo", action="store_true", help="take the access away")

    def handle(
        self, *args: Any, login: str, github_id: int | None, undo: bool, **options: Any
    ) -> None:
        people = _operators() if undo else User.objects.all()
        found = people.filter(membership__login__iexact=login)
        if github_id is not None:
            found = found.filter(membership__github_id=github_id)
        if undo and not found and github_id is None:  # their organization was deleted
            found = people.filter(username__iexact=login)
        if undo and not found:
            raise CommandError(_who_is_instead(login))
        if not found:
            this = f" with the account {github_id}" if github_id is not None else ""
            raise CommandError(
                f"{login} has not signed in{this} yet. They have to sign in at /login/ first."
            )
        if len(found) > 1:
            raise CommandError(
                f"More than one account had the login {login}. Each of them has to sign in again, so "
                "that the Hub learns its current login; or add the --github-id of the right one."
            )
        if not undo and github_id is None:
            _refuse_old_login(login, found[0])
        person = found[0]
        User.objects.filter(pk=person.pk).update(is_staff=not undo, is_superuser=not undo)
        now = "is no longer" if undo else "is"
        self.stdout.write(f"{login} {now} an operator of this Hub: {_account(person)}.")


def _operators() -> QuerySet[User]:
    return User.objects.filter(Q(is_staff=True) | Q(is_superuser=True)).order_by("pk")


def _who_is_instead(login: str) -> str:
    """That nobody is an operator by this login, and who is: people can change theirs on GitHub."""
    known = ", ".join(f"{_login(each)} ({_account(each)})" for each in _operators())
    return (
        f"No operator of this Hub has the login {login}, or that account. "
        f"The operators are: {known or 'nobody'}."
    )


def _login(user: User) -> str:
    own = Membership.objects.filter(user=user).first()
    return own.login if own else user.username


def _account(user: User) -> str:
    own = Membership.objects.filter(user=user).first()
    return f"the GitHub account {own.github_id}" if own else "an account without an organization"


def _refuse_old_login(login: str, user: User) -> None:
    """Raise `CommandError` if the login may be somebody else's by now: people can change it on GitHub."""
    last = user.last_login
    if last and last > timezone.now() - JUST:
        return
    number = user.membership.github_id
    raise CommandError(
        f"{login} was last the login of the GitHub account {number}, and may be another's by now. They have to "
        f"sign in again at /login/ first; or see who has it on GitHub (`id` in its API's answer to "
        f"/users/{login}), and if that is {number}, add --github-id {number}."
    )
