"""Whatever happens on the way: one cause has one issue at most, and none is forgotten."""

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from urllib.parse import parse_qs

import pytest
from django.db import connection

from core import clock
from integrations import github_api
from integrations.alerts import causes, sending
from integrations.github_sync.reconciling import reconcile_due
from integrations.models import Alert, Installation, Integration
from integrations.models.alert import AlertQuerySet
from tests import build
from tests.integrations.alerts import world
from tests.integrations.alerts.world import alert, maintain

pytestmark = pytest.mark.django_db(transaction=True)

OPENING = {  # what is armed for the POST, and the alert right after it
    "500": (("500", {}), "unknown"),
    "502 after creating": (("502_after_creating", {}), "unknown"),
    "refused": (("refuse", {}), "unknown"),
    "refused after creating": (("refuse", {"created": True}), "unknown"),
    "reset mid-answer": (("reset_mid_answer", {}), "unknown"),
    "truncated 201": (("truncated", {}), "unknown"),
    "201 without number": (("no_number", {}), "unknown"),
    "403 Retry-After: 120": (("403_retry_after", {"value": 120}), "pending"),
    "429": (("429", {"value": 60}), "pending"),
    "remaining 0": (("remaining_0", {"reset_in": 600}), "pending"),
    "401": (("401", {}), "open"),
    "403 archived": (("403_archived", {}), "pending"),
    "404": (("404", {}), "pending"),
    "410": (("410", {}), "pending"),
    "422": (("422", {}), "dropped"),
    "422 too quickly": (("422_too_quickly", {}), "pending"),
    "token refused": (("refuse", {"path": "token"}), "pending"),
    "token 404": (("404", {"path": "token"}), "pending"),
    "token 500": (("500", {"path": "token"}), "pending"),
}
ISSUE = "/api/v3/repositories/*/issues/*"
CLOSING = {  # what is armed for the PATCH, and the alert right after it
    "500": (("500", {}), "closing"),
    "502 after closing": (("502_after_creating", {}), "closing"),
    "refused": (("refuse", {}), "closing"),
    "truncated": (("truncated", {}), "closing"),
    "429": (("429", {"value": 60}), "closing"),
    "401": (("401", {}), "closed"),
    "307": (("307", {}), "closing"),
    "403 archived": (("403_archived", {}), "closed"),
    "404": (("404", {}), "closed"),
    "410": (("410", {}), "closed"),
}


@pytest.fixture
def acme(code_host):
    owner = build.acme(code_host)
    Integration.objects.update(alerts=True)
    return owner


@pytest.fixture
def settle(code_host, clock) -> Callable[[], None]:
    """Some hours pass; whatever GitHub refused is found to be well again."""

    def pass_hours(rounds: int = 5) -> None:
        for _ in range(rounds):
            clock.advance(minutes=70)
            Integration.objects.update(problem="")
            Installation.objects.update(suspended_at=None)
            maintain()

    return pass_hours


def state() -> str:
    now = alert()
    is_unknown = now.status == "pending" and now.posted_at
    return "unknown" if is_unknown else now.status


@pytest.mark.parametrize("name", OPENING)
def test_opening(acme, code_host, settle, name):
    (kind, details), expected = OPENING[name]
    code_host.fail(kind, **details)
    world.lose_record()

    maintain()
    first = state()
    settle()

    assert first == expected
    assert state() == ("dropped" if expected == "dropped" else "open")
    assert len(code_host.issues("acme/docs")) == (0 if expected == "dropped" else 1)


@pytest.mark.parametrize("name", CLOSING)
def test_closing(acme, code_host, settle, name):
    world.lose_record()
    maintain()
    (kind, details), expected = CLOSING[name]
    code_host.fail(kind, method="PATCH", path=ISSUE, **details)
    world.find_record()

    maintain()
    first = state()
    settle()

    assert first == expected
    assert state() == "closed"
    assert len(code_host.issues("acme/docs")) == 1
    if expected == "closing":
        assert code_host.issues("acme/docs")[0].state == "closed"
    elif name != "401":
        assert alert().reason


def test_closing_is_given_up_after_a_day(acme, code_host, settle):
    world.lose_record()
    maintain()
    code_host.fail("500", method="PATCH", path=ISSUE, times=1000)
    world.find_record()

    settle(25)

    assert alert().status == "closed"
    assert alert().reason.startswith("Given up after 24 hours.")


def test_a_limit_while_closing_is_respected_also_after_a_day(acme, code_host, clock):
    world.lose_record()
    maintain()
    code_host.fail("500", method="PATCH", path=ISSUE)
    world.find_record()
    maintain()
    code_host.fail("429", method="PATCH", path=ISSUE, value=600)

    clock.advance(days=2)
    maintain()

    assert state() == "closing"
    assert Installation.objects.get().is_left_alone()


