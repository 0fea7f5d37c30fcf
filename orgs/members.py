"""Who belongs to an organization."""

from django.db import transaction

from orgs.errors import ApiError
from orgs.models import Membership, Organization, User


class NotAnOwner(ApiError):
    status_code = 403
    default_code = "not_an_owner"
    default_detail = "Only an owner adds and removes members. Ask one of them."


class LastOwner(ApiError):
    status_code = 409
    default_code = "last_owner"


class AlreadyAMember(ApiError):
    status_code = 409
    default_code = "already_a_member"


@transaction.atomic
def welcome(user: User, *, github_id: int, login: str) -> Membership:
    """The place of somebody who has just signed in with this GitHub account.

    The one that the account has, perhaps by an invitation that waits for a yes; else it owns a
    new organization.
    """
    membership = Membership.objects.select_for_update().filter(github_id=github_id).first()
    if membership is None:
        organization = Organization.objects.create(name=login)
        membership = Membership(
            organization=organization, github_id=github_id, role=Membership.Role.OWNER
        )
    membership.user, membership.login = user, login  # GitHub lets people change their login
    membership.save()
    return membership


@transaction.atomic
def remove(membership: Membership, *, by: Membership) -> None:
    """Let a member go: themselves, or sent away by an owner.

    Whoever has an account goes on in a new organization of their own, since an account belongs to
    exactly one. Raises `NotAnOwner`, `LastOwner`, `Membership.DoesNotExist`.
    """
    _lock(by.organization_id)
    gone = Membership.objects.get(pk=membership.pk, organization=by.organization_id)
    if gone.pk != by.pk:
        require_owner(by)
    _require_another_owner(gone)
    if gone.user_id is None:
        gone.delete()
    else:
        go_alone(gone)


def go_alone(membership: Membership) -> None:
    """On, as the owner of a new and empty organization."""
    membership.organization = Organization.objects.create(name=membership.login)
    membership.role, membership.invited_by = Membership.Role.OWNER, ""
    membership.save(update_fields=["organization", "role", "invited_by"])


def join(membership: Membership) -> None:
    """Agree to the invitation."""
    membership.invited_by = ""
    membership.save(update_fields=["invited_by"])


@transaction.atomic
def decline(membership: Membership) -> None:
    """Say no to the invitation, and go on alone."""
    membership.organization.tell(f"{membership.login} has declined the invitation.")
    go_alone(membership)


@transaction.atomic
def change_role(membership: Membership, role: str, *, by: Membership) -> None:
    """Raises `NotAnOwner`, `AlreadyAMember` where it is so already, and `LastOwner`."""
    _lock(by.organization_id)
    require_owner(by)
    membership.refresh_from_db()
    if membership.role == role:
        raise AlreadyAMember(f"{membership.login} is {in_words(role)} already.")
    _require_another_owner(membership)
    membership.role = role
    membership.save(update_fields=["role"])


def require_owner(member: Membership) -> None:
    """Raises `NotAnOwner` where the member is none, or none any more."""
    owners = Membership.objects.owners().filter(organization=member.organization_id)
    if not owners.filter(pk=member.pk).exists():
        raise NotAnOwner


def in_words(role: str) -> str:
    return "an owner" if role == Membership.Role.OWNER else "a member"


def _require_another_owner(membership: Membership) -> None:
    owners = Membership.objects.owners().filter(organization=membership.organization_id)
    if owners.filter(pk=membership.pk).exists() and owners.count() == 1:
        raise LastOwner(
            f"{membership.login} is the last owner. Make somebody else an owner first, or delete "
            "the organization with the account."
        )


def _lock(organization_id: str) -> None:
    """Of two owners who go at once, the second must see that the first has gone."""
    Organization.objects.select_for_update().filter(pk=organization_id).first()
