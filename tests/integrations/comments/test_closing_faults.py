"""A problem comes back, and GitHub fails: it is said once, and the issue is reopened once, or nothing is done."""

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from core import clock as database_clock
from integrations import github_api
from integrations.comments import sending
from integrations.models import Comment, Delivery, Installation, Integration
from reports.models import Report
from sandbox import CodeHost
from tests import build
from tests.integrations.comments.test_faults import MAKING, arm, killed
from tests.integrations.comments.world import maintain, report

pytestmark = pytest.mark.django_db(transaction=True)

DAYS = timedelta(days=3)
READING = {  # what is armed for the reading of the issue
    "500": ("500", {}),
    "502": ("502", {}),
    "refused": ("refuse", {}),
    "reset mid-answer": ("reset_mid_answer", {}),
    "truncated": ("truncated", {}),
    "403 Retry-After: 120": ("403_retry_after", {"value": 120}),
    "429": ("429", {"value": 60}),
    "401": ("401", {}),
    "404": ("404", {}),
    "token 500": ("500", {"path": "token"}),
}
REOPENING = {  # what is armed for the PATCH that reopens it
    "500": ("500", {}),
    "502 after reopening": ("502_after_creating", {}),
    "refused": ("refuse", {}),
    "refused after reopening": ("refuse", {"created": True}),
    "reset mid-answer": ("reset_mid_answer", {}),
    "truncated": ("truncated", {}),
    "no number": ("no_number", {}),
    "403 Retry-After: 120": ("403_retry_after", {"value": 120}),
    "403 archived": ("403_archived", {}),
    "429": ("429", {"value": 60}),
    "401": ("401", {}),
}


@pytest.fixture
def again(code_host) -> CodeHost:
    """Issue 1 was closed as completed three days ago, and its report has just come again."""
    build.acme(code_host)
    report()
    before = timezone.now() - 2 * DAYS
    Report.objects.update(received_at=before, last_received_at=before)
    code_host.clock_offset = -DAYS
    code_host.close_issue("acme/docs", 1, by="alice")
    code_host.clock_offset = timedelta()
    Delivery.objects.update(
        issue_state="closed",
        issue_state_reason="completed",
        issue_closed_at=code_host.issue("acme/docs", 1).closed_at,
    )
    return code_host


def repeat(choice: str = "comment") -> None:
    Integration.objects.update(when_reported_again=choice)
    assert build.send(Client()).json()["is_duplicate"]


@pytest.fixture
def settle(clock):
    """Some hours pass; whatever GitHub refused is found to be well again."""

    def pass_hours(rounds: int = 5) -> None:
        for _ in range(rounds):
            clock.advance(minutes=70)
            Integration.objects.update(problem="")
            Installation.objects.update(suspended_at=None)
            maintain()

    return pass_hours


def row(purpose: str) -> Comment:
    return Comment.objects.get(purpose=purpose)


def is_open(host: CodeHost) -> bool:
    return host.issue("acme/docs", 1).state == "open"


@pytest.mark.parametrize("name", [name for name in MAKING if "422" not in name])
def test_saying_it(again, settle, name):
    (kind, details), expected = MAKING[name]
    repeat()
    arm(again, kind, details, method="POST", path="comments")

    sending.send_due()
    first = row("again")
    settle()

    assert (first.status == "written") is (expected == "written")
    assert row("again").status == "written"
    assert len(again.comments("acme/docs", 1)) == 1
    assert not is_open(again)


@pytest.mark.parametrize("choice", ["comment", "reopen"])
@pytest.mark.parametrize("name", READING)
def test_reading_the_issue_before(again, settle, name, choice):
    kind, details = READING[name]
    repeat(choice)
    arm(again, kind, details, method="GET", path="/api/v3/repositories/*/issues/1")

    sending.send_due()
    assert len(again.comments("acme/docs", 1)) <= (name == "401" or choice == "reopen")
    settle()

    if name == "404":  # its repository is there, so it is gone, as far as can be known
        assert {each.status for each in Comment.objects.all()} == {"dropped"}
        return
    assert {each.status for each in Comment.objects.all()} == {"written"}
    assert len(again.comments("acme/docs", 1)) == 1
    assert is_open(again) is (choice == "reopen")


@pytest.mark.parametrize("name", REOPENING)
def test_reopening(again, settle, name):
    kind, details = REOPENING[name]
    repeat("reopen")
    arm(again, kind, details, method="PATCH", path="/api/v3/repositories/*/issues/1")

    sending.send_due()
    settle()

    assert is_open(again)
    assert {each.status for each in Comment.objects.all()} == {"written"}
    assert len(again.comments("acme/docs", 1)) == 1
    assert Delivery.objects.get().issue_state == "open"


