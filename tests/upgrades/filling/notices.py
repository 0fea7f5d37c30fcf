"""What an organization is told, of each kind that nothing else in here makes."""

from core import clock
from hub.screen import inviting
from orgs.domains import claiming, verification
from orgs.domains.diagnosis import Finding
from orgs.models import Domain, Invitation
from orgs.people import members
from tests import build
from tests.upgrades.filling.world import Hub


def make(hub: Hub) -> None:
    """One loses its domain to another, and a name below one that it keeps; and who it had, and invites, goes."""
    team = hub.team("told")
    owner = build.member(team.organization, "told-owner").membership
    leaver = build.member(team.organization, "told-leaver", role="member").membership
    taker = build.member(build.organization("taker"), "taker").membership
    build.domain(team.organization, "told.com")
    for name in (team.domain, "below.told.com"):
        claim, _ = claiming.claim_domain(taker, name)
        holder = Domain.objects.verified().filter(name=name).first()
        found = Finding(frozenset({claim.record_value}), by_zone=True)
        verification.record(claim, found, holder)
    late, _ = claiming.claim_domain(leaver, "late.told.com")
    Domain.objects.filter(pk=late.pk).update(expires_at=clock.now())
    assert claiming.drop_expired() == 1
    ended, _ = claiming.claim_domain(leaver, "ended.told.com")
    members.remove(leaver, by=owner)
    assert claiming.remove_for_operator(ended)
    invitation = Invitation.objects.create(
        organization=team.organization,
        github_id=taker.github_id,
        login=taker.login,
        role="member",
        invited_by=owner,
    )
    inviting.decline(taker, invitation.pk)
