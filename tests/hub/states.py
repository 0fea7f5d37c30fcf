"""The states of an organization and of one of its reports, as members, operators and GitHub bring them about."""

from collections.abc import Callable
from datetime import timedelta
from typing import NamedTuple

from django.test import Client
from django.utils import timezone

from integrations.delivery import catching_up, holds, operator_holds
from integrations.delivery.forwarding import forward
from integrations.github_sync import reconciling
from integrations.models import Delivery, Hold, Integration
from integrations.setup import configuration
from orgs.models import Domain, Organization, PersonalToken, Site, User
from reports.erasing import erase
from sandbox import CodeHost
from tests import build


class World(NamedTuple):
    """acme, which is set up; what is about it by its place in an address; and the reports of the tables."""

    host: CodeHost
    acme: Organization
    alice: User
    ids: dict[str, str]
    claims: dict[str, str]
    earlier: str
    issue: str  # the address of another report's

    @property
    def delivery(self) -> Delivery:
        """Of the report that the tables are about."""
        return Delivery.objects.select_related("report").get(report=self.ids["report_id"])

    def change(self, **columns: object) -> None:
        """The columns of that delivery."""
        Delivery.objects.filter(report=self.ids["report_id"]).update(**columns)


def world(host: CodeHost) -> World:
    """GitHub has refused the report that the tables are about; bob is a member of acme, and dora is invited."""
    early = sent("https://docs.acme.com/early")
    acme = build.organization()
    build.integration(acme, host)
    domain, site = build.domain(acme, "docs.acme.com"), build.site(acme, "acme.github.io", "/docs/")
    alice = build.member(acme, github_id=host.account("alice").id)
    bob = build.member(acme, "bob", role="member").membership
    invited = acme.invitations.create(
        login="dora", github_id=next(build.github_ids), role="member", invited_by=alice.membership
    )
    build.token(alice)
    lead = sent("https://docs.acme.com/lead")
    host.fail("422")
    report = sent("https://docs.acme.com/install")
    ids = {
        "report_id": report,
        "name": domain.name,
        "site_id": site.pk,
        "member_id": bob.pk,
        "invitation_id": invited.pk,
        "token_id": PersonalToken.objects.get().pk,
        "terminal_id": build.terminal(alice).pk,
    }
    claims = {"domain": domain.pk, "site": site.pk}
    issue = Delivery.objects.get(report=lead).issue_url
    return World(host, acme, alice, ids, claims, early, issue)


def sent(page: str) -> str:
    return build.send(Client(), build.report(page, agent__name="agent-y")).json()["id"]


def heard(host: CodeHost) -> None:
    """GitHub was asked, and what follows is done."""
    reconciling.reconcile()
    catching_up.catch_up()


def paused(world: World) -> None:
    holds.pause(Integration.objects.get())


def archived(world: World) -> None:
    world.host.archive("acme/docs")
    heard(world.host)


def suspended(world: World) -> None:
    world.host.suspend(build.installed(world.host))
    heard(world.host)


def uninstalled(world: World) -> None:
    world.host.uninstall(build.installed(world.host))
    heard(world.host)


def without_push(world: World) -> None:
    world.host.remove_member("acme", "alice")
    now = timezone.now()
    Integration.objects.update(rights_absences=3, rights_absent_since=now, rights_lost_at=now)


def without_repository(world: World) -> None:
    configuration.forget(world.acme)


def without_app(world: World) -> None:
    Delivery.objects.all().delete()
    Integration.objects.all().delete()
    Site.objects.all().delete()


def lapsed(world: World) -> None:
    Domain.objects.get().lapse("The record is gone.")
    Site.objects.update(lapsed_at=timezone.now())


def opted_out(world: World) -> None:
    Domain.objects.get().opt_out(out=True)
    Site.objects.get().opt_out(out=True)


def deactivated(world: World) -> None:
    User.objects.filter(pk=world.alice.pk).update(is_active=False)


def lost(world: World) -> None:
    """Its page is another organization's now, and it is held for that."""
    Domain.objects.get().lapse("It has passed on.")
    build.domain(build.organization("zenith"), "docs.acme.com")
    world.change(status="held", held_for="ownership")


def discarded(world: World) -> None:
    world.change(status="held", held_for="discarded")


def on_hold(world: World) -> None:
    root = User.objects.create(username="root", is_superuser=True)
    value = world.delivery.report.canonical_url
    world.change(status="pending")
    operator_holds.make(Hold(kind="page", value=value, reason="Junk."), by=root)


def all_on_hold(world: World) -> None:
    root = User.objects.create(username="root", is_superuser=True)
    owner = Integration.objects.get().organization_id
    operator_holds.make(Hold(kind="organization", value=owner, reason="Junk."), by=root)


def joined(world: World) -> None:
    lead = Delivery.objects.get(issue_url=world.issue)
    Delivery.objects.filter(pk=world.delivery.pk).fold_under(lead, by="bob")


def delivered(world: World) -> None:
    world.change(status="pending")
    forward(world.ids["report_id"])


def erased(world: World) -> None:
    erase(world.delivery.report)


def withheld(world: World) -> None:
    world.delivery.report.withhold(7)


def unknown(world: World) -> None:
    now = timezone.now()
    posted = {"posted_at": now, "outcome_unknown_since": now, "title": "A title", "body": "A body"}
    mine = Integration.objects.get()
    there = {"repository_id": mine.repository_id, "repository": mine.repository}
    world.change(status="pending", due_at=now + timedelta(minutes=5), **posted, **there)


def sending(world: World) -> None:
    world.change(status="sending", lease_until=timezone.now() + timedelta(minutes=1))


def never(world: World) -> None:
    world.delivery.delete()


State = Callable[[World], object]
STATES: dict[str, State] = {
    "runs": lambda world: None,
    "failed": lambda world: None,
    "paused": paused,
    "archived": archived,
    "suspended": suspended,
    "uninstalled": uninstalled,
    "no-push": without_push,
    "no-repo": without_repository,
    "no-app": without_app,
    "lapsed": lapsed,
    "opted-out": opted_out,
    "deactivated": deactivated,
    "lost": lost,
    "discarded": discarded,
    "on-hold": on_hold,
    "all-on-hold": all_on_hold,
    "joined": joined,
    "sent": delivered,
    "erased": erased,
    "withheld": withheld,
    "unknown": unknown,
    "sending": sending,
    "never": never,
}
