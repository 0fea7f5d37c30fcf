"""The members of an organization, and their roles."""

from django.db import transaction
from django.db.models import QuerySet

from core.errors import ApiError
from orgs.models import Domain, Invitation, Membership, Organization, User
from orgs.people import tokens

TRIES = 5  # at locking the organization of somebody who moves to another one meanwhile


class NotAnOwner(ApiError):
    """403: only owners may do that."""

    status_code = 403
    default_code = "not_an_owner"
    default_detail = "Only owners can do that. Ask one of them."


class LastOwner(ApiError):
    """409: an organization needs an owner."""

    status_code = 409
    default_code = "last_owner"


class AlreadyAMember(ApiError):
    """409: the person already has this role."""

    status_code = 409
    default_code = "already_a_member"


class NoSuchMember(ApiError):
    """404: the person is not a member."""

    status_code = 404
    default_code = "not_found"
    default_detail = "They are no longer a member of your organization."


class Moved(ApiError):
    """409: the person has moved from one organization to another again and again."""

    status_code = 409
    default_code = "moved"
    default_detail = "You have just moved to another organization. Reload the page."


class OrganizationLeft(ApiError):
    """404: the organization is being deleted."""

    status_code = 404
    default_code = "not_found"
    default_detail = "Your organization has just been deleted."


@transaction.atomic
def welcome(user: User, *, github_id: int, login: str) -> Membership:
    """The membership of somebody who has just signed in with this GitHub account.

    An account without one becomes the owner of a new organization. The login is updated, since people
    can change it on GitHub.
    """
    locked = Membership.objects.select_for_update(no_key=True)
    membership = locked.filter(github_id=github_id).first()
    if membership is None:
        organization = Organization.objects.create(name=login)
        membership = Membership(
            organization=organization, github_id=github_id, role=Membership.Role.OWNER
        )
    membership.user, membership.login = user, login
    membership.save()
    if user.username != login:
        _name(user, login)
    return membership


def _name(user: User, login: str) -> None:
    """Give an account the login that GitHub has just told, and whoever had it before another name until they return.

    GitHub's logins are the same in upper and lower case.
    """
    for former in User.objects.filter(username__iexact=login).exclude(pk=user.pk):
        User.objects.filter(pk=former.pk).update(username=f"{login}, formerly ({former.pk})")
    User.objects.filter(pk=user.pk).update(username=login)


@transaction.atomic
def remove(membership: Membership, *, by: Membership) -> None:
    """Remove a member: an owner removes anybody, others only themselves.

    An account always belongs to exactly one organization, so it moves to a new one of its own. Raises
    `NotAnOwner`, `LastOwner`, `NoSuchMember`.
    """
    gone = _member(membership, by.organization)
    if gone.pk != by.pk:
        require_owner(by)
    _require_another_owner(gone)
    Domain.objects.tell_that_they_stay(gone)
    if gone.user_id is None:
        gone.delete()
    else:
        go_alone(gone)


def go_alone(membership: Membership) -> None:
    """Move a member to a new, empty organization, as its owner."""
    _withdraw_invitations_by(membership)
    move(membership, Organization.objects.create(name=membership.login), Membership.Role.OWNER)


def move(membership: Membership, organization: Organization, role: str) -> None:
    """Move a member to another organization, without the tokens and terminals that were made for this one."""
    membership.organization, membership.role = organization, role
    membership.save(update_fields=["organization", "role"])
    if membership.user:
        tokens.revoke_all(membership.user)


@transaction.atomic
def change_role(membership: Membership, role: str, *, by: Membership) -> None:
    """Give a member another role. Raises `NotAnOwner`, `NoSuchMember`, `AlreadyAMember`, `LastOwner`."""
    changed = _member(membership, by.organization)
    require_owner(by)
    if changed.role == role:
        raise AlreadyAMember(f"{changed.login} is already {in_words(role)}.")
    _require_another_owner(changed)
    _withdraw_invitations_by(changed)
    changed.role = role
    changed.save(update_fields=["role"])


def require_owner(member: Membership) -> None:
    """Raise `NotAnOwner` unless the member is an owner now, and not deactivated."""
    owners = active(member.organization_id).filter(role=Membership.Role.OWNER)
    if not owners.filter(pk=member.pk).exists():
        raise NotAnOwner


def active(organization_id: str) -> QuerySet[Membership]:
    """The members of an organization whom no operator has deactivated."""
    return Membership.objects.filter(organization=organization_id).exclude(user__is_active=False)


def in_words(role: str) -> str:
    """A role with its article, for a sentence."""
    return "an owner" if role == Membership.Role.OWNER else "a member"


def lock(*organization_ids: str) -> None:
    """Lock organizations, so that their memberships change one at a time.

    If two owners leave at once, the second sees that the first is gone. Call it before a membership is
    locked; the rows are locked in the order of their ids.
    """
    locked = Organization.objects.select_for_update(no_key=True).filter(pk__in=organization_ids)
    list(locked.order_by("pk").values_list("pk"))


def lock_own(own: QuerySet[Membership], *organization_ids: str) -> None:
    """Lock the organization that a membership is in, with others.

    If the membership moves to another one meanwhile, that one is locked instead. Raises `Moved`.
    """
    for _ in range(TRIES):
        with transaction.atomic():
            mine = list(own.values_list("organization", flat=True))
            lock(*mine, *organization_ids)
            if mine == list(own.values_list("organization", flat=True)):
                return
            transaction.set_rollback(True)  # unlocks them, since all are locked in one order
    raise Moved


def lock_to_delete(memberships: QuerySet[Membership]) -> None:
    """Lock memberships of an organization that is locked: nobody signs in to one, or refers to one, meanwhile."""
    list(memberships.select_for_update(of=("self",)).order_by("pk").values_list("pk"))


def lock_for_claim(organization: Organization) -> None:
    """Lock an organization that claims something: nothing is claimed for one that has no people.

    Raises `OrganizationLeft`.
    """
    lock(organization.pk)
    if not Organization.objects.filter(pk=organization.pk, left_at=None).exists():
        raise OrganizationLeft


def _member(membership: Membership, organization: Organization) -> Membership:
    """The membership, locked. Raises `NoSuchMember`."""
    lock(organization.pk)
    locked = Membership.objects.select_for_update(no_key=True)
    found = locked.filter(pk=membership.pk, organization=organization).first()
    if found is None:
        raise NoSuchMember
    return found


def is_last_owner(membership: Membership) -> bool:
    """Whether the organization would have no owner without this one who can sign in."""
    owners = active(membership.organization_id).filter(role=Membership.Role.OWNER)
    return membership.role == Membership.Role.OWNER and not (
        owners.exclude(pk=membership.pk).exists()
    )


def _require_another_owner(membership: Membership) -> None:
    if is_last_owner(membership):
        raise LastOwner(
            f"{membership.login} is the last owner. Make somebody else an owner first, or delete "
            "the account, which deletes the organization too."
        )


def _withdraw_invitations_by(membership: Membership) -> None:
    """Delete the invitations of somebody who is no longer an owner."""
    Invitation.objects.filter(invited_by=membership).delete()
