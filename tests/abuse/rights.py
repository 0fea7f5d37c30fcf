"""What somebody keeps here who has lost their rights at GitHub."""

import time
from typing import Any, NamedTuple

import requests
from django.db import connection

from integrations.models import Integration
from orgs.models import Membership, Organization
from tests import build
from tests.abuse.people import Browser, Program, member
from tests.abuse.table import FORMER, MEMBER, attack
from tests.abuse.world import Shipped, World, stands_if
from tests.faults.world import let_pass

SITE = "https://acme.github.io/docs/"
ASKED = "/api/v3/app/installations/"
PATIENCE = 60  # seconds until `maintain` has asked GitHub again


class Person(NamedTuple):
    """Somebody with a token, and the organization that they own."""

    login: str
    organization: Organization
    token: str

    def call(self, hub: Shipped, method: str, path: str, body: Any = None) -> requests.Response:
        headers = {"Authorization": f"Bearer {self.token}"}
        return requests.request(
            method, f"{hub.url}/v1/orgs/me{path}", json=body, headers=headers, timeout=60
        )


@attack(FORMER, "go on receiving and deciding")
def rights_that_were_lost(world: World) -> str:
    """alice has set up acme/docs and leaves acme: a day later she receives and decides as before."""
    alice = _set_up(world, "alice")
    site = build.site(alice.organization, "acme.github.io", "/docs/")
    build.domain(alice.organization, "docs.acme.com")
    connection.close()
    with world.hub(maintain=True) as hub:
        _leaves(world, "alice")
        opted_out = alice.call(hub, "PATCH", f"/sites/{site.pk}", {"opted_out": True}).status_code
        for hours in (1, 12, 13):
            _hours_pass(world, hours)
        hub.post(build.report())
        hub.post(build.report(f"{SITE}secret"))
        issues = len(world.host.issues("acme/docs"))
        reports = alice.call(hub, "GET", "/reports").json()["reports"]
        read = sum(each["doc_url"].startswith(SITE) for each in reports)
        told = alice.call(hub, "GET", "").json()["integration"]["problem"]
    connection.close()
    return stands_if(
        (opted_out, issues, read) == (403, 0, 0) and told is not None,
        f"opting the site out: {opted_out}; a report of each claim a day later: {issues} issues, "
        f"of the site she reads {read}; told: {told}",
    )


@attack(FORMER, "receive what an organization proves after they have gone")
def token_of_who_was_removed(world: World) -> str:
    """acme's pipeline has a token that alice has made; bob removes her, and the pipeline claims as before."""
    acme = world.acme("docs.acme.com")
    alice, token = member(acme)
    bob, _ = member(acme, "bob")
    claim = {"name": "guide.acme.com"}
    with world.hub() as hub:
        pipeline = Program(hub, token)
        before = pipeline.call("GET", "/orgs/me").status_code
        page = f"/settings/account/members/{alice.membership.pk}/remove/"
        removed = Browser(hub, bob).submit(page).status_code
        after = pipeline.call("POST", "/orgs/me/domains", claim).status_code
    figures = f"the pipeline is told {before}; once alice is removed ({removed}): {after}"
    return stands_if((before, removed, after) == (200, 302, 401), figures)


@attack(FORMER, "go on receiving")
def site_of_who_has_left(world: World) -> str:
    """alice leaves acme and keeps its site, and the reports about it, from who administers it."""
    alice, bob = _set_up(world, "alice"), _set_up(world, "bob")
    build.site(alice.organization, "acme.github.io", "/docs/")
    with world.hub() as hub:
        world.host.account("acme").members["bob"] = "admin"
        kept = bob.call(hub, "POST", "/sites", {"url": SITE}).status_code
        _leaves(world, "alice")
        taken = bob.call(hub, "POST", "/sites", {"url": SITE}).status_code
        requests.post(f"{hub.url}/v1/reports", json=build.report(f"{SITE}x"), timeout=60)
        read = [len(each.call(hub, "GET", "/reports").json()["reports"]) for each in (alice, bob)]
    connection.close()
    return stands_if(
        (kept, taken, read) == (409, 201, [0, 1]),
        f"bob's claim: {kept} while alice may push, {taken} afterwards; "
        f"alice reads {read[0]} new reports, bob {read[1]}",
    )


