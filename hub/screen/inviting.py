"""Invitations of GitHub accounts to an organization, and the answers to them."""

import re
from contextlib import suppress

from django.db import transaction
from django.db.models import QuerySet

from core.errors import ApiError
from integrations import github_api
from integrations.github_api import asking
from integrations.models import Integration
from orgs.models import Invitation, Membership, Notice, Organization
from orgs.people import counted, leaving, members
from reports.models import Report

NAMELESS = "5/hour"  # look-ups without an installation; GitHub allows 60 for all of the Hub
MOST = 100  # open invitations of one organization; its page shows all of them
LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98}[A-Za-z0-9])?")


class NoSuchAccount(ApiError):
    """422: GitHub has no user with that login."""

    status_code = 422
    default_code = "no_such_account"


class TooManyInvitations(ApiError):
    """409: the organization has as many open invitations as it may have."""

    status_code = 409
    default_code = "too_many_invitations"
    default_detail = (
        f"{MOST} of your invitations are not answered yet. Withdraw some of them first."
    )


class InUse(ApiError):
    """409: the person has an organization that is in use."""

    status_code = 409
    default_code = "organization_in_use"


class Withdrawn(ApiError):
    """409: the invitation was withdrawn or changed."""

    status_code = 409
    default_code = "withdrawn"
    default_detail = "This invitation was withdrawn or changed. Reload the page."


def invite(login: str, *, role: str, by: Membership) -> Invitation:
    """Invite a GitHub account to the organization of `by`, an owner; if it is invited already, change the role.

    Nothing else changes before it is accepted. Raises the errors above, those of `orgs.people.members`,
    or those of `asking.github`.
    """
    members.require_owner(by)
    account = _account(login, by)
    with transaction.atomic():
        members.lock(by.organization_id)
        members.require_owner(by)  # the role may have changed while GitHub was asked
        known = by.organization.memberships.filter(github_id=account.github_id).first()
        if known:
            raise members.AlreadyAMember(
                f"{known.login} is already {members.in_words(known.role)}."
            )
        others = by.organization.invitations.exclude(github_id=account.github_id)
        if others[MOST - 1 : MOST].exists():
            raise TooManyInvitations
        invitation, _ = Invitation.objects.update_or_create(
            organization=by.organization,
            github_id=account.github_id,
            defaults={"login": account.login, "role": role, "invited_by": by},
        )
    return invitation


def of(membership: Membership) -> list[Invitation]:
    """The invitations that this person can answer."""
    mine = _open(membership).select_related("organization", "invited_by")
    return list(mine.order_by("pk"))


def join(membership: Membership, invitation_id: int, role: str) -> Organization:
    """Accept an invitation with the role that the person saw; returns the organization.

    Their own organization is deleted if it is empty, and so are the person's tokens and terminals,
    which were made for it. Raises `Withdrawn`, `InUse`, `members.Moved`.
    """
    former = _join(membership, invitation_id, role)
    leaving.delete_abandoned(former)
    return membership.organization


@transaction.atomic
def _join(membership: Membership, invitation_id: int, role: str) -> Organization:
    """The same; returns the organization that the person has left, which has still to be deleted."""
    seen = _answered(membership, invitation_id)
    own = Membership.objects.filter(pk=membership.pk)
    members.lock_own(own, seen.organization_id)
    invitation = _answered(membership, invitation_id, lock=True)  # it may have changed meanwhile
    if role != invitation.role:  # compared here, since a browser may send what no column takes
        raise Withdrawn
    membership.refresh_from_db()
    former = membership.organization
    if not _is_empty(former):
        raise InUse(
            f"You are a member of {former.name}, which is in use, and can belong to only one "
            "organization. Leave it first, under Settings, Account."
        )
    members.move(membership, invitation.organization, invitation.role)
    invitation.delete()
    leaving.abandon(former)
    return former


@transaction.atomic
def decline(membership: Membership, invitation_id: int) -> Organization:
    """Decline an invitation, and tell the organization. Raises `Withdrawn`."""
    invitation = _answered(membership, invitation_id)
    _end(invitation)
    invitation.organization.tell(
        Notice.Kind.DECLINED, f"{membership.login} has declined the invitation."
    )
    return invitation.organization


def withdraw(invitation: Invitation, *, by: Membership) -> None:
    """Withdraw an invitation. Raises `members.NotAnOwner`, `Withdrawn`."""
    members.require_owner(by)
    _end(invitation)


def _end(invitation: Invitation) -> None:
    """Delete it. Raises `Withdrawn` if that was done meanwhile: it may have been accepted."""
    deleted, _ = invitation.delete()
    if not deleted:
        raise Withdrawn


def _answered(membership: Membership, invitation_id: int, *, lock: bool = False) -> Invitation:
    """The invitation as it is now. Lock its organization first."""
    mine = _open(membership).filter(pk=invitation_id)
    if lock:
        mine = mine.select_for_update(of=("self",))
    invitation = mine.select_related("organization").first()
    if invitation is None:
        raise Withdrawn
    return invitation


def _open(membership: Membership) -> QuerySet[Invitation]:
    """The invitations of this person by owners who are not deactivated."""
    return Invitation.objects.filter(
        github_id=membership.github_id, invited_by__user__is_active=True
    )


def _account(login: str, by: Membership) -> github_api.Person:
    """The GitHub user with that login. Raises `NoSuchAccount`."""
    login = login.strip().removeprefix("@")
    found = _found(login, by) if LOGIN.fullmatch(login) else None
    if found is None:
        raise NoSuchAccount(f"There is no GitHub user {login[:100]}. Check the spelling.")
    return found


def _found(login: str, by: Membership) -> github_api.Person | None:
    """Asks as the installation; without one, or if it is suspended, as nobody, which is counted apart."""
    known = Integration.objects.select_related("installation").of(by.organization_id).first()
    if known:
        here, number = known.installation, known.installation.github_id
        with asking.github(by, through=here) as deadline, suppress(github_api.Suspended):
            return github_api.person(login, installation_id=number, deadline=deadline)
    limits = counted.limits(by, NAMELESS, "nameless")
    with asking.github(by, also=limits, what="names to look up") as deadline:
        return github_api.person(login, installation_id=None, deadline=deadline)


def _is_empty(organization: Organization) -> bool:
    """Whether nothing would be lost with it: one member, and nothing set up or received."""
    return not (
        organization.memberships.count() > 1
        or organization.domains.exists()
        or organization.sites.exists()
        or Integration.objects.of(organization).exists()
        or Report.objects.filter(organization=organization).exists()
    )
