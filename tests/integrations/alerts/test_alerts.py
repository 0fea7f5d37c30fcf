"""Bad news becomes one issue in the organization's repository, which is closed when it is solved."""

import json
import re

import pytest

from core import clock
from hub.maintenance import JOBS
from hub.screen.export import as_json
from integrations.alerts import causes, sending
from integrations.delivery import operator_holds
from integrations.github_sync import reconciling
from integrations.issue.rendering import TITLE_LIMIT
from integrations.models import Alert, Delivery, Hold, Integration
from orgs.models import Domain, Organization, User
from tests import build
from tests.integrations.alerts import world
from tests.integrations.alerts.world import alert, maintain
from tests.integrations.issue import liveness

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def acme(code_host):
    """An organization that wants to be told."""
    owner = build.acme(code_host)
    Integration.objects.update(alerts=True)
    return owner


@pytest.fixture
def webhooks(acme, code_host, live_server) -> None:
    code_host.app.webhook_url = f"{live_server.url}/v1/webhooks/github"


def issues(code_host) -> list:
    return code_host.issues("acme/docs")


def test_a_missing_record_is_told_once_and_closed_when_it_is_back(acme, code_host, clock):
    world.lose_record()

    for _ in range(3):
        maintain()
        clock.advance(hours=1)

    [issue] = issues(code_host)
    lapses_at = Domain.objects.get().lapses_at
    assert issue.title == f"Your claim of docs.acme.com lapses on {lapses_at:%-d %B %Y}"
    assert issue.user == "docs-feedback-hub[bot]"
    assert issue.state == "open"
    assert alert().status == "open"

    world.find_record()
    maintain()

    [issue] = issues(code_host)
    assert (issue.state, issue.state_reason) == ("closed", "completed")
    assert alert().status == "closed"


def test_the_issue_says_since_when_and_what_to_do(acme, code_host, settings):
    settings.HUB_BASE_URL = "https://hub.example.com"
    world.lose_record("docs.acme.com")
    domain = Domain.objects.get()

    maintain()

    [issue] = issues(code_host)
    assert f"{domain.absent_since:%-d %B %Y, %H:%M} UTC" in issue.body
    assert f"**{domain.lapses_at:%-d %B %Y, %H:%M} UTC**" in issue.body
    record = f"```\nname:  _hub-challenge.docs.acme.com\nvalue: {domain.record_value}\n```"
    assert record in issue.body
    assert f"(https://hub.example.com/settings/claims/{domain.pk}/)" in issue.body
    assert "(https://hub.example.com/settings/integration/)" in issue.body
    assert issue.body.endswith(f"<!-- hub:{alert().pk} -->")


def test_a_lapse_is_another_cause(acme, code_host):
    world.lose_record()
    maintain()
    world.lapse()

    maintain()

    told = {issue.title.partition(" on ")[0]: issue.state for issue in issues(code_host)}
    assert told == {
        "Your claim of docs.acme.com lapses": "closed",
        "Your claim of docs.acme.com has lapsed": "open",
    }

    world.find_record()
    maintain()

    assert {issue.state for issue in issues(code_host)} == {"closed"}


def test_a_lapsed_claim_that_is_removed_is_told_no_more(acme, code_host):
    world.lapse()
    maintain()

    Domain.objects.get().remove_claim()
    maintain()

    assert [issue.state for issue in issues(code_host)] == ["closed"]


def test_what_has_lapsed_long_ago_is_no_news(acme, code_host, clock):
    world.lapse()
    clock.advance(days=8)

    maintain()

    assert not Alert.objects.exists()


def test_the_same_record_missing_again_is_told_again(acme, code_host, clock):
    for _ in range(2):
        world.lose_record()
        maintain()
        world.find_record()
        maintain()
        clock.advance(days=2)

    assert [issue.state for issue in issues(code_host)] == ["closed", "closed"]


