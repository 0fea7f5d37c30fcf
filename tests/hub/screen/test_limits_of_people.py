"""Limits follow a person: a new organization, however somebody comes to one, brings no unused ones."""

import re
from collections.abc import Callable

import pytest
from django.test import Client
from django.utils import timezone

from core.rates import RateLimited
from hub.screen import downloads, integration, inviting, report_page, reports
from integrations.api import acts, report_list
from integrations.delivery import trying_again
from integrations.github_api import asking
from integrations.ownership import unclaimed
from integrations.setup import configuration, installing, trial_report
from orgs.discovery import checking, published
from orgs.domains import claiming, verification
from orgs.models import Domain, Invitation, Membership, User
from orgs.people import counted, leaving, members
from reports.models import Report
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)

RATES = [
    (downloads, "RATE"),
    (integration, "PREVIEWS"),
    (integration, "PRESSES"),
    (inviting, "NAMELESS"),
    (reports, "CHANGES"),
    (report_list, "LOOKS"),
    (report_page, "PAGES"),
    (report_list, "SEARCHES"),
    (trial_report, "RATE"),
    (configuration, "LISTS"),
    (acts, "TOGETHER"),
]
FOUND = published.Found([], None)


@pytest.fixture(autouse=True)
def once(settings, monkeypatch):
    """Everything once an hour; hosts and the DNS are not asked."""
    settings.HUB_ASKING_RATE = "1/hour"
    for room, name in RATES:
        monkeypatch.setattr(room, name, "1/hour")
    monkeypatch.setattr(verification, "_check", lambda domain: None)
    monkeypatch.setattr(published, "look", lambda *args, **kwargs: FOUND)


def signed_in(github_id: int, login: str) -> Membership:
    """Somebody who has just signed in."""
    user, _ = User.objects.get_or_create(username=login)
    return members.welcome(user, github_id=github_id, login=login)


def fresh(code_host, login: str) -> Membership:
    return signed_in(code_host.account(login).id, login)


def by_deleting_the_account(bob: Membership) -> Membership:
    leaving.leave(bob.user, leaving.name_to_type(bob.user))
    return signed_in(bob.github_id, bob.login)


def by_joining_and_leaving(bob: Membership) -> Membership:
    """An accomplice joins bob as an owner, so that bob can leave."""
    accomplice = signed_in(7, "accomplice")
    invited = Invitation.objects.create(
        organization=bob.organization,
        github_id=accomplice.github_id,
        login=accomplice.login,
        role="owner",
        invited_by=bob,
    )
    inviting.join(accomplice, invited.pk, "owner")
    members.remove(bob, by=bob)
    return Membership.objects.get(pk=bob.pk)


def domain_of(member: Membership) -> Domain:
    return member.organization.domains.get()


def ask_github(member: Membership) -> None:
    with asking.github(member):
        pass


def searched(**asked: str) -> Callable[[Membership], None]:
    return lambda member: report_list.check_rate(member, asked)


def press(path: str, form: dict | None = None) -> Callable[[Membership], None]:
    """A visit of a page, or a press of its button, which says when it is too many."""

    def pressed(member: Membership) -> None:
        web = Client()
        web.force_login(member.user)
        answer = web.get(path) if form is None else web.post(path, form, follow=True)
        text = b"".join(answer).decode()
        if said := re.search(r"Too many (.+?)\. Try again", text):
            raise RateLimited(1, said[1])

    return pressed


def report_of(member: Membership) -> str:
    now = {each: timezone.now() for each in ("received_at", "last_received_at")}
    made = Report.objects.create(organization=member.organization, doc_url="x", summary="x", **now)
    return made.pk


ACTS: dict[str, Callable[[Membership], object]] = {
    "questions to GitHub": ask_github,
    "claims": lambda member: claiming.claim_domain(member, "other.example.com"),
    "the DNS": lambda member: verification.check(domain_of(member), by=member),
    "what a site publishes": lambda member: checking.check(domain_of(member), by=member),
    "installations": installing.begin,
    "trying again": trying_again.check_rate,
    "earlier reports": lambda member: unclaimed.send(member, domain_of(member), []),
    "test reports": trial_report.send,
    "searches": searched(q="words"),
    "lists with filters": searched(kind="broken"),
    "pages of reports": lambda member: press(f"/settings/reports/{report_of(member)}/")(member),
    "restoring several": lambda member: acts.perform_on_each("restore", member, []),
    "lists of repositories": lambda member: configuration.repositories(member, page=1),
    "previews": press("/settings/integration/", {"live": "1", "issue_template": "{summary}"}),
    "pause": press("/settings/integration/pause/", {}),
    "all that match": press("/settings/reports/change/?since=2026-01-01", {"all": "retry"}),
    "export": press("/settings/account/export.json"),
    "tables": press("/settings/reports/reports.csv"),
}


