"""Two organizations whose issues go to one repository: what one does, or loses, changes nothing for the other."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction
from django.test import Client
from django.utils import timezone

from integrations.comments import sending
from integrations.delivery import catching_up, discarding, holds, trying_again
from integrations.delivery.forwarding import forward, marker
from integrations.github_sync import visibility
from integrations.models import Alert, Comment, Delivery, Installation, Integration
from integrations.ownership import site_claims, taking_over
from integrations.setup import configuration, installing, trial_report
from integrations.setup.choices import Choices
from orgs.models import Membership, Organization, Site
from orgs.people import leaving
from reports import erasing
from reports.models import Report
from tests import build
from tests.integrations.alerts import world

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = "https://docs.acme.com/install"
SITE = "https://acme.github.io/docs/"
NOT_TOLD = {"issues_asked_at", "rights_seen_at", "probe_at"}  # when GitHub was asked


@pytest.fixture
def acme(code_host, live_server) -> Organization:
    """alice's: a site and the repository are claimed, one report is an issue, and another one waits."""
    code_host.app.webhook_url = f"{live_server.url}/v1/webhooks/github"
    owner = set_up(code_host, "alice", "docs.acme.com")
    for url in (SITE, f"{code_host.url}/acme/docs/"):
        site_claims.claim_site(owner, url)
    Integration.objects.update(shows_known=True)
    for page in (PAGE, f"{SITE}a", f"{code_host.url}/acme/docs/blob/HEAD/a.md"):
        build.send(Client(), build.report(page))
    code_host.fail("500", path="issues")
    build.send(Client(), build.report(PAGE, report__summary="It waits"))
    return owner


@pytest.fixture
def bob(acme, code_host) -> Membership:
    """Of another organization, whose issues go there, too; he may push there, and administers nothing."""
    code_host.add_repository("acme", "other")
    code_host.add_to_installation(build.installed(code_host), "acme/other")
    code_host.grant("bob", "acme/other", "push")
    other = set_up(code_host, "bob", "docs.bob.com")
    Integration.objects.of(other).update(alerts=True)
    build.send(Client(), build.report("https://docs.bob.com/a"))
    forward(Report.objects.get(organization=other).pk)  # acme's, which waits, came first
    return other.memberships.get()


def set_up(code_host, login: str, domain: str) -> Organization:
    owner = build.organization(login)
    build.member(owner, login, github_id=code_host.account(login).id)
    code_host.grant(login, "acme/docs", "push")
    build.integration(owner, code_host)
    build.domain(owner, domain)
    return owner


def seen_by(owner: Organization) -> dict[str, Any]:
    """All that is kept of an organization, and what strangers are told of its reports."""
    mine = Report.objects.filter(organization=owner).order_by("pk")
    return {
        "integration": _columns(Integration.objects.of(owner)),
        "deliveries": _columns(Delivery.objects.filter(integration__organization=owner)),
        "reports": _columns(mine),
        "claims": _columns(Site.objects.filter(organization=owner)),
        "domains": _columns(owner.domains.all()),
        "notices": _columns(owner.notices.all()),
        "alerts": _columns(Alert.objects.of(owner)),
        "comments": _columns(Comment.objects.filter(integration__organization=owner)),
        "receipts": [Client().get(f"/v1/reports/{each.pk}").json() for each in mine],
        "known": [Client().get("/v1/pages", {"url": url}).json() for url in (PAGE, f"{SITE}a")],
    }


def _columns(rows) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in row.items() if name not in NOT_TOLD}
        for row in rows.order_by("pk").values()
    ]


def moves_on(bob: Membership, code_host) -> None:
    configuration.configure(bob, repo_owner="acme", repo_name="other")


def moves_on_and_comes_back(bob: Membership, code_host) -> None:
    moves_on(bob, code_host)
    configuration.configure(bob, repo_owner="acme", repo_name="docs")


def disconnects(bob: Membership, code_host) -> None:
    configuration.disconnect(bob)


def moves_to_another_account(bob: Membership, code_host) -> None:
    there = Installation.objects.create(github_id=4711, account="bob")
    with transaction.atomic():
        installing._move(Integration.objects.of(bob.organization).get(), there)


def has_it_by_a_former_installation(bob: Membership, code_host) -> None:
    """The app was installed anew since then, and the repository was private before."""
    there = Installation.objects.create(github_id=4711, account="acme")
    mine = Integration.objects.of(bob.organization)
    mine.update(installation=there, repository_private=True, was_public=False)


def deletes_all(bob: Membership, code_host) -> None:
    leaving.leave(bob.user, bob.organization.name)
    leaving.delete_left()