def killed(*_: object, **__: object) -> None:
    raise SystemExit


def test_killed_before_the_post(acme, code_host, settle, monkeypatch):
    world.lose_record()
    with monkeypatch.context() as patch:
        patch.setattr(github_api, "create_issue", killed)
        with pytest.raises(SystemExit):
            maintain()
    assert (state(), len(code_host.issues("acme/docs"))) == ("unknown", 0)
    maintain()
    assert alert().tries == 1  # until its lease has expired

    settle(2)

    assert state() == "open"
    assert len(code_host.issues("acme/docs")) == 1


def test_killed_after_the_post(acme, code_host, settle, monkeypatch):
    world.lose_record()
    with monkeypatch.context() as patch:
        patch.setattr(Alert, "opened", killed)
        with pytest.raises(SystemExit):
            maintain()
    assert (state(), len(code_host.issues("acme/docs"))) == ("unknown", 1)

    settle(1)

    assert state() == "open"
    assert alert().issue_number == 1
    assert len(code_host.issues("acme/docs")) == 1


def test_what_is_not_in_the_list_yet_is_not_opened_again(acme, code_host, clock, monkeypatch):
    world.lose_record()
    with monkeypatch.context() as patch:
        patch.setattr(github_api, "create_issue", killed)
        with pytest.raises(SystemExit):
            maintain()

    clock.advance(seconds=61)  # the lease has expired
    maintain()
    assert (alert().tries, state()) == (2, "unknown")
    assert not code_host.issues("acme/docs")

    clock.advance(seconds=119)
    maintain()
    assert not code_host.issues("acme/docs")

    clock.advance(seconds=2)  # two minutes after it was looked for
    maintain()
    assert len(code_host.issues("acme/docs")) == 1


def test_a_clock_that_goes_forward_while_it_is_opened(acme, code_host, clock, monkeypatch):
    create, meanwhile = github_api.create_issue, []

    def slow(*sent, **more):
        clock.advance(hours=1)
        monkeypatch.setattr(github_api, "create_issue", create)
        maintain()  # another process, for which the lease is over
        meanwhile.append((alert().tries, state()))
        return create(*sent, **more)

    world.lose_record()
    monkeypatch.setattr(github_api, "create_issue", slow)
    maintain()
    clock.advance(minutes=3)
    maintain()

    assert meanwhile == [(2, "unknown")]
    assert (state(), len(code_host.issues("acme/docs"))) == ("open", 1)


@pytest.mark.parametrize("fault", ["500", "429", "404"])
def test_an_issue_that_could_not_be_looked_for_is_looked_for_again(acme, code_host, settle, fault):
    code_host.fail("502_after_creating")
    world.lose_record()
    maintain()
    code_host.fail(fault, method="GET")

    settle()

    assert (state(), alert().issue_number) == ("open", 1)
    assert len(code_host.issues("acme/docs")) == 1


def test_solved_before_a_lost_answer_was_looked_for(acme, code_host, settle):
    code_host.fail("502_after_creating")
    world.lose_record()
    maintain()
    world.find_record()

    settle(2)

    assert state() == "closed"
    assert [issue.state for issue in code_host.issues("acme/docs")] == ["closed"]


def test_solved_before_a_lost_issue_was_opened(acme, code_host, settle):
    code_host.fail("500")
    world.lose_record()
    maintain()
    world.find_record()

    settle(2)

    assert state() == "dropped"
    assert not code_host.issues("acme/docs")


def test_switched_off_before_a_lost_issue_was_opened(acme, code_host, settle):
    code_host.fail("500")
    world.lose_record()
    maintain()
    Integration.objects.update(alerts=False)
    settle(2)
    assert not code_host.issues("acme/docs")

    Integration.objects.update(alerts=True)
    settle(2)

    assert len(code_host.issues("acme/docs")) == 1


def test_an_answer_that_is_lost_again_and_again(acme, code_host, settle):
    world.lose_record()
    code_host.fail("500", times=3)

    settle(8)

    assert state() == "open"
    assert len(code_host.issues("acme/docs")) == 1


def test_solved_at_the_moment_at_which_its_issue_is_opened(acme, code_host, settle, monkeypatch):
    """The attack: between two statements of `end` another process opens the issue; it stays open."""
    world.lose_record()
    causes.compare()
    taken = Alert.objects.take(alert().pk)
    taken.record("Title", "Body")
    number = code_host.create_issue("acme/docs", title="Title", user="alice").number
    world.find_record()
    update = AlertQuerySet.update

    def opened_in_between(some, **columns):
        if "ended_at" in columns:
            taken.opened(number, f"https://github.com/acme/docs/issues/{number}")
        return update(some, **columns)

    with monkeypatch.context() as patch:
        patch.setattr(AlertQuerySet, "update", opened_in_between)
        causes.compare()
    settle(1)

    assert state() == "closed"
    assert code_host.issues("acme/docs")[0].state == "closed"


