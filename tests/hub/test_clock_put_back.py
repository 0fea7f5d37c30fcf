"""The database's clock was ahead, and is put back: nothing waits for that long, and nothing is sent twice."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from django.apps import apps
from django.db import IntegrityError
from django.db.models import DateTimeField

from core.clock import SPARE, now
from hub import clock_put_back
from hub.clock_put_back import AHEAD, move_times_back, note
from hub.maintenance import Runner
from hub.models import Lease
from integrations import github_api
from integrations.github_api import answers
from integrations.models import Delivery, Integration
from orgs.models import Domain
from reports.models import Report
from tests import build
from tests.conftest import Clock
from tests.hub.screen import test_stale_list as stale_list
from tests.hub.screen.controls import browser_of
from tests.integrations.alerts.world import alert, lapse, maintain
from tests.upgrades import filling
from tests.upgrades.filling.world import Hub
from tests.upgrades.kept import OURS

pytestmark = pytest.mark.django_db(transaction=True)

LEFT = {
    "hub.Lease.until": "a lease that ends too late is free",
    "integrations.Alert.created_at": "is only shown",
    "integrations.Alert.issue_updated_at": "by GitHub's clock",
    "integrations.Comment.created_at": "bounds a wait of minutes",
    "integrations.Comment.occasion": "is in the mark of what was written",
    "integrations.Delivery.created_at": "is in the mark of what was written, as an occasion",
    "integrations.Delivery.issue_closed_at": "by GitHub's clock",
    "integrations.Delivery.issue_updated_at": "by GitHub's clock",
    "integrations.Hold.ends_at": "as an operator said",
    "integrations.Installation.created_at": "is only shown",
    "orgs.Organization.created_at": "is only shown",
    "orgs.Terminal.ends_at": "by the machine's clock",
    "orgs.Terminal.last_used_at": "by the machine's clock",
    "orgs.Terminal.signed_in_at": "by the machine's clock",
    "orgs.User.date_joined": "by the machine's clock",
    "orgs.User.last_login": "by the machine's clock",
}


def later(**duration: float) -> list[str]:
    """The columns of which some row is so much later than it may be."""
    by = timedelta(**duration)
    return [
        f"{model._meta.label}.{name}"
        for model, columns in AHEAD.items()
        for name, ahead in columns.items()
        if model._base_manager.filter(**{f"{name}__gt": now() + ahead + by}).exists()
    ]


def was_ahead(clock: Clock, *, hours: float) -> None:
    """The clock was so far ahead, which was seen, and is right again."""
    clock.advance(hours=hours)
    note()
    clock.advance(hours=-hours)


def a_round() -> None:
    runner = Runner()
    runner._mine.set()
    runner._round()


def test_of_each_time_it_is_known_how_far_it_may_be_ahead():
    times = {
        f"{model._meta.label}.{field.name}"
        for model in apps.get_models()
        if model._meta.app_label in OURS
        for field in model._meta.concrete_fields
        if isinstance(field, DateTimeField)
    }
    moved = {f"{model._meta.label}.{name}" for model, columns in AHEAD.items() for name in columns}

    assert moved | set(LEFT) == times
    assert not moved & set(LEFT)


@pytest.fixture
def filled(live_server, code_host, dns, clock) -> None:
    """Rows of every kind."""
    code_host.app.webhook_url = f"{live_server.url}/v1/webhooks/github"
    filling.fill(Hub(code_host), dns, clock)


@pytest.mark.slow
def test_each_time_that_cannot_have_come_moves_back_and_no_other(filled, clock, monkeypatch):
    monkeypatch.setattr(clock_put_back, "AT_ONCE", 3)
    clock.advance(days=3)
    for model, columns in AHEAD.items():
        rows = model._base_manager
        first = rows.order_by("pk").values_list("pk", flat=True)[:1]
        for name, ahead in columns.items():
            with suppress(IntegrityError):  # as a claim is not verified and lapsed at a time
                rows.filter(pk__in=list(first)).update(**{name: now() + ahead})
    note()
    clock.advance(days=-3)
    wrong = later(days=2.9)

    move_times_back()

    assert {each.rpartition(".")[0] for each in wrong} == {m._meta.label for m in AHEAD}
    assert not later()
    back_too_far = set(wrong) - set(later(minutes=-2))
    assert {each.rpartition(".")[2] for each in back_too_far} <= {"due_at"}  # it is looked for soon
    assert move_times_back() == 0


def test_what_waited_goes_on_at_once(client, code_host, clock):
    build.acme(code_host)
    code_host.fail("500", path="token")
    note()
    clock.advance(days=40)
    build.send(client)
    note()
    clock.advance(days=-40)
    a_round()
    clock.advance(minutes=2)
    a_round()

    assert Delivery.objects.get().status == "sent"


@pytest.mark.parametrize(("act", "state"), [("discard", "held"), ("restore", "discarded")])
def test_all_that_match_changes_what_changed_while_the_clock_was_ahead(
    code_host, clock, act, state
):
    alice = browser_of(build.acme(code_host), "alice")
    note()
    clock.advance(days=30)
    stale_list.pause()
    stale_list.arrive("lol")
    Delivery.objects.update(status="held", held_for="discarded" if act == "restore" else "pause")
    note()
    clock.advance(days=-30)
    a_round()

    asked = f"status={state}"
    page = stale_list.press(alice, act, asked, stale_list.shown(alice, asked))

    assert "since this list was shown" not in page
    assert stale_list.states() == {"lol": "discarded" if act == "discard" else "held"}


@pytest.mark.parametrize("pass_then", [timedelta(), timedelta(hours=7)])
def test_an_issue_of_a_wrong_time_is_found(client, code_host, clock, pass_then):
    """Else it would be looked for among what was updated after it: also once that time has come."""
    build.acme(code_host)
    note()
    clock.advance(hours=5)
    code_host.fail("502_after_creating")
    build.send(client)
    note()
    clock.advance(hours=-5, seconds=pass_then.total_seconds())
    Lease.objects.filter(name=clock_put_back.LATEST).update(until=now() + timedelta(hours=5))
    a_round()
    clock.advance(hours=6)
    a_round()

    assert Delivery.objects.get().status == "sent"
    assert len(code_host.issues("acme/docs")) == 1


def test_what_cannot_be_found_by_the_wrong_clock_waits_for_the_right_one(
    client, code_host, clock, monkeypatch
):
    build.acme(code_host)
    note()
    code_host.fail("502")
    build.send(client)
    clock.advance(days=3)
    with monkeypatch.context() as at_github:
        at_github.setattr(answers, "date", lambda answer: datetime.now(UTC) - timedelta(days=3))
        a_round()
        waiting = Delivery.objects.get()
    note()
    clock.advance(days=-3)
    a_round()
    clock.advance(minutes=3)
    a_round()

    assert (waiting.status, waiting.reason) == ("pending", answers.OTHER_TIME)
    assert Delivery.objects.get().status == "sent"
    assert len(code_host.issues("acme/docs")) == 1


def test_what_came_in_while_nobody_looked_tells_how_far_the_clock_was_ahead(
    client, code_host, clock
):
    build.acme(code_host)
    note()
    build.send(client)
    Report.objects.update(received_at=now() + timedelta(days=3))
    unseen = move_times_back()
    note()

    assert unseen == 0
    assert move_times_back() == 1
    assert not Report.objects.filter(received_at__gt=now()).exists()


def test_moving_that_was_stopped_goes_on(client, code_host, clock):
    build.acme(code_host)
    note()
    clock.advance(days=3)
    build.send(client)
    note()
    clock.advance(days=-3)
    move_times_back(lambda: False)
    stopped = later()
    move_times_back()

    assert stopped
    assert not later()


@pytest.mark.parametrize("steps", range(9))
def test_wherever_moving_was_stopped_bad_news_is_told_once(client, code_host, clock, steps):
    """The time of an alert is a copy of the time since when its cause lasts: both move by as much."""
    build.acme(code_host)
    Integration.objects.update(alerts=True)
    build.send(client)
    note()
    clock.advance(days=3)
    lapse()
    maintain()
    note()
    clock.advance(days=-3)
    left = iter([True] * steps)
    move_times_back(lambda: next(left, False))
    clock.advance(seconds=5)
    move_times_back()
    maintain()

    assert [issue.title for issue in code_host.issues("acme/docs")][1:] == [
        "Your claim of docs.acme.com has lapsed"
    ]
    assert alert().since == Domain.objects.get().lapsed_at
    assert not later()


def test_what_is_unknown_is_looked_for_by_as_much_however_often_moving_was_stopped(
    client, code_host, clock
):
    build.acme(code_host)
    note()
    clock.advance(days=3)
    code_host.fail("502_after_creating")
    build.send(client)
    note()
    clock.advance(days=-3)
    for _ in range(3):
        move_times_back(lambda: False)

    unknown_for = now() - timedelta(days=1)
    assert Delivery.objects.filter(outcome_unknown_since__gt=unknown_for).exists()


def test_what_is_being_sent_meanwhile_is_not_sent_again_before_github_lists_it(
    client, code_host, clock, monkeypatch
):
    build.acme(code_host)
    was_ahead(clock, hours=9)
    create = github_api.create_issue

    def move_and_create(*args, **kwargs):
        move_times_back()
        return create(*args, **kwargs)

    monkeypatch.setattr(github_api, "create_issue", move_and_create)
    monkeypatch.setattr(github_api, "find_issue", lambda *args, **kwargs: None)
    code_host.fail("502_after_creating")
    build.send(client)
    clock.advance(seconds=45)
    a_round()

    assert Delivery.objects.get().status == "pending"
    assert len(code_host.issues("acme/docs")) == 1


def test_what_was_sent_just_before_is_not_sent_again_when_a_member_tries_it_again(
    client, code_host, clock, monkeypatch
):
    build.acme(code_host)
    was_ahead(clock, hours=9)
    monkeypatch.setattr(github_api, "find_issue", lambda *args, **kwargs: None)
    code_host.fail("502_after_creating")
    build.send(client)
    move_times_back()
    Delivery.objects.requeue()
    a_round()

    assert Delivery.objects.get().status == "pending"
    assert len(code_host.issues("acme/docs")) == 1


def test_a_clock_that_is_put_back_once_more_moves_by_what_that_is(client, code_host, clock):
    build.acme(code_host)
    for days in (3, 5, 4):
        note()
        clock.advance(days=days)
        build.send(client, build.report(report__summary=f"After {days} days"))
        note()
        clock.advance(days=-days)
        move_times_back(lambda: False)
        move_times_back()

        assert not later()
        assert not Report.objects.filter(received_at__lt=now() - timedelta(hours=1)).exists()


@pytest.mark.parametrize("seconds", [0, 50])
def test_a_clock_that_is_right_moves_nothing(client, code_host, clock, seconds):
    build.acme(code_host)
    clock.advance(seconds=seconds)
    build.send(client)
    note()
    clock.advance(seconds=-seconds)

    assert move_times_back() == 0


@pytest.mark.parametrize("is_this_one", [True, False])
def test_a_machine_whose_clock_is_ahead_keeps_nothing_waiting(
    client, code_host, clock, is_this_one
):
    """Reports have the time of the machine that took them, and come in all the time; the database's clock is right."""
    ahead = timedelta(minutes=10)
    bookmark = None if is_this_one else clock_put_back.Bookmark()
    build.acme(code_host)
    if is_this_one:
        clock.advance(seconds=-ahead.total_seconds())
    note(bookmark=bookmark)
    code_host.fail("502")
    build.send(client)
    for minute in range(6):
        clock.advance(minutes=1)
        build.send(client, build.report(report__summary=f"After {minute} minutes"))
        if not is_this_one:
            newest = Report.objects.latest("pk").pk
            Report.objects.filter(pk=newest).update(received_at=now() + ahead)
        note(bookmark=bookmark)
        a_round()

    assert Delivery.objects.earliest("pk").status == "sent"
    assert Report.objects.filter(received_at__gt=now() + 2 * SPARE).exists()
