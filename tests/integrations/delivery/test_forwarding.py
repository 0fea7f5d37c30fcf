"""What becomes of a delivery, whatever GitHub does."""

import threading
from datetime import timedelta

import pytest
import urllib3
from django.core.management import call_command
from django.db import OperationalError, transaction

from core import deadlines
from integrations import github_api
from integrations.delivery import forwarding, trying_again
from integrations.github_api import issues, transport
from integrations.github_api.answers import GitHubAnswer
from integrations.issue.rendering import PLACEHOLDERS
from integrations.models import Attempt, Delivery, Installation, Integration
from orgs.models import Domain
from reports.models import Report
from tests import build
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def retry(*arguments: str) -> None:
    call_command("retry_deliveries", *arguments)


def delivery() -> Delivery:
    return Delivery.objects.get()


def test_what_was_sent_is_kept(client, code_host):
    build.acme(code_host)

    build.send(client)

    [issue] = code_host.issues("acme/docs")
    sent = delivery()
    assert (sent.status, sent.issue_number, sent.title, sent.body) == (
        "sent", issue.number, issue.title, issue.body
    )  # fmt: skip
    assert sent.repository == "acme/docs"
    assert sent.body.endswith(f"<!-- hub:{sent.report_id} -->")
    assert f"https://hub.example/r/{sent.report_id}/" in sent.body
    [attempt] = sent.attempts.all()
    assert attempt.outcome == Attempt.Outcome.SENT
    assert attempt.ended_at >= attempt.started_at


def test_the_token_is_for_one_repository_and_for_issues_only(client, code_host):
    build.acme(code_host)

    build.send(client)

    [minted] = [each for each in code_host.requests if each.asked]
    assert minted.asked["permissions"] == {"issues": "write"}
    assert minted.asked["repository_ids"] == [code_host.repository("acme/docs").id]


def test_a_token_is_used_again(client, code_host):
    build.acme(code_host)

    for number in range(3):
        build.send(client, build.report(report__summary=f"Gone {number}"))

    assert len([each for each in code_host.requests if each.asked]) == 1
    assert len(code_host.issues("acme/docs")) == 3


def test_a_token_that_was_revoked_is_minted_once_more(client, code_host):
    build.acme(code_host)
    code_host.fail("401")

    build.send(client)

    assert delivery().status == "sent"
    assert len([each for each in code_host.requests if each.asked]) == 2
    assert len(code_host.issues("acme/docs")) == 1


def test_a_second_401_holds_the_integration(client, code_host):
    build.acme(code_host)
    code_host.fail("401", times=2)

    build.send(client)

    assert delivery().status == "held"
    assert "token" in Integration.objects.get().problem


@pytest.mark.parametrize(
    ("fault", "details", "reason"),
    [
        ("refuse", {"path": "token"}, "could not be reached"),
        ("500", {"path": "token"}, "500"),
        ("502", {"path": "token"}, "502"),
        ("401", {"path": "token"}, "key"),
    ],
)
def test_where_nothing_was_sent_it_is_tried_again(client, code_host, clock, fault, details, reason):
    build.acme(code_host)
    code_host.fail(fault, **details)

    answer = build.send(client)
    waiting = delivery()
    retry()
    too_early = len(code_host.issues("acme/docs"))
    clock.advance(seconds=40)
    retry()

    assert answer.status_code == 201
    assert waiting.status == "pending"
    assert waiting.outcome_unknown_since is None
    assert reason in waiting.reason
    assert too_early == 0
    assert delivery().status == "sent"
    assert len(code_host.issues("acme/docs")) == 1


def test_an_issue_that_was_closed_before_its_number_was_known_is_closed(client, code_host, clock):
    build.acme(code_host)
    code_host.fail("502_after_creating")
    build.send(client)
    code_host.close_issue("acme/docs", 1, by="alice")

    clock.advance(minutes=3)
    retry()

    assert (delivery().status, delivery().issue_state) == ("sent", "closed")


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (422, {"errors": [{"message": "was submitted too quickly"}]}),
        (403, {"message": "Forbidden"}),  # by a firewall that reads what is sent to the code host
    ],
)
def test_a_text_that_is_always_refused_keeps_no_other_waiting_for_long(
    client, code_host, clock, monkeypatch, status, told
):
    build.acme(code_host)
    post, asked = issues.post, []

    def refuse(repository, path, fields, *rest):
        if "POISON" not in fields["body"]:
            return post(repository, path, fields, *rest)
        asked.append(path)
        return GitHubAnswer(status, {}, told)

    monkeypatch.setattr(issues, "post", refuse)
    for summary in ("First", "POISON", "Honest"):
        client.defaults["REMOTE_ADDR"] = "198.51.100.1" if summary == "POISON" else "203.0.113.9"
        build.send(client, build.report(report__summary=summary))
    for _ in range(3):
        clock.advance(seconds=65)
        retry()
    others = Delivery.objects.filter(status="sent").count()
    for _ in range(30):
        clock.advance(hours=1, minutes=13)
        retry()

    assert others == 2
    last = Delivery.objects.get(report__summary="POISON")
    assert last.status == "failed"
    assert last.reason.startswith("Given up after 24 hours.")
    assert len(asked) < 30