def test_a_lost_issue_is_looked_for_among_those_since_it_was_sent(acme, code_host, clock):
    """The attack: it waited for days before it was sent, and thousands were opened meanwhile."""
    world.lose_record()
    causes.compare()
    clock.advance(days=4)
    code_host.fail("502_after_creating")
    maintain()
    [sent] = Alert.objects.values_list("posted_at", flat=True)
    clock.advance(minutes=5)

    maintain()

    [looked] = [each for each in code_host.requests if each.method == "GET"]
    asked = datetime.fromisoformat(parse_qs(looked.query)["since"][0])
    assert abs(asked - (sent - github_api.CLOCKS_DIFFER)) < timedelta(seconds=2)


def test_somebody_elses_marker_is_not_adopted(acme, code_host, settle):
    code_host.fail("500")
    world.lose_record()
    maintain()
    mark = f"<!-- hub:{alert().pk} -->"
    code_host.create_issue("acme/docs", title="Mine", body=mark, user="charlie")

    settle(2)

    assert alert().issue_number == 2


def at_once(work: Callable[[], object]) -> None:
    """Four processes do this at the same moment."""
    barrier = threading.Barrier(4)

    def run() -> None:
        try:
            barrier.wait()
            work()
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_several_processes_at_once(acme, code_host):
    world.lose_record()

    at_once(causes.compare)
    at_once(sending.send_due)

    assert len(code_host.issues("acme/docs")) == 1
    assert alert().tries == 1

    world.find_record()
    at_once(causes.compare)
    at_once(sending.send_due)

    assert len([each for each in code_host.requests if each.method == "PATCH"]) == 1


def test_what_is_closed_while_a_process_waits_to_take_it_is_not_taken(acme, monkeypatch):
    """The attack: PostgreSQL does not look again at what a subquery found before the wait."""
    world.lose_record()
    causes.compare()
    due = AlertQuerySet.due

    def found_before(some):
        pks = list(due(some).values_list("pk", flat=True))
        Alert.objects.update(status="dropped")
        return Alert.objects.filter(pk__in=pks)

    with monkeypatch.context() as patch:
        patch.setattr(AlertQuerySet, "due", found_before)
        taken = Alert.objects.take(alert().pk)

    assert taken is None
    assert alert().tries == 0


def test_a_repository_that_is_gone_stops_the_integration(acme, code_host):
    code_host.delete_repository("acme/docs")
    world.lose_record()

    maintain()

    assert state() == "pending"
    assert Integration.objects.get().problem == alert().reason != ""
    maintain()
    assert alert().tries == 1


def test_a_suspended_app_is_not_called_again(acme, code_host):
    code_host.suspend(build.installed(code_host))
    world.lose_record()

    maintain()

    assert Installation.objects.get().suspended_at
    maintain()
    assert alert().tries == 1

    code_host.unsuspend(build.installed(code_host))


def turn_issues_off(code_host):
    code_host.set_issues("acme/docs", False)


def archive(code_host):
    code_host.archive("acme/docs")


def take_out(code_host):
    code_host.remove_from_installation(build.installed(code_host), "acme/docs")


def come_back(code_host):
    docs = code_host.repository("acme/docs")
    docs.has_issues, docs.archived = True, False
    code_host.add_to_installation(build.installed(code_host), docs)


@pytest.mark.parametrize("away", [turn_issues_off, archive, take_out])
def test_an_issue_in_a_repository_that_is_away_for_a_while_is_closed_once_it_is_back(
    acme, code_host, clock, away
):
    world.lose_record()
    maintain()
    away(code_host)
    reconcile_due()
    world.find_record()
    maintain()

    come_back(code_host)
    clock.advance(minutes=61)
    reconcile_due()
    maintain()

    assert [issue.state for issue in code_host.issues("acme/docs")] == ["closed"]
    assert (state(), alert().reason) == ("closed", "")


def test_an_issue_in_the_repository_before_is_closed_there(acme, code_host):
    world.lose_record()
    maintain()
    other = code_host.add_repository("acme", "other")
    code_host.add_to_installation(build.installed(code_host), other)
    Integration.objects.update(repository_id=other.id, repo_name="other")
    maintain()
    assert not code_host.issues("acme/other")

    world.find_record()
    maintain()

    assert code_host.issues("acme/docs")[0].state == "closed"
    assert not code_host.issues("acme/other")


