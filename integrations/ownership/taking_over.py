"""Claiming a site that another organization has, whose members have no right in it any more."""

from typing import NamedTuple

from django.db import transaction

from core import clock
from integrations import github_api
from integrations.delivery import holds, ownership_changes
from integrations.github_api import Person, asking
from integrations.models import Integration
from integrations.ownership import push_access, site_claims
from integrations.ownership.site_claims import Address, ClaimedElsewhere, NotConfigured
from orgs.models import Membership, Site


class Proof(NamedTuple):
    """GitHub has said that a member administers the integration's repository, and none of `asked` pushes to it."""

    integration: Integration
    held: Site
    asked: frozenset[int]  # the GitHub ids of the holder's members


def claim_site(member: Membership, url: str) -> tuple[Site, bool]:
    """The verified claim of the site at `url` for the member's organization, and whether it is new.

    As `sites.claim_site`; but a site that another organization has passes on, where GitHub says now
    that `member` administers the repository that publishes it, and that no member of the other may
    push there. Raises as that does, or as `asking.github` does; then nothing has changed.
    """
    try:
        return site_claims.claim_site(member.organization, url)
    except ClaimedElsewhere:
        where = site_claims.address(url)
    if proof := _proof(member, where):
        return _taken_over(member, where, proof), True
    return site_claims.claim_site(member.organization, url)  # it was given up at this moment


def _proof(member: Membership, where: Address) -> Proof | None:
    """What GitHub says now; None where nobody else has the site any more."""
    configured = Integration.objects.configured().select_related("installation")
    integration = configured.filter(organization=member.organization_id).first()
    if integration is None:
        raise NotConfigured
    path = where.path_of(integration.repository)
    others = Site.objects.live().exclude(organization=member.organization_id)
    held = others.filter(host=where.host, path=path).first()
    if held is None:
        return None
    theirs = push_access.some_members(held.organization_id)
    _ask(member, integration, where.repository, theirs.people)
    if theirs.last:
        raise ClaimedElsewhere(
            f"Another organization of this Hub has claimed that site, and has more than "
            f"{push_access.MOST} members, too many to ask GitHub about at once. Where none of them may "
            "push, their claim lapses by itself in about a week. Or ask them to remove it."
        )
    return Proof(integration, held, frozenset(each.github_id for each in theirs.people))


def _ask(
    member: Membership, integration: Integration, publisher: str, theirs: list[Person]
) -> None:
    """Raises `ClaimedElsewhere`, with the way, unless all is proved."""
    me = Person(member.github_id, member.login)
    with asking.github(member.organization, through=integration.installation) as deadline:
        reached = push_access.reach(integration, deadline=deadline)
        if reached is None or reached.repository.full_name.lower() != publisher.lower():
            raise NotConfigured(
                f"The app does not reach {publisher} any more. Look at the integration."
            )
        if not github_api.rights(reached, [me], deadline=deadline)[0].administers:
            raise ClaimedElsewhere
        if push_access.somebody(theirs, reached, deadline=deadline):
            raise ClaimedElsewhere(
                f"Another organization of this Hub has claimed that site, and a member of theirs "
                f"may push to {publisher}. Ask them to remove their claim, or to let you join; or "
                "take that right away at GitHub, and claim the site again."
            )


@transaction.atomic
def _taken_over(member: Membership, where: Address, proof: Proof) -> Site:
    """The claim passes on, if all that GitHub was asked about is still so; both are told."""
    mine = site_claims.configured(member.organization)
    if mine.repository_id != proof.integration.repository_id:
        raise NotConfigured("The repository was changed meanwhile. Look at the integration.")
    if not Membership.objects.filter(pk=member.pk, organization=mine.organization_id).exists():
        raise NotConfigured("You do not belong to this organization any more.")
    held = Site.objects.live().select_for_update(of=("self",)).filter(pk=proof.held.pk)
    if other := held.select_related("organization").first():
        _let_go(other, mine, proof.asked)
        member.organization.tell(
            f"{other.url} has passed on to you from another organization, none of whose members may "
            f"push to {mine.repository} any more."
        )
    site, _ = site_claims.verified(mine.organization, where, mine.repository)
    ownership_changes.release_regained(mine.organization)
    return site


def _let_go(site: Site, mine: Integration, asked: frozenset[int]) -> None:
    """It lapses for an organization whose members may not push any more."""
    theirs = site.organization
    if theirs.memberships.exclude(github_id__in=asked).exists():
        raise ClaimedElsewhere  # somebody has joined it meanwhile
    Site.objects.filter(pk=site.pk).update(lapsed_at=clock.now())
    theirs.tell(
        f"{site.url} has passed on: another organization has proved that {mine.repository} is "
        "theirs, where no member of yours may push any more. Reports about it no longer come to you."
    )
    ownership_changes.hold_lost(theirs)
    same = Integration.objects.select_for_update().filter(organization=theirs)
    if integration := same.filter(repository_id=mine.repository_id).first():
        holds.record_push_access_missing(integration)
