"""Who loses their push right at GitHub loses what rests on it here."""

import pytest
from django.core.management import call_command
from django.test import Client

from integrations import configuration, holds
from integrations.models import Delivery, Installation, Integration
from integrations.reconciling import reconcile_due
from tests import build
from tests.integrations.world import delivery, integration

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def alice(code_host):
    """acme is set up, and alice, who owns acme at GitHub, is its only member here."""
    owner = build.acme(code_host)
    return build.member(owner, github_id=code_host.account("alice").id).membership


A_DAY = (1, 12, 13)  # hours, with a look after each


def hours_pass(clock, *waits: int) -> None:
    """With a look at the end of each of them."""
    for hours in waits:
        clock.advance(hours=hours, minutes=1)
        reconcile_due()


def questions(code_host, since: int = 0) -> list[str]:
    """The logins that the code host was asked about, in order."""
    paths = [each.path for each in code_host.requests[since:]]
    return [each.split("/")[-2] for each in paths if each.endswith("/permission")]


def test_what_comes_in_after_the_last_member_with_push_right_has_left_is_held(
    alice, code_host, clock
):
    reconcile_due()
    code_host.remove_member("acme", "alice")

    hours_pass(clock, 1, 11, 11)
    build.send(Client(), build.report("https://docs.acme.com/before"))
    before = delivery().status
    hours_pass(clock, 2)
    build.send(Client(), build.report("https://docs.acme.com/after"))

    held = Delivery.objects.get(report__doc_url="https://docs.acme.com/after")
    assert before == "sent"
    assert (held.status, held.held_for) == ("held", "rights")
    assert "No member of your organization has push right" in integration().obstacle
    assert alice.organization.notices.count() == 1
    assert "acme/docs" in alice.organization.notices.get().text


def test_what_waited_when_the_right_was_lost_is_held_and_goes_on_with_it(alice, code_host, clock):
    code_host.remove_member("acme", "alice")
    reconcile_due()
    code_host.fail("500", path="token")
    build.send(Client())
    hours_pass(clock, *A_DAY)
    held = (delivery().status, delivery().held_for)

    code_host.add_member("acme", "alice", role="admin")
    hours_pass(clock, 1)
    call_command("retry_deliveries")

    assert held == ("held", "rights")
    assert delivery().status == "sent"
    assert integration().rights_absences == 0


def test_a_look_a_day_is_needed_not_three_in_an_hour(alice, code_host, clock):
    code_host.remove_member("acme", "alice")

    for _ in range(5):
        call_command("reconcile_installations")
    build.send(Client())

    assert integration().rights_absences == 5
    assert delivery().status == "sent"


def test_one_member_with_push_right_is_enough_and_is_asked_about_first(alice, code_host, clock):
    for login in ("charlie", "bob"):
        account = code_host.account(login).id
        build.member(alice.organization, login, role="member", github_id=account)
    code_host.remove_member("acme", "alice")
    code_host.grant("bob", "acme/docs", "push")

    reconcile_due()
    first = questions(code_host)
    hours_pass(clock, 1)

    assert set(first) == {"alice", "bob", "charlie"}
    assert first[0] == "alice"  # an owner
    assert questions(code_host)[len(first) :] == ["bob"]
    assert integration().rights_of == code_host.account("bob").id


def test_one_question_an_hour_is_asked_where_all_is_well(alice, code_host, clock):
    build.member(alice.organization, "bob", github_id=code_host.account("bob").id)

    hours_pass(clock, 1, 1, 1, 1)

    assert questions(code_host) == ["alice"] * 4


def test_a_login_that_somebody_else_has_taken_gives_no_right(alice, code_host, clock):
    code_host.remove_member("acme", "alice")
    code_host.rename_account("alice", "alicia")
    code_host.add_user("alice")
    code_host.add_member("acme", "alice", role="admin")

    hours_pass(clock, *A_DAY)
    build.send(Client())

    assert delivery().held_for == "rights"


def test_a_new_login_takes_no_right_away_and_is_learned(alice, code_host, clock):
    code_host.rename_account("alice", "alicia")
    code_host.add_user("alice")

    hours_pass(clock, 1, 1)

    assert integration().rights_absences == 0
    assert questions(code_host) == ["alice", "alicia", "alicia"]
    alice.refresh_from_db()
    assert alice.login == "alicia"


PERMISSION = "/api/v3/repositories/*/permission"
UNANSWERED = [
    ("500", {}),
    ("403_retry_after", {"value": 120}),
    ("429", {"value": 120}),
    ("refuse", {}),
    ("truncated", {}),
]