def move(code_host, repository: str) -> None:
    """The organization's issues go to another repository, of another account if its name says so."""
    account, _, name = repository.partition("/")
    if account != "acme":
        code_host.add_organization(account)
    there = code_host.add_repository(account, name, private=True)
    if account == "acme":
        code_host.add_to_installation(build.installed(code_host), there)
    else:
        code_host.add_installation(account, repositories=[there])
    installation, _ = Installation.objects.get_or_create(
        github_id=build.installed(code_host, account).id, defaults={"account": account}
    )
    Integration.objects.update(
        installation=installation, repository_id=there.id, repo_owner=account, repo_name=name
    )


@pytest.mark.parametrize("new", ["acme/secret", "beta/docs"])
def test_a_lost_issue_is_not_posted_in_a_repository_that_was_left(acme, code_host, settle, new):
    """The attack: GitHub answers 500 in a public repository, and a private one is chosen then."""
    code_host.fail("500")
    world.lose_record()
    maintain()
    move(code_host, new)

    settle(2)

    assert not code_host.issues("acme/docs")
    assert len(code_host.issues(new)) == 1
    assert (state(), alert().repository) == ("open", new)


@pytest.mark.parametrize("new", ["acme/secret", "beta/docs"])
@pytest.mark.parametrize("fault", [None, "502_after_creating"])
def test_an_issue_in_a_repository_that_was_left_is_closed_there(
    acme, code_host, settle, fault, new
):
    """The attack: the app still serves the account that was left, and its issue stays open for ever."""
    if fault:
        code_host.fail(fault)
    world.lose_record()
    maintain()
    move(code_host, new)
    world.find_record()

    settle(3)

    assert (state(), alert().reason) == ("closed", "")
    assert [issue.state for issue in code_host.issues("acme/docs")] == ["closed"]
    assert not code_host.issues(new)


def test_an_installation_that_was_left_is_left_alone_for_as_long_as_github_asks(
    acme, code_host, clock
):
    world.lose_record()
    maintain()
    move(code_host, "beta/docs")
    Installation.objects.get(account="acme").leave_alone_for(timedelta(minutes=10))
    world.find_record()
    asked = len(code_host.requests)

    maintain()
    during = len(code_host.requests)
    clock.advance(minutes=11)
    maintain()

    assert during == asked
    assert (state(), alert().reason) == ("closed", "")


def uninstall(code_host) -> None:
    code_host.uninstall(build.installed(code_host))
    Installation.objects.filter(account="acme").update(suspended_at=clock.now())


def test_an_issue_that_nobody_can_reach_any_more_is_left_and_says_so(acme, code_host):
    world.lose_record()
    maintain()
    move(code_host, "beta/docs")
    uninstall(code_host)
    world.find_record()

    maintain()

    assert state() == "closed"
    assert alert().reason.startswith("The Hub could not close its issue.")
    assert [issue.state for issue in code_host.issues("acme/docs")] == ["open"]
    assert not Installation.objects.get(account="beta").suspended_at
    assert not Integration.objects.get().problem


@pytest.mark.parametrize("is_over", [False, True])
def test_a_lost_issue_that_nobody_can_look_for(acme, code_host, clock, is_over):
    """It is told in the new repository if it still lasts."""
    code_host.fail("502_after_creating")
    world.lose_record()
    maintain()
    move(code_host, "beta/docs")
    uninstall(code_host)
    if is_over:
        world.find_record()

    for _ in range(2):
        clock.advance(hours=2)
        maintain()

    assert len(code_host.issues("beta/docs")) == (0 if is_over else 1)
    assert state() == ("dropped" if is_over else "open")
    assert ("cannot look there now" in alert().reason) == is_over


def test_an_installation_that_was_left_is_found_to_be_suspended(acme, code_host, clock):
    """That stops nothing in the new one."""
    world.lose_record()
    maintain()
    move(code_host, "beta/docs")
    code_host.suspend(build.installed(code_host))
    github_api.forget_tokens()
    world.find_record()

    for _ in range(2):
        maintain()
        clock.advance(hours=2)

    assert state() == "closed"
    assert Installation.objects.get(account="acme").suspended_at
    assert not Installation.objects.get(account="beta").suspended_at
    assert not Integration.objects.get().problem


def test_an_internal_error_is_logged_and_tried_again(acme, code_host, settle, monkeypatch, caplog):
    world.lose_record()
    with monkeypatch.context() as patch:
        patch.setattr(github_api, "create_issue", lambda *_, **__: 1 / 0)
        maintain()
    assert "ZeroDivisionError" in caplog.text

    settle(2)

    assert len(code_host.issues("acme/docs")) == 1
