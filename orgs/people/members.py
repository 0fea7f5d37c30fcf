"""Who belongs to an organization."""

from django.db import transaction

from core.errors import ApiError
from orgs.models import Invitation, Membership, Organization, User


class NotAnOwner(ApiError):
    status_code = 403
    default_code = "not_an_owner"
    default_detail = "Only an owner may do that. Ask one of them."


class LastOwner(ApiError):
    status_code = 409
    default_code = "last_owner"


class AlreadyAMember(ApiError):
    status_code = 409
    default_code = "already_a_member"


class NoSuchMember(ApiError):
    status_code = 404
    default_code = "not_found"
    default_detail = "They do not belong to your organization any more."


@transaction.atomic
def welcome(user: User, *, github_id: int, login: str) -> Membership:
    """The place of somebody who has just signed in with this GitHub account.

    The one that the account has; else it owns a new organization. GitHub lets people change their
    login, so it is taken over.
    """
    membership = Membership.objects.select_for_update().filter(github_id=github_id).first()
    if membership is None:
        organization = Organization.objects.create(name=login)
        membership = Membership(
            organization=organization, github_id=github_id, role=Membership.Role.OWNER
        )
    membership.user, membership.login = user, login
    membership.save()
    if user.username != login and not User.objects.filter(username=login).exists():
        User.objects.filter(pk=user.pk).update(username=login)
    return membership


@transaction.atomic
def remove(membership: Membership, *, by: Membership) -> None:
    """Let a member go: themselves, or sent away by an owner.

    Whoever has an account goes on in a new organization of their own, since an account belongs to
    exactly one. Raises `NotAnOwner`, `LastOwner`, `NoSuchMember`.
    """
    gone = _member(membership, by.organization)
    if gone.pk != by.pk:
        require_owner(by)
    _require_another_owner(gone)
    if gone.user_id is None:
        gone.delete()
    else:
        go_alone(gone)


def go_alone(membership: Membership) -> None:
    """On, as the owner of a new and empty organization."""
    _withdraw_invitations_by(membership)
    membership.organization = Organization.objects.create(name=membership.login)
    membership.role = Membership.Role.OWNER
    membership.save(update_fields=["organization", "role"])


@transaction.atomic
def change_role(membership: Membership, role: str, *, by: Membership) -> None:
    """Raises `NotAnOwner`, `NoSuchMember`, `AlreadyAMember` where it is so already, `LastOwner`."""
    changed = _member(membership, by.organization)
    require_owner(by)
    if changed.role == role:
        raise AlreadyAMember(f"{changed.login} is {in_words(role)} already.")
    _require_another_owner(changed)
    _withdraw_invitations_by(changed)
    changed.role = role
    changed.save(update_fields=["role"])


def require_owner(member: Membership) -> None:
    """Raises `NotAnOwner` where the member is none, or none any more."""
    owners = Membership.objects.filter(role=Membership.Role.OWNER)
    if not owners.filter(pk=member.pk, organization=member.organization_id).exists():
        raise NotAnOwner


def in_words(role: str) -> str:
    return "an owner" if role == Membership.Role.OWNER else "a member"


def lock(*organization_ids: str) -> None:
    """Membership changes one at a time: of two owners who go at once, the second sees the first gone.

    Always before a membership is locked, and in one order.
    """
    locked = Organization.objects.select_for_update().filter(pk__in=organization_ids)
    list(locked.order_by("pk").values_list("pk"))


def _member(membership: Membership, organization: Organization) -> Membership:
    lock(organization.pk)
    found = Membership.objects.filter(pk=membership.pk, organization=organization).first()
    if found is None:
        raise NoSuchMember
    return found


def _require_another_owner(membership: Membership) -> None:
    others = Membership.objects.filter(
        organization=membership.organization_id, role=Membership.Role.OWNER
    ).exclude(pk=membership.pk)
    if membership.role == Membership.Role.OWNER and not others.exists():
        raise LastOwner(
            f"{membership.login} is the last owner. Make somebody else an owner first, or delete "
            "the organization with the account."
        )


def _withdraw_invitations_by(membership: Membership) -> None:
    """Nobody comes in on the word of somebody who is no owner any more."""
    Invitation.objects.filter(invited_by=membership).delete()
