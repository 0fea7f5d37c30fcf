"""Deleting an account, and what is deleted with it.

An organization may have received any number of reports. So it first loses its claims and its people, in one
short transaction; then what it has is deleted a little at a time, and it itself at the end.
"""

import logging
import time
from collections.abc import Callable, Iterator
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from core import batches, clock
from orgs.models import (
    Domain,
    Invitation,
    Membership,
    Notice,
    Organization,
    Site,
    Terminal,
    User,
)
from orgs.models.signals import organization_left
from orgs.people import members

log = logging.getLogger(__name__)

LONGEST = 1  # seconds that a request goes on deleting; `maintain` does the rest


class NotConfirmed(Exception):
    """The typed name is not the name of what would be deleted."""


def organization_that_goes(user: User) -> Organization | None:
    """The organization that would have no owner left, and so is deleted too; None if there is none."""
    own = Membership.objects.select_related("organization").filter(user=user).first()
    return own.organization if own and members.is_last_owner(own) else None


def name_to_type(user: User) -> str:
    """The name to type to confirm: of the organization if it is deleted too, else the person's own."""
    if organization := organization_that_goes(user):
        return organization.name
    own = Membership.objects.filter(user=user).first()
    return own.login if own else user.username


def leave(user: User, name: str) -> None:
    """Delete an account with its tokens, and with its last owner the organization too.

    Everything that belongs to the organization is deleted: claims, integration, deliveries, and the
    accounts of its members; operators keep theirs, and so does whoever is deactivated, who could sign
    in anew without it. The reports that it has received stay, without its name. Raises `NotConfirmed`
    unless `name` is what `name_to_type` returns now, and `members.Moved`.
    """
    if organization := _leave(user, name):
        delete_abandoned(organization)


def abandon(organization: Organization) -> None:
    """Take claims, invitations and people from an organization that is locked: nobody has it any more."""
    for kind in (Membership, Invitation, Domain, Site):
        kind.objects.filter(organization=organization).delete()
    Organization.objects.filter(pk=organization.pk).update(left_at=clock.now())


def delete_abandoned(organization: Organization) -> None:
    """Delete it, after what it has, for a second at most; `maintain` does the rest. Not in a transaction."""
    until = time.monotonic() + LONGEST
    try:
        _delete_left(organization, lambda: time.monotonic() < until)
    except Exception:  # nobody has it any more, and `maintain` tries again
        log.exception("An organization that was left is not deleted yet")


def delete_left(go_on: Callable[[], bool] = lambda: True) -> int:
    """Delete what `leave` has left of organizations, while `go_on` returns True; returns how many rows.

    In random order, so that a long one does not delay the others.
    """
    left = Organization.objects.exclude(left_at=None).order_by("?")
    return sum(_delete_left(each, go_on) for each in left)


@transaction.atomic
def _leave(user: User, name: str) -> Organization | None:
    """Delete the account; returns the organization if it goes, too, which then has no claims and no members."""
    own = Membership.objects.filter(user=user)
    members.lock_own(own)
    if name != name_to_type(user):
        raise NotConfirmed(f"Type {name_to_type(user)} to delete it.")
    organization = organization_that_goes(user)
    members.lock_to_delete(organization.memberships.all() if organization else own)
    if organization:
        stays = Q(user__is_staff=True) | Q(user__is_active=False)
        for each in organization.memberships.filter(stays).exclude(user=user):
            members.go_alone(each)
        _delete(User.objects.filter(membership__organization=organization))
        abandon(organization)
    else:
        for mine in own.select_related("organization"):
            Domain.objects.tell_that_they_stay(mine)
    own.delete()
    _delete(User.objects.filter(pk=user.pk))
    return organization


def _delete_left(organization: Organization, go_on: Callable[[], bool]) -> int:
    return sum(batches.at_leisure(go_on, _deleted(organization)))


def _deleted(organization: Organization) -> Iterator[int]:
    """Delete it, after what the apps above have of it; yields how many rows in each batch."""
    receivers: Any = organization_left.send(Organization, organization=organization)
    for _, rows in reversed(
        receivers
    ):  # the apps above go first, and with them what is still to be sent
        yield from rows
    notices = organization.notices.order_by().values_list("pk", flat=True)
    while pks := list(notices[: batches.BATCH]):
        yield Notice.objects.filter(pk__in=pks).delete()[0]
    organization.delete()
    yield 1


def _delete(users: QuerySet[User]) -> None:
    """Delete accounts, locked, with their tokens: one that is made meanwhile is deleted too, or fails.

    Their terminals go first, since replacing a terminal's tokens locks it before the account.
    """
    Terminal.objects.filter(user__in=users).sign_out()
    list(users.select_for_update(of=("self",)).order_by("pk").values_list("pk"))
    users.delete()