def test_missing_push_access_is_told_where_it_is_missing(acme, code_host):
    world.lose_rights()

    maintain()

    [issue] = issues(code_host)
    assert issue.title == "Reports about your docs are no longer sent to this repository"
    assert "push access" in issue.body

    Integration.objects.get().record_right_found(1)
    maintain()

    assert issues(code_host)[0].state == "closed"


def test_it_is_told_whose_reports_are_no_longer_sent(acme, code_host):
    """Another organization can have the repository, and its members read this, too."""
    Organization.objects.update(name="Docs team\n\n# @alice [x](http://evil.example)")
    world.lose_rights()

    maintain()

    [issue] = issues(code_host)
    assert "No member of the organization Docs team" in issue.body
    assert "Reports of other organizations go on." in issue.body
    assert not [
        each for each in ("@alice", "](http", "\n#") if each in issue.body.partition("**What")[0]
    ]


def test_without_push_access_nothing_else_is_told_there(acme, code_host):
    world.lose_rights()
    world.lose_record()

    maintain()

    assert [issue.title for issue in issues(code_host)] == [
        "Reports about your docs are no longer sent to this repository"
    ]


@pytest.mark.parametrize("choice", [False, None])
def test_nobody_is_told_without_having_asked_for_it(acme, code_host, choice):
    Integration.objects.update(alerts=choice)
    world.lose_record()

    maintain()

    assert not issues(code_host)
    assert not Alert.objects.exists()


def test_nothing_is_told_while_the_integration_is_paused(acme, code_host, clock):
    Integration.objects.update(paused_at=clock.now())
    world.lose_record()
    maintain()
    assert not issues(code_host)

    Integration.objects.update(paused_at=None)
    maintain()

    assert len(issues(code_host)) == 1


def test_what_is_switched_off_meanwhile_is_not_opened_and_still_closed(acme, code_host):
    build.domain(acme, "api.acme.com")
    world.lose_record("docs.acme.com")
    maintain()
    world.lose_record("api.acme.com")
    causes.compare()
    Integration.objects.update(alerts=False)

    sending.send_due()
    assert [issue.title.split()[3] for issue in issues(code_host)] == ["docs.acme.com"]

    for name in ("docs.acme.com", "api.acme.com"):
        world.find_record(name)
    maintain()
    assert [issue.state for issue in issues(code_host)] == ["closed"]
    assert set(Alert.objects.values_list("subject", "status")) == {
        ("docs.acme.com", "closed"),
        ("api.acme.com", "dropped"),
    }


def test_what_is_solved_before_it_is_opened_is_never_opened(acme, code_host):
    world.lose_record()
    causes.compare()
    world.find_record()

    maintain()

    assert alert().status == "dropped"
    assert not issues(code_host)


def test_an_issue_that_somebody_closes_is_not_opened_again(acme, webhooks, code_host, clock):
    world.lose_record()
    maintain()

    code_host.close_issue("acme/docs", 1, by="alice")

    assert alert().status == "closed"
    maintain()
    clock.advance(hours=2)
    world.find_record()
    maintain()
    assert len(issues(code_host)) == 1
    assert not [each for each in code_host.requests if each.method == "PATCH"]


def test_an_issue_that_somebody_reopens_is_closed_when_it_is_solved(acme, webhooks, code_host):
    world.lose_record()
    maintain()
    code_host.close_issue("acme/docs", 1, by="alice")

    code_host.reopen_issue("acme/docs", 1, by="alice")
    assert alert().status == "open"
    world.find_record()
    maintain()

    assert issues(code_host)[0].state == "closed"


def test_webhooks_about_it_count_in_the_order_of_what_happened(acme, webhooks, code_host):
    world.lose_record()
    maintain()

    build.tell_of_issue(code_host, "reopened", "2026-03-03T12:00:01Z")
    build.tell_of_issue(code_host, "closed", "2026-03-03T12:00:00Z")  # before that
    reopened = alert().status
    build.tell_of_issue(code_host, "closed", "2026-03-03T12:00:03Z")
    build.tell_of_issue(code_host, "reopened", "2026-03-03T12:00:02Z")

    assert (reopened, alert().status) == ("open", "closed")