@attack(MEMBER, "take a site without being an admin")
def a_claim_that_lapses_for_a_moment(world: World) -> str:
    """bob may push to acme/docs, whose site is alice's: Pages are off, the Hub hears of it, and he claims first."""
    alice, bob = _set_up(world, "alice"), _set_up(world, "bob")
    build.site(alice.organization, "acme.github.io", "/docs/")
    world.host.grant("bob", "acme/docs", "push")
    connection.close()
    chosen = {"repo_owner": "acme", "repo_name": "docs"}
    with world.hub(maintain=True) as hub:
        world.host.set_pages("acme/docs", False)
        _hours_pass(world, 1)
        lapsed = alice.call(hub, "GET", "").json()["sites"][0]["status"]
        world.host.set_pages("acme/docs", True)
        saved = bob.call(hub, "POST", "/integrations/github", chosen).status_code
        told = bob.call(hub, "POST", "/sites", {"url": SITE}).status_code
        _hours_pass(world, 1)
        hub.post(build.report(f"{SITE}x"))
        read = [len(each.call(hub, "GET", "/reports").json()["reports"]) for each in (alice, bob)]
    connection.close()
    return stands_if(
        (lapsed, saved, told, read) == ("lapsed", 200, 409, [1, 0]),
        f"alice's claim has {lapsed}; bob saves his integration: {saved}, his claim: {told}; "
        f"an hour later alice reads {read[0]} new reports, bob {read[1]}",
    )


@attack(FORMER, "go on reading")
def words_about_a_site_that_was_left(world: World) -> str:
    """alice leaves acme and disconnects: what repeats add to a report of its site she goes on reading."""
    alice = _set_up(world, "alice")
    build.site(alice.organization, "acme.github.io", "/docs/")
    connection.close()
    with world.hub() as hub:
        first = hub.post(build.report(f"{SITE}x")).json()["id"]
        _leaves(world, "alice")
        left = alice.call(hub, "DELETE", "/integrations/github").status_code
        hub.post(build.report(f"{SITE}x", report__details="Said afterwards"))
        read = len(alice.call(hub, "GET", f"/reports/{first}").json()["accounts"])
        reports = len(alice.call(hub, "GET", "/reports").json()["reports"])
    connection.close()
    return stands_if(
        (left, read, reports) == (204, 0, 1),
        f"disconnecting: {left}; then one repeat in other words, of which she reads {read}; "
        f"in her list: {reports} reports",
    )


@attack(FORMER, "go on reading")
def words_sent_to_another_repository(world: World) -> str:
    """alice leaves acme, chooses a repository where she may push, and claims the root: what is withheld goes there."""
    alice = _set_up(world, "alice")
    build.site(alice.organization, "acme.github.io", "/docs/")
    root = world.host.add_repository("acme", "acme.github.io")
    world.host.add_to_installation(build.installed(world.host), root)
    connection.close()
    chosen = {"repo_owner": "acme", "repo_name": "acme.github.io"}
    with world.hub(maintain=True) as hub:
        _leaves(world, "alice")
        world.host.grant("alice", "acme/acme.github.io", "push")
        for hours in (1, 12, 13):
            _hours_pass(world, hours)
        report_id = hub.post(build.report(f"{SITE}secret")).json()["id"]
        moved = alice.call(hub, "POST", "/integrations/github", chosen).status_code
        root_url = {"url": "https://acme.github.io/"}
        claimed = alice.call(hub, "POST", "/sites", root_url).status_code
        hub.post(build.report("https://acme.github.io/other"))
        _hours_pass(world, 1)
        bodies = [each.body for each in world.host.issues("acme/acme.github.io")]
        sent = sum("secret" in each for each in bodies)
        read = alice.call(hub, "GET", f"/reports/{report_id}").status_code
    connection.close()
    return stands_if(
        (moved, claimed, len(bodies), sent, read) == (200, 201, 1, 0, 404),
        f"choosing the other repository: {moved}, claiming the root: {claimed}; issues there: "
        f"{len(bodies)}, with what is withheld: {sent}; read on the Hub: {read}",
    )