def set_up(member: Membership, code_host) -> Membership:
    """With the app and a domain."""
    build.integration(member.organization, code_host)
    build.domain(member.organization, f"docs.{member.organization_id.lower()}.example")
    return member


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_a_new_organization_brings_no_new_limits(act, code_host):
    bob = set_up(fresh(code_host, "bob"), code_host)
    Membership.objects.filter(pk=bob.pk).update(role="member")
    bob.refresh_from_db()
    build.member(bob.organization, "alice")
    carol = build.member(bob.organization, "carol", role="member").membership
    organizations = {bob.organization_id}
    act(bob)
    with pytest.raises(RateLimited):
        act(carol)

    for renewed in (by_deleting_the_account, by_joining_and_leaving):
        bob = set_up(renewed(bob), code_host)
        organizations.add(bob.organization_id)
        with pytest.raises(RateLimited):
            act(bob)

    assert len(organizations) == 3


@pytest.mark.parametrize("renewed", [by_deleting_the_account, by_joining_and_leaving])
def test_one_person_looks_up_no_more_names_as_nobody(renewed, code_host, settings):
    settings.HUB_ASKING_RATE = "10/hour"
    bob = fresh(code_host, "bob")
    inviting.invite("charlie", role="member", by=bob)

    with pytest.raises(RateLimited, match="Too many names to look up"):
        inviting.invite("charlie", role="member", by=renewed(bob))

    assert inviting.invite("bob", role="member", by=fresh(code_host, "alice")).login == "bob"


def test_who_suspends_the_own_app_looks_up_no_more_names_as_nobody(code_host, settings):
    settings.HUB_ASKING_RATE = "10/hour"
    bob = set_up(fresh(code_host, "bob"), code_host)
    code_host.suspend(build.installed(code_host))
    inviting.invite("charlie", role="member", by=bob)

    with pytest.raises(RateLimited, match="Too many names to look up"):
        inviting.invite("charlie", role="member", by=bob)


def test_what_is_refused_counts_for_nobody(code_host):
    """Else whoever is in two organizations in turn stops both."""
    bob, alice = fresh(code_host, "bob"), fresh(code_host, "alice")
    ask_github(bob)
    Membership.objects.filter(pk=bob.pk).update(organization=alice.organization)

    with pytest.raises(RateLimited):
        ask_github(Membership.objects.get(pk=bob.pk))

    ask_github(alice)


def test_what_members_ask_for_keeps_an_owner_from_nothing(code_host):
    bob = set_up(fresh(code_host, "bob"), code_host)
    carol = build.member(bob.organization, "carol", role="member").membership
    ask_github(carol)

    ask_github(bob)

    with pytest.raises(RateLimited):
        ask_github(bob)


def test_what_a_person_changes_has_a_rate_whatever_it_is(code_host, monkeypatch):
    """Attacks: reports discarded and restored all the time, and what else members can do again and again."""
    member = set_up(signed_in(1, "bob"), code_host)
    monkeypatch.setattr(counted, "CHANGES", "2/hour")
    program, web = build.api(build.token(member.user)), Client()
    web.force_login(member.user)
    mine = f"/v1/orgs/me/reports/{report_of(member)}"

    by_token = [program.post(f"{mine}/{act}") for act in ("discard", "restore", "discard")]
    by_form = [web.post(f"/settings/integration/{each}/") for each in ("pause", "resume", "pause")]

    assert [each.status_code for each in by_token] == [200, 200, 429]
    assert [each.status_code for each in by_form] == [302, 302, 429]
    assert program.get(mine).status_code == web.get("/settings/").status_code == 200


def test_a_member_who_changes_all_the_time_keeps_nobody_from_removing_them(code_host, monkeypatch):
    monkeypatch.setattr(counted, "CHANGES", "2/hour")
    alice = set_up(signed_in(1, "alice"), code_host)
    bob = build.member(alice.organization, "bob", role="member")
    program, web = build.api(build.token(bob)), Client()
    web.force_login(alice.user)

    told = [program.post("/v1/orgs/me/reports/x/discard").status_code for _ in range(4)]
    removed = web.post(f"/settings/account/members/{bob.membership.pk}/remove/")

    assert told == [404, 404, 429, 429]
    assert removed.status_code == 302
    assert [each.login for each in alice.organization.memberships.all()] == ["alice"]
