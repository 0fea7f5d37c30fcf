"""Claiming a site of another organization whose members no longer have push access."""

from collections.abc import Sequence
from typing import NamedTuple, cast

from django.db import transaction

from core import clock
from integrations import github_api
from integrations.delivery import holds, ownership_changes
from integrations.github_api import Person, asking
from integrations.models import Integration
from integrations.ownership import other_claims, push_access, site_claims
from integrations.ownership.site_claims import ClaimedElsewhere, NotConfigured, SiteAddress
from orgs.models import Membership, Notice, Site
from orgs.people import members


class Proof(NamedTuple):
    """GitHub's word that a member is an admin of the repository, and none of `asked` has push access."""

    integration: Integration
    held: Site | None  # none if only a repository that had this name before stands in the way
    asked: frozenset[int]  # the GitHub ids of the other organization's members


def claim_site(member: Membership, url: str) -> tuple[Site, bool]:
    """The verified claim of the site at `url` for the member's organization, and whether it is new.

    As `site_claims.claim_site`, but a site that another organization has claimed is taken over if GitHub
    says that `member` is an admin of the repository that publishes it, and that no member of the other
    organization has push access. Raises as that does, or as `asking.github` does; then nothing changes.
    """
    try:
        return site_claims.claim_site(member.organization, url)
    except ClaimedElsewhere:
        where = site_claims.address(url)
    if proof := _proof(member, where):
        return _taken_over(member, where, proof), True
    return site_claims.claim_site(member.organization, url)  # it has just been removed


def _proof(member: Membership, where: SiteAddress) -> Proof | None:
    """What GitHub says now; None if nobody else has claimed the site any more."""
    configured = Integration.objects.configured().select_related("installation")
    integration = configured.of(member.organization_id).first()
    if integration is None:
        raise NotConfigured
    held = other_claims.in_the_way(integration, where.claimed_with(integration))
    if not held:
        if not _has_namesakes(where, integration):
            return None
        _ask(member, integration, where)
        return Proof(integration, None, frozenset())
    theirs = push_access.some_members(held.organization_id)
    _ask(member, integration, where, held, theirs.people)
    if theirs.last:
        raise ClaimedElsewhere(
            f"Another organization on this Hub has claimed that {where.words}. It has more than "
            f"{push_access.MOST} members, too many to check on GitHub at once. If none of them has "
            "push access, its claim lapses in about a week. You can also ask them to remove it."
        )
    return Proof(integration, held, frozenset(each.github_id for each in theirs.people))


def _has_namesakes(where: SiteAddress, integration: Integration) -> bool:
    """Whether a repository that had this name before is claimed by it."""
    number = cast(int, integration.repository_id)
    others = site_claims.namesakes(integration.organization, number, where.repository)
    return where.is_repository and others.exists()


def _ask(
    member: Membership,
    integration: Integration,
    where: SiteAddress,
    held: Site | None = None,
    theirs: Sequence[Person] = (),
) -> None:
    """Raise `ClaimedElsewhere`, saying what to do, unless everything is proved.

    Without `held`, nobody else has claimed this repository: then only its name is asked about.
    """
    me, publisher = Person(member.github_id, member.login), where.repository
    with asking.github(member, through=integration.installation) as deadline:
        reached = push_access.reach(integration, deadline=deadline)
        if reached is None or reached.repository.full_name.lower() != publisher.lower():
            raise NotConfigured(f"The app can no longer see {publisher}. Check your integration.")
        if held is None:
            return
        if not github_api.rights(reached, [me], deadline=deadline)[0].administers:
            raise ClaimedElsewhere.of(where, held)
        if push_access.somebody(theirs, reached, deadline=deadline):
            raise ClaimedElsewhere(
                f"Another organization on this Hub has claimed that {where.words}, and one of its members "
                f"has push access to {publisher}. Ask them to remove their claim, or to invite you; or "
                f"remove that access on GitHub, and claim the {where.words} again."
            )


@transaction.atomic
def _taken_over(member: Membership, where: SiteAddress, proof: Proof) -> Site:
    """Move the claim if all that GitHub was asked about is still true; both organizations are told."""
    members.lock_for_claim(member.organization)
    if proof.held:  # both at once, since several are locked in one order
        both = [member.organization_id, proof.held.organization_id]
        Integration.objects.filter(organization__in=both).lock()
    mine = site_claims.configured(member.organization)
    asked = proof.integration
    if (mine.repository_id, mine.repository) != (asked.repository_id, asked.repository):
        raise NotConfigured("The repository was changed in the meantime. Check your integration.")
    if not members.active(mine.organization_id).filter(pk=member.pk).exists():
        raise NotConfigured("You are no longer a member of this organization.")
    if where.is_repository:
        site_claims.lapse_namesakes(
            mine.organization, cast(int, mine.repository_id), where.repository
        )
    other = other_claims.in_the_way(mine, where.claimed_with(mine))
    if other and other != proof.held:
        raise ClaimedElsewhere.of(where, other)
    if other:
        _let_go(other, mine, proof.asked)
        member.organization.tell(
            Notice.Kind.GAINED,
            f"{other.url} is now yours. Another organization had claimed it, but none of its members has "
            f"push access to {mine.repository} any more.",
        )
    site, _ = site_claims.verified(mine.organization, where, mine)
    ownership_changes.release_regained(mine.organization)
    return site


def _let_go(site: Site, mine: Integration, asked: frozenset[int]) -> None:
    """The claim of the other organization lapses."""
    theirs = site.organization
    if theirs.memberships.exclude(github_id__in=asked).exists():
        raise ClaimedElsewhere  # somebody has joined it in the meantime
    Site.objects.filter(pk=site.pk).update(lapsed_at=clock.now())
    theirs.tell(
        Notice.Kind.TAKEN,
        f"{site.url} now belongs to another organization, which has admin access to "
        f"{mine.repository}; none of your members has push access to it any more. You no longer "
        "receive reports about it.",
    )
    ownership_changes.hold_lost(theirs)
    same = Integration.objects.select_for_update(no_key=True).of(theirs)
    if integration := same.filter(repository_id=mine.repository_id).first():
        holds.record_push_access_missing(integration)