def test_a_day_in_which_the_hub_was_away_is_no_day_of_failures(client, code_host, clock):
    """Or the first hiccup of GitHub afterwards would end all that waits, on its second try."""
    build.acme(code_host)
    code_host.fail("500", path="token", times=2)
    build.send(client)

    clock.advance(hours=25)
    retry()
    again = Delivery.objects.get()
    clock.advance(hours=1, minutes=13)
    retry()

    assert (again.status, again.tries) == ("pending", 2)
    assert Delivery.objects.get().status == "sent"


def test_a_repository_that_is_gone_is_asked_about_at_once(client, code_host, clock):
    """What strangers see of its issues is hidden by that question: it may be private by now."""
    member = build.member(build.acme(code_host), "alice").membership
    code_host.delete_repository("acme/docs")
    Installation.objects.update(asked_about_at=clock.now())

    build.send(client)
    first = Installation.objects.get().asked_about_at
    Installation.objects.update(asked_about_at=clock.now())
    trying_again.try_again(Delivery.objects.get(), by=member)

    assert (Delivery.objects.get().status, first) == ("held", None)
    assert Installation.objects.get().asked_about_at, "each that finds the same asks no more"


def test_a_limit_after_an_issue_was_found_is_respected(client, code_host, clock):
    build.acme(code_host)
    code_host.fail("502_after_creating")
    build.send(client)
    code_host.fail("429", method="GET", path="/api/v3/repositories/*/issues/1", value=600)

    clock.advance(minutes=3)
    retry()

    assert delivery().status == "sent"
    assert Installation.objects.get().is_left_alone()


@pytest.mark.parametrize(
    ("fault", "details"),
    [
        ("refuse", {"created": True}),
        ("502_after_creating", {}),
        ("reset_mid_answer", {}),
        ("truncated", {}),
        ("no_number", {}),
        ("307", {"created": True}),
        ("308", {"created": True}),
        ("500", {"created": True}),
    ],
)
def test_an_issue_whose_answer_was_lost_is_found_by_its_marker(
    client, code_host, clock, fault, details
):
    build.acme(code_host)
    code_host.fail(fault, **details)

    build.send(client)
    lost = delivery()
    clock.advance(seconds=40)
    retry()

    assert lost.status == "pending"
    assert lost.outcome_unknown_since
    [issue] = code_host.issues("acme/docs")
    assert (delivery().status, delivery().issue_number) == ("sent", issue.number)
    assert delivery().outcome_unknown_since is None


@pytest.mark.parametrize(
    ("fault", "details"), [("refuse", {}), ("500", {}), ("502", {}), ("307", {}), ("308", {})]
)
def test_an_issue_that_is_not_found_is_sent_again_after_two_minutes(
    client, code_host, clock, fault, details
):
    build.acme(code_host)
    code_host.fail(fault, **details)

    build.send(client)
    clock.advance(seconds=40)
    retry()
    after_40_seconds = len(code_host.issues("acme/docs"))
    clock.advance(seconds=90)
    retry()

    assert after_40_seconds == 0
    assert delivery().status == "sent"
    assert len(code_host.issues("acme/docs")) == 1


def test_the_marker_is_looked_for_on_every_page(client, code_host, clock):
    build.acme(code_host)
    code_host.fail("502_after_creating")
    for number in range(120):
        code_host.create_issue("acme/docs", title=f"Other {number}", user="charlie")
    build.send(client)
    for number in range(120):
        code_host.create_issue("acme/docs", title=f"Later {number}", user="charlie")

    clock.advance(seconds=40)
    retry()

    assert delivery().issue_number == 121
    assert len(code_host.issues("acme/docs")) == 241