def test_killed_before_it_is_said(again, settle, monkeypatch):
    repeat()
    with monkeypatch.context() as patch:
        patch.setattr(github_api, "create_comment", killed)
        with pytest.raises(SystemExit):
            sending.send_due()
    assert again.comments("acme/docs", 1) == []

    settle()

    assert row("again").status == "written"
    assert len(again.comments("acme/docs", 1)) == 1


def test_killed_after_it_was_said_and_reopened_by_hand_then(again, settle, monkeypatch):
    repeat()
    with monkeypatch.context() as patch:
        patch.setattr(Comment, "made", killed)
        with pytest.raises(SystemExit):
            sending.send_due()
    again.reopen_issue("acme/docs", 1, by="alice")

    settle()

    assert row("again").status == "written"
    assert len(again.comments("acme/docs", 1)) == 1
    assert Delivery.objects.get().issue_state == "open"


def test_killed_before_it_was_said_and_reopened_by_hand_then(again, settle, monkeypatch):
    repeat()
    with monkeypatch.context() as patch:
        patch.setattr(github_api, "create_comment", killed)
        with pytest.raises(SystemExit):
            sending.send_due()
    again.reopen_issue("acme/docs", 1, by="alice")

    settle()

    assert (row("again").status, row("again").reason) == ("dropped", sending.CHANGED)
    assert again.comments("acme/docs", 1) == []


@pytest.mark.parametrize("step", ["reopen_issue", "edited"])
def test_killed_while_it_is_reopened(again, settle, monkeypatch, step):
    repeat("reopen")
    with monkeypatch.context() as patch:
        patch.setattr(github_api if step == "reopen_issue" else Comment, step, killed)
        with pytest.raises(SystemExit):
            sending.send_due()
    was_open = is_open(again)

    settle()

    assert was_open is (step == "edited")
    assert is_open(again)
    assert row("reopen").status == "written"


def test_what_was_reopened_and_closed_again_by_hand_stays_closed(again, settle, monkeypatch):
    repeat("reopen")
    with monkeypatch.context() as patch:
        patch.setattr(Comment, "edited", killed)
        with pytest.raises(SystemExit):
            sending.send_due()
    again.close_issue("acme/docs", 1, by="alice", reason="not_planned")

    settle()

    assert not is_open(again)
    assert row("reopen").status == "dropped"
    assert Delivery.objects.get().issue_state_reason == "not_planned"


def test_what_is_deleted_while_it_is_written_is_left(again, settle, monkeypatch):
    repeat("reopen")
    read = github_api.read_issue

    def deleted_just_then(*args, **kwargs):
        facts = read(*args, **kwargs)
        again.delete_issue("acme/docs", 1, by="alice")
        return facts

    with monkeypatch.context() as patch:
        patch.setattr(github_api, "read_issue", deleted_just_then)
        sending.send_due()
    settle()

    assert {each.status for each in Comment.objects.all()} == {"dropped"}
    assert Delivery.objects.get().issue_state == "deleted"


def test_two_repeats_at_once_are_said_once(again):
    Integration.objects.update(when_reported_again="reopen")
    together = threading.Barrier(4)

    def one() -> None:
        together.wait(30)
        try:
            assert build.send(Client()).status_code == 201
        finally:
            connection.close()

    threads = [threading.Thread(target=one) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)

    assert sorted(Comment.objects.values_list("purpose", flat=True)) == ["again", "reopen"]
    assert Report.objects.get().times_reported == 5


def test_an_issue_that_github_will_not_reopen_keeps_no_other_report(again, clock):
    refusal = {"status": 403, "body": {"message": "This issue cannot be reopened."}}
    repeat("reopen")
    again.fail(
        "answer", **refusal, method="PATCH", path="/api/v3/repositories/*/issues/1", times=100
    )

    waits = []
    for _ in range(3):
        clock.advance(days=1)
        maintain()
        maintain()
        waits.append(row("reopen").due_at - timezone.now() - database_clock.ahead)

    build.send(Client(), build.report("https://docs.acme.com/other"))

    assert not Integration.objects.get().problem
    assert len(again.issues("acme/docs")) == 2
    assert "says: This issue cannot be reopened." in row("reopen").reason
    assert timedelta() < waits[0] < waits[1] < waits[2] < timedelta(days=1, minutes=1)


def test_two_processes_at_once_do_it_once(again):
    repeat("reopen")

    def one() -> None:
        try:
            sending.send_due()
        finally:
            connection.close()

    threads = [threading.Thread(target=one) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    maintain()

    assert len(again.comments("acme/docs", 1)) == 1
    assert row("again").status == "written"


def test_a_restored_backup_finds_what_was_said_after_it(again, settle):
    repeat()
    maintain()
    Comment.objects.all().delete()

    repeat()
    settle()

    assert len(again.comments("acme/docs", 1)) == 1
    assert row("again").status == "written"