def test_an_issue_that_is_deleted_is_done(acme, webhooks, code_host):
    world.lose_record()
    maintain()

    code_host.delete_issue("acme/docs", 1, by="alice")
    world.find_record()
    maintain()

    assert alert().status == "closed"


def test_webhooks_about_it_leave_deliveries_alone(acme, webhooks, code_host, client):
    build.send(client)
    world.lose_record()
    maintain()

    code_host.close_issue("acme/docs", 2, by="alice")

    assert Delivery.objects.get().issue_number == 1
    assert Delivery.objects.get().issue_state == ""
    code_host.close_issue("acme/docs", 1, by="alice")
    assert Delivery.objects.get().issue_state == "closed"


def test_the_same_number_elsewhere_is_another_issue(acme, webhooks, code_host):
    world.lose_record()
    maintain()
    elsewhere = code_host.add_repository("acme", "other")
    code_host.add_to_installation(build.installed(code_host), elsewhere)
    code_host.create_issue("acme/other", title="Mine", user="alice")

    code_host.close_issue("acme/other", 1, by="alice")

    assert alert().status == "open"


def test_it_is_counted_in_the_pace_of_reports(acme, code_host, client, settings):
    settings.HUB_ISSUE_RATE = "1/minute"
    world.lose_record()
    maintain()

    build.send(client)

    assert len(issues(code_host)) == 1
    assert Delivery.objects.get().status == "pending"


def test_it_waits_for_the_pace_of_reports(acme, code_host, client, settings, clock):
    settings.HUB_ISSUE_RATE = "1/minute"
    build.send(client)
    world.lose_record()
    maintain()
    assert len(issues(code_host)) == 1

    clock.advance(seconds=61)
    maintain()

    assert len(issues(code_host)) == 2


def test_many_at_once_are_told_some_at_a_time(acme, code_host, monkeypatch):
    monkeypatch.setattr(causes, "UNFINISHED", 2)
    for number in range(3):
        build.domain(acme, f"d{number}.acme.com")
        world.lose_record(f"d{number}.acme.com")

    maintain()
    maintain()
    assert len(issues(code_host)) == 2

    world.find_record("d0.acme.com")
    for _ in range(2):
        maintain()
    assert len(issues(code_host)) == 3


def test_missing_push_access_is_told_however_much_else_is_wrong(acme, code_host, monkeypatch):
    """The attack: ten claims lapse first, and may not be told while nobody has push access."""
    monkeypatch.setattr(causes, "UNFINISHED", 2)
    for number in range(3):
        build.domain(acme, f"d{number}.acme.com")
        world.lose_record(f"d{number}.acme.com")
    causes.compare()
    world.lose_rights()

    maintain()

    assert [issue.title for issue in issues(code_host)] == [
        "Reports about your docs are no longer sent to this repository"
    ]


@pytest.mark.parametrize("happens", [world.lose_record, world.lapse])
def test_the_longest_name_has_a_title_that_fits(acme, code_host, happens):
    """The attack: PostgreSQL and GitHub refuse a title that is longer, again and again."""
    name = ".".join(["a" * 62] * 4)[:245] + ".com"
    build.domain(acme, name)
    happens(name)

    maintain()

    [issue] = issues(code_host)
    assert len(issue.title) == TITLE_LIMIT
    assert issue.title.startswith("Your claim of aaa")
    assert issue.title.endswith("…")
    assert name in issue.body


def test_each_organization_is_told_in_its_own_repository(acme, code_host):
    code_host.add_organization("other")
    code_host.add_installation("other", repositories=[code_host.add_repository("other", "docs")])
    other = build.organization("other")
    build.integration(other, code_host, "other/docs")
    build.domain(other, "docs.other.com")
    Integration.objects.update(alerts=True)
    world.lose_record("docs.other.com")

    maintain()

    assert not issues(code_host)
    [issue] = code_host.issues("other/docs")
    assert "docs.other.com" in issue.title