def test_a_marker_in_somebody_elses_issue_counts_for_nothing(client, code_host, clock):
    build.acme(code_host)
    code_host.fail("502")
    build.send(client)
    forged = code_host.create_issue(
        "acme/docs", title="x", body=forwarding.marker(delivery().report_id), user="charlie"
    )

    clock.advance(minutes=3)
    retry()

    assert delivery().status == "sent"
    assert delivery().issue_number != forged.number


def test_an_issue_is_found_by_an_app_that_has_another_name_now(client, code_host, clock, settings):
    build.acme(code_host)
    code_host.fail("502_after_creating")
    build.send(client)
    settings.HUB_GITHUB_APP_SLUG = "former-name"

    clock.advance(minutes=3)
    retry()

    assert delivery().status == "sent"
    assert len(code_host.issues("acme/docs")) == 1


def test_a_hub_that_does_not_know_its_app_sends_nothing_twice(client, code_host, clock, settings):
    build.acme(code_host)
    code_host.fail("502_after_creating")
    build.send(client)
    settings.HUB_GITHUB_APP_SLUG = settings.HUB_GITHUB_APP_ID = ""

    clock.advance(minutes=3)
    retry()

    assert delivery().status == "pending"
    assert "GitHub App is not configured" in delivery().reason
    assert len(code_host.issues("acme/docs")) == 1


def test_what_is_sent_again_goes_where_it_was_sent_first(client, code_host, clock):
    build.acme(code_host)
    other = code_host.add_repository("acme", "other")
    code_host.add_to_installation(build.installed(code_host), other)
    code_host.fail("502")
    build.send(client)
    Integration.objects.update(repository_id=other.id, repo_name="other")

    clock.advance(minutes=3)
    retry()

    assert len(code_host.issues("acme/docs")) == 1
    assert not code_host.issues("acme/other")


def test_what_was_never_sent_follows_the_integration(client, code_host, clock):
    build.acme(code_host)
    other = code_host.add_repository("acme", "other")
    code_host.add_to_installation(build.installed(code_host), other)
    code_host.fail("500", path="token")
    build.send(client)
    Integration.objects.update(repository_id=other.id, repo_name="other")

    clock.advance(minutes=3)
    retry()

    assert not code_host.issues("acme/docs")
    assert delivery().repository == "acme/other"


@pytest.mark.slow
def test_what_is_still_being_connected_at_the_deadline_is_never_sent(
    client, code_host, monkeypatch
):
    """A name server that was silent for minutes made two issues: the first POST went out once it answered."""
    connect, over, begun = urllib3.util.connection.create_connection, threading.Event(), []

    def slow(*to, **options):
        begun.append(to)
        if len(begun) > 1:  # the first is for the token
            over.wait(60)
        return connect(*to, **options)

    build.acme(code_host)
    monkeypatch.setattr(urllib3.util.connection, "create_connection", slow)
    monkeypatch.setattr(forwarding, "DEADLINE", 1)
    build.send(client)
    waiting = delivery()
    over.set()
    assert wait_until(lambda: deadlines._slots()._value == deadlines.slots())

    assert len(begun) == 2
    assert (waiting.status, waiting.outcome_unknown_since) == ("pending", None)
    assert not code_host.issues("acme/docs")


FOR_MINUTES = {"hang": {"created": True, "seconds": 600}, "drip": {"milliseconds": 2000}}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FOR_MINUTES)
def test_the_reporter_does_not_wait_for_a_slow_code_host(
    client, code_host, clock, monkeypatch, fault
):
    monkeypatch.setattr(transport, "TIMEOUT", 600)
    build.acme(code_host)
    code_host.fail(fault, **FOR_MINUTES[fault])

    with monkeypatch.context() as patch:
        patch.setattr(forwarding, "DEADLINE", 1)
        answer = build.send(client)
    under_way = deadlines.slots() - deadlines._slots()._value
    lost = delivery()
    clock.advance(minutes=3)
    retry()

    assert answer.status_code == 201
    assert under_way == 1
    assert (lost.status, bool(lost.outcome_unknown_since)) == ("pending", True)
    assert delivery().status == "sent"
    assert len(code_host.issues("acme/docs")) == 1


