"""Deleting an account, and what is deleted with it."""

from django.db import transaction
from django.db.models import Q, QuerySet

from orgs.models import Membership, Organization, Terminal, User
from orgs.people import members


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


@transaction.atomic
def leave(user: User, name: str) -> None:
    """Delete an account with its tokens, and with its last owner the organization too.

    Everything that belongs to the organization is deleted: claims, integration, deliveries, and the
    accounts of its members; operators keep theirs, and so does whoever is deactivated, who could sign
    in anew without it. The reports that it has received stay, without its name. Raises `NotConfirmed`
    unless `name` is what `name_to_type` returns now.
    """
    _wait_for_others_who_leave(user)
    if name != name_to_type(user):
        raise NotConfirmed(f"Type {name_to_type(user)} to delete it.")
    if organization := organization_that_goes(user):
        stays = Q(user__is_staff=True) | Q(user__is_active=False)
        for each in organization.memberships.filter(stays).exclude(user=user):
            members.go_alone(each)
        _delete(User.objects.filter(membership__organization=organization))
        organization.delete()
    Membership.objects.filter(user=user).delete()
    _delete(User.objects.filter(pk=user.pk))


def _delete(users: QuerySet[User]) -> None:
    """Delete accounts; their terminals first, so that none of them gets new tokens meanwhile."""
    Terminal.objects.filter(user__in=users).sign_out()
    users.delete()


def _wait_for_others_who_leave(user: User) -> None:
    """Lock the organization: if two owners leave at once, the second sees that the first is gone."""
    Organization.objects.select_for_update(of=("self",)).filter(memberships__user=user).first()
