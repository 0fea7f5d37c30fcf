"""Adding somebody to an organization by their GitHub login."""

import re

from django.db import IntegrityError, transaction

from integrations import asking, github_api
from integrations.models import Integration
from orgs import members
from orgs.errors import ApiError
from orgs.models import Membership, Organization
from reports.models import Report

LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98}[A-Za-z0-9])?")


class NoSuchAccount(ApiError):
    status_code = 422
    default_code = "no_such_account"


class BelongsElsewhere(ApiError):
    status_code = 409
    default_code = "belongs_elsewhere"


def invite(login: str, *, role: str, by: Membership) -> Membership:
    """Offer the GitHub account a place in the organization of `by`, an owner; or another role there.

    They have to agree at their next visit. Whoever is alone in an empty organization gives it up
    for the question; any other one has to be left first. Raises the errors above, those of
    `orgs.members`, or `asking.CodeHostUnavailable`.
    """
    members.require_owner(by)
    account = _account(login, by.organization)
    try:
        return _place(account, role, by)
    except IntegrityError:  # of two invitations at once, the other one came first
        raise members.AlreadyAMember(f"{account.login} was added a moment ago.") from None


@transaction.atomic
def _place(account: github_api.Person, role: str, by: Membership) -> Membership:
    organization = by.organization
    known = Membership.objects.select_for_update().filter(github_id=account.github_id).first()
    if known and known.organization_id == organization.pk:
        members.change_role(known, role, by=by)
        return known
    former = _leave_behind(known) if known else None
    membership = known or Membership(github_id=account.github_id)
    membership.organization, membership.role = organization, role
    membership.login, membership.invited_by = account.login, by.login
    membership.save()
    if former:
        former.delete()
    return membership


def _account(login: str, organization: Organization) -> github_api.Person:
    """The person of that login, by GitHub's word."""
    login = login.strip().removeprefix("@")
    found = None
    if LOGIN.fullmatch(login):
        known = Integration.objects.filter(organization=organization)
        installation_id = known.values_list("installation__github_id", flat=True).first()
        with asking.github(organization) as deadline:
            found = github_api.person(login, installation_id=installation_id, deadline=deadline)
    if found is None:
        raise NoSuchAccount(f"GitHub knows nobody called {login[:100]}. Check the spelling.")
    return found


def _leave_behind(known: Membership) -> Organization:
    """The organization that goes when its only member moves; raises where it is not empty."""
    former = Organization.objects.select_for_update().get(pk=known.organization_id)
    if not _is_empty(former):
        raise BelongsElsewhere(
            f"{known.login} belongs to another organization of this Hub, which is in use. They "
            "leave it in Settings, Account; then add them again."
        )
    return former


def _is_empty(organization: Organization) -> bool:
    """Whether nothing would be lost with it: one member, and nothing set up or received."""
    return not (
        organization.memberships.count() > 1
        or organization.domains.exists()
        or organization.sites.exists()
        or Integration.objects.filter(organization=organization).exists()
        or Report.objects.filter(organization=organization).exists()
    )