def pauses(bob: Membership, code_host) -> None:
    holds.pause(Integration.objects.of(bob.organization).get())


def chooses(bob: Membership, code_host) -> None:
    configuration.choose(bob.organization, Choices("fold", "reopen", True))


def loses_push_access(bob: Membership, code_host) -> None:
    code_host.revoke("bob", "acme/docs")
    long_ago = timezone.now() - 30 * holds.GRACE
    mine = Integration.objects.of(bob.organization)
    mine.update(rights_absences=9, rights_absent_since=long_ago)
    holds.record_push_access_missing(mine.get())


def erases(bob: Membership, code_host) -> None:
    for each in Report.objects.filter(organization=bob.organization):
        erasing.erase_for(bob, each)


def discards(bob: Membership, code_host) -> None:
    discarding.discard_all(Delivery.objects.filter(integration__organization=bob.organization))


def claims_the_same(bob: Membership, code_host) -> None:
    for url in (SITE, f"{code_host.url}/acme/docs/"):
        with pytest.raises(site_claims.ClaimedElsewhere):
            taking_over.claim_site(bob, url)


def opts_out(bob: Membership, code_host) -> None:
    bob.organization.domains.update(opted_out_at=timezone.now())


def sends_a_test(bob: Membership, code_host) -> None:
    trial_report.send(bob)


def closes_and_deletes_its_issue(bob: Membership, code_host) -> None:
    issue = Delivery.objects.get(integration__organization=bob.organization)
    code_host.close_issue("acme/docs", issue.issue_number, by="bob")
    code_host.delete_issue("acme/docs", issue.issue_number, by="bob")


def asks_again(bob: Membership, code_host) -> None:
    configuration.try_again(bob)


ACTS = [
    moves_on,
    moves_on_and_comes_back,
    disconnects,
    moves_to_another_account,
    has_it_by_a_former_installation,
    deletes_all,
    pauses,
    chooses,
    loses_push_access,
    erases,
    discards,
    claims_the_same,
    opts_out,
    sends_a_test,
    closes_and_deletes_its_issue,
    asks_again,
]


@pytest.mark.parametrize("act", ACTS)
def test_what_another_one_does_changes_nothing(acme, bob, code_host, act: Callable):
    call_command("reconcile_installations")
    before = seen_by(acme)

    act(bob, code_host)
    at_once = seen_by(acme)
    for _ in range(2):
        call_command("reconcile_installations")
        visibility.finish()
        catching_up.catch_up()
        sending.send_due()

    assert before["known"][0]["problems"]
    assert at_once == before
    assert seen_by(acme) == before


@pytest.mark.parametrize("is_there", [True, False])
def test_a_mark_that_was_copied_to_the_issue_of_another_one_ends_the_tries(
    acme, bob, code_host, clock, is_there
):
    """Whoever may push can edit the issues of the Hub, and knows the marks of what they have sent themselves."""
    code_host.fail("500", created=is_there)
    build.send(Client(), build.report(PAGE, report__summary="In doubt"))
    mine = Delivery.objects.get(report__summary="In doubt")
    theirs = Delivery.objects.get(integration__organization=bob.organization)
    issue = code_host.issue("acme/docs", theirs.issue_number)
    said, issue.body = issue.body, issue.body + marker(mine.report_id)

    clock.advance(minutes=5)
    forward(mine.report_id)
    mine.refresh_from_db()
    failed = mine.status, mine.reason
    issue.body = said
    trying_again.try_in_turn(mine)
    clock.advance(minutes=5)
    forward(mine.report_id)

    mine.refresh_from_db()
    assert failed[0] == "failed"
    assert f"Issue #{theirs.issue_number} in acme/docs has the mark of this report" in failed[1]
    assert (mine.status, mine.issue_number) == ("sent", theirs.issue_number + 1)
    assert len(code_host.issues("acme/docs")) == mine.issue_number


def test_a_mark_that_was_copied_to_the_issue_of_bad_news_does_not_count_as_sent(
    acme, bob, code_host, clock
):
    loses_push_access(bob, code_host)
    world.maintain()
    news = code_host.issue("acme/docs", Alert.objects.get().issue_number)
    code_host.fail("500", path="issues")
    build.send(Client(), build.report(PAGE, report__summary="In doubt"))
    mine = Delivery.objects.get(report__summary="In doubt")
    news.body += marker(mine.report_id)

    clock.advance(minutes=5)
    forward(mine.report_id)

    mine.refresh_from_db()
    assert mine.status == "failed"
    assert f"Issue #{news.number} in acme/docs has the mark of this report" in mine.reason
