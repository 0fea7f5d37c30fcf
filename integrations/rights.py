"""Who may still push to the repository that an organization's issues go to.

GitHub is asked with the app's own token, and its answers count for account numbers, never for
logins alone. That it could not be asked is an exception, and held against nobody.
"""

from collections.abc import Iterator, Sequence

from django.db import transaction

from integrations import github_api, holds
from integrations.asking import deadline
from integrations.github_api import Person, Reached
from integrations.models import Integration
from orgs.models import Membership

MOST = 100  # members of an organization that are asked about
TOGETHER = 10  # of them, where the first has no push right
LONGEST_LOOK = 30  # seconds, at one integration


def look(integration: Integration, reached: Reached) -> None:
    """Ask for a member with push right; write down whose it is, or that it is nobody's.

    Raises `github_api.GitHubError` where GitHub could not be asked; then nothing is written.
    """
    members = people(integration)
    found = somebody(members, reached, deadline=deadline(LONGEST_LOOK))
    with transaction.atomic():
        unmoved = Integration.objects.select_for_update().filter(
            repository_id=reached.repository.id
        )
        now = unmoved.filter(pk=integration.pk).first()
        if now is None:  # another repository was chosen meanwhile
            return
        if found:
            _follow_login(found)
            holds.rights_are_of(now, found.github_id)
        else:
            holds.rights_are_nobodys(now)


def people(integration: Integration) -> list[Person]:
    """The members of its organization: who had push right last comes first, then the owners."""
    members = Membership.objects.filter(organization=integration.organization_id)
    columns = members.order_by("-role", "pk").values_list("github_id", "login")
    found = [Person(*each) for each in columns]
    return sorted(found, key=lambda each: each.github_id != integration.rights_of)[:MOST]


def somebody(people: Sequence[Person], reached: Reached, *, deadline: float) -> Person | None:
    """The first of `people` who may push to the repository; no more are asked about after that."""
    for some in _first_alone(people):
        for right in github_api.rights(reached, some, deadline=deadline):
            if right.pushes:
                return right.person
    return None


def _first_alone(people: Sequence[Person]) -> Iterator[Sequence[Person]]:
    yield people[:1]
    for first in range(1, len(people), TOGETHER):
        yield people[first : first + TOGETHER]


def _follow_login(person: Person) -> None:
    """GitHub lets people change their login, and wants to be asked by it."""
    known = Membership.objects.filter(github_id=person.github_id)
    known.exclude(login=person.login).update(login=person.login)