@pytest.mark.parametrize(("kind", "details"), UNANSWERED)
def test_a_right_that_github_does_not_tell_about_is_not_lost(
    alice, code_host, clock, kind, details
):
    code_host.remove_member("acme", "alice")
    code_host.fail(kind, method="GET", path=PERMISSION, times=1000, **details)

    hours_pass(clock, *A_DAY)
    build.send(Client())

    assert questions(code_host)
    assert (integration().rights_absences, integration().rights_lost_at) == (0, None)
    assert not delivery().held_for


def test_github_is_left_alone_for_as_long_as_it_asks(alice, code_host, clock):
    code_host.fail("403_retry_after", method="GET", path=PERMISSION, value=3600)
    reconcile_due()
    asked = len(code_host.requests)

    clock.advance(minutes=59)
    Installation.objects.update(asked_about_at=None)  # as after an account was renamed
    reconcile_due()
    call_command("reconcile_installations")
    too_early = len(code_host.requests) - asked
    clock.advance(minutes=2)
    reconcile_due()

    assert too_early == 0
    assert len(code_host.requests) > asked


def test_our_own_pace_keeps_nobody_from_asking(alice, code_host, settings):
    settings.HUB_ISSUE_RATE = "1/hour"
    for number in range(2):
        build.send(Client(), build.report(f"https://docs.acme.com/{number}"))
    assert Installation.objects.get().limited_until

    reconcile_due()

    assert integration().rights_seen_at


def test_an_integration_that_cannot_be_asked_about_keeps_no_other_waiting(alice, code_host, clock):
    other = build.organization("initech")
    build.member(other, "bob", github_id=code_host.account("bob").id)
    build.integration(other, code_host)
    code_host.fail("500", method="GET", path=PERMISSION)

    reconcile_due()

    assert Integration.objects.exclude(rights_absent_since=None).count() == 1


def test_a_right_that_is_missing_outlasts_a_pause_and_a_problem(alice, code_host, clock):
    code_host.remove_member("acme", "alice")
    hours_pass(clock, *A_DAY)
    holds.pause(integration())
    build.send(Client())
    paused = delivery().held_for

    holds.end_pause(integration())
    holds.block(integration(), "Issues are turned off in acme/docs.")
    holds.unblock(integration())
    holds.probe()

    assert paused == "pause"
    assert (delivery().status, delivery().held_for) == ("held", "rights")


def test_a_delivery_that_was_let_go_without_the_right_is_held_again(alice, code_host, clock):
    code_host.remove_member("acme", "alice")
    hours_pass(clock, *A_DAY)
    build.send(Client())

    Delivery.objects.set_out_again()  # as an operator's retry does
    call_command("retry_deliveries")

    assert (delivery().status, delivery().held_for) == ("held", "rights")
    assert not code_host.issues("acme/docs")


@pytest.mark.parametrize("with_form", [False, True])
def test_a_member_who_has_the_right_sets_free_what_was_held(alice, code_host, clock, with_form):
    code_host.remove_member("acme", "alice")
    hours_pass(clock, *A_DAY)
    build.send(Client())
    bob = build.member(alice.organization, "bob", github_id=code_host.account("bob").id)
    code_host.grant("bob", "acme/docs", "push")

    if with_form:
        configuration.configure(bob.membership, repo_owner="acme", repo_name="docs")
    else:
        configuration.try_again(bob.membership)
    call_command("retry_deliveries")

    assert delivery().status == "sent"
    assert (integration().obstacle, integration().rights_absences) == ("", 0)


def test_what_was_held_for_a_lost_right_goes_to_the_next_repository(alice, code_host, clock):
    code_host.remove_member("acme", "alice")
    hours_pass(clock, *A_DAY)
    build.send(Client())
    code_host.add_member("acme", "alice", role="admin")
    manual = code_host.add_repository("acme", "manual")
    code_host.add_to_installation(build.installed(code_host), manual)

    configuration.forget(alice.organization)
    forgotten = (delivery().held_for, integration().obstacle)
    configuration.configure(alice, repo_owner="acme", repo_name="manual")
    call_command("retry_deliveries")

    assert forgotten == ("integration", "")
    assert [each.title for each in code_host.issues("acme/manual")]


def test_a_lost_right_is_shown_from_the_first_look_on(alice, code_host, clock, client):
    client.force_login(alice.user)
    code_host.remove_member("acme", "alice")

    hours_pass(clock, 1)
    pages = [client.get(f"/settings/{each}").content.decode() for each in ("", "integration/")]
    hours_pass(clock, 12, 13)
    stopped = client.get("/settings/").content.decode()
    refused = client.post("/settings/integration/try-again/", follow=True).content.decode()

    assert all("If it stays so for a day, nothing is sent" in each for each in pages)
    assert "Nothing is being sent" in stopped
    assert "You have no push right in acme/docs." in refused