@attack(FORMER, "go on receiving, by ever new members")
def members_who_come_back_as_new_ones(world: World) -> str:
    """alice leaves acme; 51 accounts without any right delete themselves and join again before each look, at 50."""
    alice = _set_up(world, "alice")
    build.site(alice.organization, "acme.github.io", "/docs/")
    with world.hub(maintain=True) as hub:
        _leaves(world, "alice")
        for look in range(8):
            _join_again(alice.organization, look)
            _hours_pass(world, 8)
        lost = Integration.objects.get(organization=alice.organization).rights_lost_at is not None
        hub.post(build.report(f"{SITE}secret"))
        issues = len(world.host.issues("acme/docs"))
        read = len(alice.call(hub, "GET", "/reports").json()["reports"])
    connection.close()
    return stands_if(
        (lost, issues, read) == (True, 0, 0),
        f"64 hours later the rights {'are lost' if lost else 'stand'}; of a report then: {issues} issues, "
        f"alice reads {read}",
    )


@attack(MEMBER, "decide what only owners decide")
def decisions_of_a_member(world: World) -> str:
    """A member who is no owner, and a token that only reads, end and begin what they like."""
    alice = _set_up(world, "alice")
    build.domain(alice.organization, "docs.acme.org")
    world.host.account("acme").members["bob"] = "admin"
    bob = build.member(
        alice.organization, "bob", role="member", github_id=world.host.account("bob").id
    )
    member = Person("bob", alice.organization, build.token(bob))
    reader = build.token(bob, ["orgs:read"])
    with world.hub() as hub:
        answers = [
            member.call(hub, "PATCH", "/domains/docs.acme.org", {"opted_out": True}),
            member.call(hub, "DELETE", "/domains/docs.acme.org"),
            member.call(hub, "DELETE", "/integrations/github"),
            requests.get(
                f"{hub.url}/v1/integrations/github/install",
                headers={"Authorization": f"Bearer {reader}"},
                timeout=60,
            ),
        ]
    statuses = [each.status_code for each in answers]
    return stands_if(
        statuses == [403] * 4, f"opt out, give up, disconnect, begin an installation: {statuses}"
    )


def _set_up(world: World, login: str) -> Person:
    """An organization of one, whose issues go to acme/docs."""
    owner = build.organization(login)
    user = build.member(owner, login, github_id=world.host.account(login).id)
    build.integration(owner, world.host)
    person = Person(login, owner, build.token(user))
    connection.close()
    return person


def _join_again(organization: Organization, time: int) -> None:
    """As new members, with accounts that were made anew."""
    Membership.objects.filter(organization=organization, login__startswith="again-").delete()
    for number in range(51):
        build.member(organization, f"again-{time}-{number}", role="member")
    connection.close()


def _leaves(world: World, login: str) -> None:
    world.host.account("acme").members.pop(login)


def _hours_pass(world: World, hours: int) -> None:
    """Until the Hub has asked GitHub once more, as it does each hour."""
    before = _times_asked(world)
    let_pass(hours=hours, minutes=1)
    connection.close()
    until = time.monotonic() + PATIENCE
    while _times_asked(world) == before and time.monotonic() < until:
        time.sleep(0.2)
    time.sleep(1)  # for what it asks after that


def _times_asked(world: World) -> int:
    """How often GitHub was asked about the installation itself."""
    paths = [each.path for each in world.host.requests if each.method == "GET"]
    return sum(each.startswith(ASKED) for each in paths)