def test_all_integrations_are_looked_at(acme, code_host, monkeypatch):
    monkeypatch.setattr(causes, "INTEGRATIONS", 1)
    for number in range(3):
        code_host.add_organization(f"org{number}")
        there = [code_host.add_repository(f"org{number}", "docs")]
        code_host.add_installation(f"org{number}", repositories=there)
        owner = build.organization(f"org{number}")
        build.integration(owner, code_host, f"org{number}/docs")
        build.domain(owner, f"docs.org{number}.com")
        world.lose_record(f"docs.org{number}.com")
    Integration.objects.update(alerts=True)

    assert causes.compare() == 3
    assert causes.compare() == 0


def test_comparing_goes_on_where_it_was_stopped(acme, code_host, monkeypatch):
    """The attack: the first integrations take all the time of each run, and no other is looked at."""
    monkeypatch.setattr(causes, "INTEGRATIONS", 1)
    for number in range(2):
        build.integration(build.organization(f"org{number}"), code_host)
    Integration.objects.update(alerts=True, rights_lost_at=clock.now())
    [compare] = [each.run for each in JOBS if each.name == "alerts"]

    def run() -> list[int]:
        steps = [True, True]
        compare(lambda: bool(steps) and steps.pop())
        return list(Alert.objects.order_by("integration").values_list("integration", flat=True))

    first, second, third = Integration.objects.order_by("pk").values_list("pk", flat=True)
    assert run() == [first, second]
    assert run() == [first, second, third]

    Alert.objects.all().delete()
    assert run() == [first, second]


def test_a_public_repository_is_asked_about_again(acme, webhooks, code_host):
    Integration.objects.update(repository_private=True)

    code_host.set_private("acme/docs", False)
    reconciling.reconcile_due()

    assert Integration.objects.get().alerts is None


def test_the_export_has_them(acme, code_host):
    world.lose_record()
    maintain()

    exported = json.loads("".join(as_json(acme)))
    assert [each["subject"] for each in exported["alerts"]] == ["docs.acme.com"]
    assert exported["integrations"][0]["alerts"] is True


def test_titles_and_bodies_hold_no_live_text(acme, code_host):
    build.domain(acme, "www.deadbeef1.com")
    world.lapse("www.deadbeef1.com")
    world.lose_rights()
    world.lose_record()
    Integration.objects.update(rights_lost_at=None)

    maintain()

    for issue in issues(code_host):
        assert not liveness.MENTION.search(issue.title + issue.body)
        assert not liveness.REFERENCE.search(issue.title + issue.body)
        assert not liveness.COMMIT.search(issue.title)
        assert not re.search(r"www\.", issue.title)
    assert len(issues(code_host)) == 2


def test_nothing_is_told_while_an_operator_holds_all_of_the_organization(acme, code_host, clock):
    root = User.objects.create(username="root", is_staff=True, is_superuser=True)
    held = Hold(kind="organization", value=acme.pk, reason="Spam.")
    operator_holds.make(held, by=root)
    world.lose_record()

    maintain()
    clock.advance(hours=1)
    maintain()
    during = issues(code_host), alert().status
    operator_holds.release(held)
    maintain()

    assert during == ([], "pending")
    assert len(issues(code_host)) == 1


def test_what_was_told_is_closed_though_an_operator_holds_all_of_the_organization(acme, code_host):
    world.lose_record()
    maintain()
    root = User.objects.create(username="root", is_staff=True, is_superuser=True)
    operator_holds.make(Hold(kind="organization", value=acme.pk, reason="Spam."), by=root)

    world.find_record()
    maintain()

    assert [issue.state for issue in issues(code_host)] == ["closed"]