def test_a_code_host_that_is_away_loses_nothing(client, code_host, clock):
    build.acme(code_host)
    url = code_host.url
    code_host.stop()

    answer = build.send(client)
    clock.advance(seconds=40)
    retry()
    clock.advance(minutes=3)
    code_host.start(port=int(url.rpartition(":")[2]))
    retry()

    assert answer.status_code == 201
    assert delivery().status == "sent"
    assert delivery().attempts.count() == 3
    assert len(code_host.issues("acme/docs")) == 1


def test_after_24_hours_it_is_given_up_in_words(client, code_host, clock):
    build.acme(code_host)
    code_host.fail("500", path="token", times=99)

    build.send(client)
    for _ in range(21):
        clock.advance(hours=1, minutes=13)
        retry()

    assert delivery().status == "failed"
    assert "24 hours" in delivery().reason


def test_what_github_calls_invalid_has_failed(client, code_host, clock):
    build.acme(code_host)
    code_host.fail("422")

    answer = build.send(client)
    clock.advance(hours=2)
    retry("--now")

    assert delivery().status == "failed"
    assert "GitHub refused the issue: body is too long" in delivery().reason
    assert not code_host.issues("acme/docs")
    assert client.get(f"/v1/reports/{answer.json()['id']}").json()["status"] == "received"


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (lambda host: host.set_issues("acme/docs", False), "Issues are turned off in acme/docs"),
        (lambda host: host.archive("acme/docs"), "acme/docs is archived"),
        (lambda host: host.delete_repository("acme/docs"), "acme/docs"),
    ],
)
def test_what_only_the_maintainer_can_mend_holds_the_integration(client, code_host, spoil, problem):
    build.acme(code_host)
    spoil(code_host)

    build.send(client)
    build.send(client, build.report(report__summary="Another"))

    assert problem in Integration.objects.get().problem
    assert list(Delivery.objects.values_list("status", flat=True)) == ["held", "held"]
    assert Attempt.objects.count() == 1  # the second was not even tried


def test_a_suspended_installation_holds(client, code_host):
    build.acme(code_host)
    code_host.suspend(build.installed(code_host))

    build.send(client)

    assert delivery().status == "held"
    assert Installation.objects.get().suspended_at


@pytest.mark.parametrize(
    ("fault", "details", "seconds"),
    [
        ("403_retry_after", {"value": 120}, 120),
        ("429", {"value": 120}, 120),
        ("429", {"value": 1_000_000_000}, 3600),
        ("429", {"value": "1e9"}, 60),
        ("429", {"value": "abc"}, 60),
        ("remaining_0", {"reset_in": 600}, 600),
    ],
)
def test_a_rate_limit_is_waited_out(client, code_host, clock, fault, details, seconds):
    build.acme(code_host)
    code_host.fail(fault, **details)

    build.send(client)
    limited = delivery()
    clock.advance(seconds=seconds - 10)
    retry()
    too_early = len(code_host.issues("acme/docs"))
    clock.advance(seconds=15)
    retry()

    assert (limited.status, limited.outcome_unknown_since) == ("pending", None)
    assert too_early == 0
    assert delivery().status == "sent"


def test_a_page_that_is_no_longer_owned_is_held(client, code_host, clock):
    build.acme(code_host)
    code_host.fail("500", path="token")
    build.send(client)
    Domain.objects.update(verified_at=None)

    clock.advance(minutes=3)
    retry()

    assert delivery().status == "held"
    assert "no longer belongs to your organization" in delivery().reason
    assert not code_host.issues("acme/docs")


def test_a_report_that_was_rolled_back_is_not_forwarded(client, code_host):
    build.acme(code_host)

    with transaction.atomic():
        build.send(client)
        transaction.set_rollback(True)

    assert not Report.objects.exists()
    assert not code_host.issues("acme/docs")


def test_a_lease_that_ran_out_counts_as_an_unknown_outcome(client, code_host, clock, monkeypatch):
    def die(*args, **kwargs):
        raise SystemExit

    build.acme(code_host)
    with monkeypatch.context() as patch:
        patch.setattr(Delivery, "succeed", die)  # the process ends between the POST and the record
        build.send(client)
    assert delivery().status == "sending"
    retry("--now")
    while_leased = delivery().attempts.count()

    clock.advance(minutes=5)
    retry()

    assert while_leased == 1
    assert delivery().status == "sent"
    assert len(code_host.issues("acme/docs")) == 1
    assert [attempt.outcome for attempt in delivery().attempts.all()] == ["unknown", "adopted"]


def test_a_clock_that_goes_forward_while_an_issue_is_opened_makes_no_second_one(
    client, code_host, clock, monkeypatch
):
    create, meanwhile = github_api.create_issue, []

    def slow(*sent, **more):
        clock.advance(hours=1)
        monkeypatch.setattr(github_api, "create_issue", create)
        retry()  # another process, for which the lease is over
        meanwhile.append((delivery().status, delivery().tries))
        return create(*sent, **more)

    build.acme(code_host)
    monkeypatch.setattr(github_api, "create_issue", slow)
    build.send(client)
    clock.advance(minutes=3)
    retry()

    assert meanwhile == [("pending", 2)]
    assert delivery().status == "sent"
    assert len(code_host.issues("acme/docs")) == 1


def test_what_was_not_due_yet_is_tried_again_when_its_lease_runs_out(client, code_host, clock):
    build.acme(code_host)
    code_host.fail("500", path="token")
    build.send(client)
    Delivery.objects.update(due_at=clock.now() + timedelta(hours=1))
    Delivery.objects.take(delivery().report_id)  # and the process is killed

    clock.advance(seconds=61)
    retry()

    assert delivery().status == "sent"


def test_an_error_of_our_own_is_not_the_end(client, code_host, clock, monkeypatch, caplog):
    def crash(*args, **kwargs):
        raise ZeroDivisionError

    build.acme(code_host)
    with monkeypatch.context() as patch:
        patch.setattr(forwarding, "render_issue", crash)
        answer = build.send(client)

    clock.advance(minutes=1)
    retry()

    assert answer.status_code == 201
    assert "ZeroDivisionError" in caplog.text
    assert delivery().status == "sent"


def test_the_one_who_lost_the_lease_writes_nothing(code_host, clock, client):
    build.acme(code_host)
    code_host.fail("500", path="token")
    build.send(client)
    clock.advance(minutes=1)
    slow = Delivery.objects.take(delivery().report_id)
    clock.advance(minutes=2)
    fast = Delivery.objects.take(delivery().report_id)

    with pytest.raises(forwarding.LeaseLost):
        slow.fail("too slow")

    assert fast.tries == slow.tries + 1
    assert delivery().status == "sending"


def test_a_claim_is_taken_once(code_host, client):
    build.acme(code_host)
    code_host.fail("500", path="token")
    build.send(client)
    report_id = delivery().report_id

    first, second = Delivery.objects.take(report_id), Delivery.objects.take(report_id)

    assert first
    assert second is None


@pytest.mark.postgresql
def test_no_connection_is_held_while_github_takes_its_time(client, code_host, monkeypatch):
    from django.db import connection

    from integrations import github_api

    held = []
    create = github_api.create_issue

    def watch(*args, **kwargs):
        held.append(connection.connection)
        return create(*args, **kwargs)

    monkeypatch.setattr(github_api, "create_issue", watch)
    build.acme(code_host)

    build.send(client)

    assert held == [None]


def test_an_error_of_our_own_after_the_post_makes_no_second_issue(
    client, code_host, clock, monkeypatch
):
    def crash(*args, **kwargs):
        raise OperationalError("the database went away")

    build.acme(code_host)
    with monkeypatch.context() as patch:
        patch.setattr(Delivery, "succeed", crash)
        build.send(client)
    failed_inside = delivery()
    clock.advance(minutes=3)
    retry()

    assert (failed_inside.status, bool(failed_inside.outcome_unknown_since)) == ("pending", True)
    assert delivery().status == "sent"
    assert len(code_host.issues("acme/docs")) == 1


def test_an_issue_that_was_made_is_recorded_even_where_its_delivery_was_held_meanwhile(
    client, code_host, clock
):
    build.acme(code_host)
    code_host.fail("500", path="token")
    build.send(client)
    clock.advance(minutes=1)
    slow = Delivery.objects.take(delivery().report_id)
    slow.record("title", "body")
    Delivery.objects.update(status="held", held_for="integration", lease_until=None)

    slow.succeed(7, "https://github.example/acme/docs/issues/7", adopted=False)

    assert (delivery().status, delivery().held_for, delivery().issue_number) == ("sent", "", 7)


def test_every_placeholder_has_its_text(monkeypatch):
    filled: dict[str, str] = {}

    def fill(template, fields, **more):
        filled.update(fields)
        return "", ""

    monkeypatch.setattr(forwarding, "render_issue", fill)
    forwarding.render(Report(summary="Gone"), "")

    assert filled.keys() == set(PLACEHOLDERS)
