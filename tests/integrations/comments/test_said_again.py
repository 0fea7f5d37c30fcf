"""What is said on a closed issue, and done with it, when its problem is reported again."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from core import counting
from integrations.comments import sending
from integrations.delivery import discarding
from integrations.models import Comment, Delivery, Integration
from reports import erasing
from reports.models import Report
from sandbox import CodeHost
from tests import build
from tests.integrations.comments.world import fold, maintain, report, shown, unfold

pytestmark = pytest.mark.django_db(transaction=True)

DAYS = timedelta(days=3)


@pytest.fixture
def acme(code_host, live_server):
    """An organization whose issue 1 was closed as completed three days ago, after as many days."""
    owner = build.acme(code_host)
    code_host.app.webhook_url = f"{live_server.url}/v1/webhooks/github"
    report()
    before = timezone.now() - 2 * DAYS
    Report.objects.update(received_at=before, last_received_at=before)
    code_host.clock_offset = -DAYS
    code_host.close_issue("acme/docs", 1, by="alice")
    code_host.clock_offset = timedelta()
    return owner


TAKEN_AWAY = {
    "discarded": discarding.discard,
    "split off": unfold,
    "erased": lambda delivery: erasing.erase(delivery.report),
}


def lead() -> Delivery:
    return Delivery.objects.order_by("pk")[0]


def again(purpose: str = "again") -> Comment:
    return Comment.objects.filter(purpose=purpose).latest("created_at")


def repeat(**changes) -> None:
    assert build.send(Client(), build.report(**changes)).json()["is_duplicate"]


def notices(host: CodeHost) -> list[str]:
    """What was said of its coming again, the oldest first."""
    said = [each.body for each in host.comments("acme/docs", 1)]
    return [each for each in said if "Also" not in each]


def is_open(host: CodeHost) -> bool:
    return host.issue("acme/docs", 1).state == "open"


def test_a_repeat_is_said_below_the_issue(acme, code_host):
    repeat()
    repeat()

    maintain()
    repeat()
    maintain()

    text = shown(code_host)
    closed_on = code_host.issue("acme/docs", 1).closed_at
    assert text.startswith(
        "**Reported again after this was closed**\n\n"
        f"It was closed as completed on {closed_on:%-d %B %Y}.\n\n- [Receipt](http"
    )
    assert f"/r/{lead().report_id}/) · {lead().report.last_received_at:%-d %B %Y} · agent-x" in text
    assert "The same report, 3 times by now." in text
    assert (again().status, again().reason) == ("written", "")
    assert not is_open(code_host)


def test_a_report_alike_says_what_is_new_in_it(acme, code_host):
    joined = fold("`npm ci` fails @mallory", agent__name="agent-y")

    for _ in range(2):
        maintain()

    said = [each.body for each in code_host.comments("acme/docs", 1)]
    [text] = [each for each in said if each.startswith("**Reported again")]
    assert f"/r/{joined.report_id}/" in text
    assert "agent-y" in text
    assert "`npm ci` fails @\u200bmallory" in text
    assert "The same report" not in text


def test_a_report_that_came_in_before_it_was_closed_is_only_listed(acme, code_host):
    Delivery.objects.update(issue_closed_at=lead().issue_closed_at + DAYS)

    fold("Another")

    assert Comment.objects.get().purpose == "also"


def test_an_issue_is_reopened_after_it_was_said_why(acme, code_host):
    Integration.objects.update(when_reported_again="reopen")
    repeat()

    maintain()

    assert is_open(code_host)
    assert "Reported again" in shown(code_host)
    assert again("reopen").status == "written"
    assert (lead().issue_state, lead().issue_closed_at) == ("open", None)
    repeat()
    assert Comment.objects.count() == 2


def test_an_issue_is_reopened_without_words_where_they_cannot_be_written(acme, code_host, clock):
    Integration.objects.update(when_reported_again="reopen")
    code_host.lock_issue("acme/docs", 1)
    repeat()
    maintain()
    assert not is_open(code_host)

    clock.advance(minutes=11)
    maintain()

    assert is_open(code_host)
    assert code_host.comments("acme/docs", 1) == []
    assert (again().status, again("reopen").status) == ("pending", "written")
    assert "locked" in again().reason


@pytest.mark.parametrize("how", TAKEN_AWAY)
@pytest.mark.parametrize("stopped", ["before", "between"])
def test_an_issue_is_not_reopened_for_what_was_taken_away(
    acme, code_host, clock, monkeypatch, how, stopped
):
    """An attack: junk that joins a closed issue; a member takes it away before anything is said, or done."""
    Integration.objects.update(when_reported_again="reopen")
    junk = fold("Junk")
    if stopped == "between":
        code_host.lock_issue("acme/docs", 1)
        sending.send_due()
        clock.advance(minutes=11)
    TAKEN_AWAY[how](junk)

    for _ in range(3):
        sending.send_due()

    assert not is_open(code_host)
    assert not [each for each in code_host.comments("acme/docs", 1) if "again" in each.body]
    assert not Comment.objects.filter(purpose__in=["again", "reopen"]).exists()


def test_an_issue_is_not_reopened_for_what_was_taken_away_once_it_was_said(acme, code_host):
    Integration.objects.update(when_reported_again="reopen")
    junk = fold("Junk")
    sending.send(again().pk)
    discarding.discard(junk)

    maintain()

    assert not is_open(code_host)
    assert not Comment.objects.filter(purpose="reopen").exists()


def test_what_comes_after_junk_that_was_taken_away_reopens_the_issue(acme, code_host):
    Integration.objects.update(when_reported_again="reopen")
    discarding.discard(fold("Junk"))
    sending.send(again().pk)

    fold("Honest")
    for _ in range(2):
        maintain()

    assert is_open(code_host)
    [text] = [
        each.body for each in code_host.comments("acme/docs", 1) if "Reported again" in each.body
    ]
    assert "Honest" in text
    assert "Junk" not in text


@pytest.mark.parametrize("choice", ["comment", "reopen"])
@pytest.mark.parametrize(
    "by_hand",
    [
        lambda host: host.reopen_issue("acme/docs", 1, by="alice"),
        lambda host: (
            host.reopen_issue("acme/docs", 1, by="alice"),
            host.close_issue("acme/docs", 1, by="alice"),
        ),
        lambda host: (
            host.reopen_issue("acme/docs", 1, by="alice"),
            host.close_issue("acme/docs", 1, by="alice", reason="not_planned"),
        ),
    ],
    ids=["reopened", "closed anew", "not planned"],
)
def test_what_somebody_has_changed_meanwhile_is_left_and_saved(acme, code_host, choice, by_hand):
    Integration.objects.update(when_reported_again=choice)
    repeat()
    code_host.app.webhook_url = ""  # the Hub misses it
    by_hand(code_host)
    there = code_host.issue("acme/docs", 1)
    before = (there.state, there.updated_at)

    maintain()

    assert code_host.comments("acme/docs", 1) == []
    assert (there.state, there.updated_at) == before
    assert {each.status for each in Comment.objects.all()} == {"dropped"}
    assert again().reason == sending.CHANGED
    known = lead()
    assert (known.issue_state or "open", known.issue_closed_at) == (there.state, there.closed_at)
    assert known.issue_state_reason == ("" if there.state == "open" else there.state_reason)


@pytest.mark.parametrize("choice", ["comment", "reopen"])
def test_an_issue_that_is_gone_is_not_written_to(acme, code_host, choice):
    Integration.objects.update(when_reported_again=choice)
    repeat()
    code_host.app.webhook_url = ""
    code_host.delete_issue("acme/docs", 1, by="alice")

    maintain()

    assert {each.status for each in Comment.objects.all()} == {"dropped"}
    assert lead().issue_state == "deleted"


def test_a_transferred_issue_is_not_written_to(acme, code_host):
    Integration.objects.update(when_reported_again="reopen")
    repeat()
    code_host.app.webhook_url = ""
    code_host.add_to_installation(
        build.installed(code_host), code_host.add_repository("acme", "other")
    )
    code_host.transfer_issue("acme/docs", 1, "acme/other", by="alice")

    maintain()

    assert code_host.issue("acme/other", 1).state == "closed"
    assert code_host.comments("acme/other", 1) == []
    assert lead().issue_state == "deleted"


def test_what_is_no_longer_wanted_is_not_said(acme, code_host):
    repeat()
    Integration.objects.update(when_reported_again="nothing")

    maintain()

    assert code_host.comments("acme/docs", 1) == []
    assert (again().status, again().reason) == ("dropped", "A member has chosen something else.")


def test_what_was_erased_is_not_said(acme, code_host, clock):
    joined = fold("Something secret", agent__name="agent-y")
    maintain()
    erasing.erase(joined.report)
    clock.advance(minutes=11)
    maintain()

    for each in code_host.comments("acme/docs", 1):
        assert "Something secret" not in each.body
        assert "agent-y" not in each.body


def test_a_second_closing_is_said_anew(acme, code_host):
    repeat()
    maintain()
    code_host.clock_offset = -timedelta(days=2)
    code_host.reopen_issue("acme/docs", 1, by="alice")
    code_host.close_issue("acme/docs", 1, by="alice")
    code_host.clock_offset = timedelta()

    repeat()
    maintain()

    first, second = (each.body for each in code_host.comments("acme/docs", 1))
    assert first != second
    assert "Reported again" in second


def test_what_joins_an_issue_whose_closing_was_missed_is_said_too(acme, code_host):
    Delivery.objects.update(
        issue_state="", issue_state_reason="", issue_closed_at=None, issue_updated_at=None
    )
    fold("Another")
    assert Comment.objects.get().purpose == "also"

    for _ in range(2):
        maintain()

    assert again().status == "written"
    assert len(code_host.comments("acme/docs", 1)) == 2
    assert (lead().issue_state, lead().issue_state_reason) == ("closed", "completed")


def test_what_was_erased_is_not_noted_where_the_closing_was_missed(acme, code_host):
    Delivery.objects.update(
        issue_state="", issue_state_reason="", issue_closed_at=None, issue_updated_at=None
    )
    erasing.erase(fold("Another").report)

    sending.send_due()

    assert lead().issue_state == "closed"
    assert Comment.objects.get().purpose == "also"


@pytest.mark.parametrize("lost", [False, True])
@pytest.mark.parametrize("away", TAKEN_AWAY.values(), ids=TAKEN_AWAY)
def test_what_comes_after_junk_that_was_said_and_taken_away_is_said_anew(
    acme, code_host, clock, away, lost
):
    """Whoever sends junk once a problem is fixed would have all true reports after it pass unnoticed."""
    junk = fold("Junk")
    sending.send(again().pk)
    away(Delivery.objects.select_related("report").get(pk=junk.pk))
    clock.advance(minutes=11)
    if lost:
        code_host.fail("502_after_creating", method="PATCH", path="comment")
    sending.send(again().pk)
    clock.advance(minutes=11)

    fold("Honest")
    for _ in range(3):
        maintain()
        clock.advance(minutes=11)

    over, said = notices(code_host)
    assert "Junk" not in over + said
    assert ("Honest" in over, "Honest" in said) == (False, True)
    assert Comment.objects.filter(purpose="again").get().status == "written"


@pytest.mark.parametrize("away", TAKEN_AWAY.values(), ids=TAKEN_AWAY)
def test_what_came_between_junk_that_was_said_and_its_end_is_said_anew(
    acme, code_host, clock, away
):
    """Nobody is notified where it is only listed by an edit."""
    junk = fold("Junk")
    sending.send(again().pk)
    clock.advance(minutes=11)
    fold("Honest")
    away(Delivery.objects.select_related("report").get(pk=junk.pk))

    for _ in range(4):
        maintain()
        clock.advance(minutes=11)

    over, said = notices(code_host)
    assert "Junk" not in over + said
    assert ("Honest" in over, "Honest" in said) == (False, True)


def test_a_flood_of_junk_after_what_was_said_takes_no_word_of_it_away(
    acme, code_host, clock, monkeypatch
):
    """An attack: a thousand reports that join, of which a member discards one."""
    monkeypatch.setattr(counting, "MOST", 3)
    fold("Honest")
    sending.send(again().pk)
    clock.advance(minutes=11)
    junk = [fold(f"Junk {number}") for number in range(6)]
    discarding.discard(Delivery.objects.get(pk=junk[0].pk))

    for _ in range(4):
        maintain()
        clock.advance(minutes=11)

    [said] = notices(code_host)
    assert "Junk 5" in said
    assert "an issue of its own now" not in said


def test_where_nothing_is_to_be_said_github_is_asked_nothing(acme, code_host, clock, monkeypatch):
    """An attack: the first of a thousand reports that joined, again and again: two calls of GitHub each time."""
    monkeypatch.setattr(counting, "MOST", 3)
    for number in range(6):
        fold(f"Junk {number}")
    Comment.objects.all().delete()
    before = timezone.now() - 2 * DAYS
    Report.objects.update(received_at=before, last_received_at=before)
    asked = len(code_host.requests)

    for _ in range(3):
        repeat(report__summary="Junk 0")
        assert Comment.objects.count() == 1
        sending.send_due()
        clock.advance(minutes=11)

    assert len(code_host.requests) == asked
    assert not Comment.objects.exists()


def test_what_was_said_together_with_junk_is_not_said_twice(acme, code_host, clock):
    junk = fold("Junk")
    fold("Honest")
    sending.send(again().pk)
    clock.advance(minutes=11)
    fold("Another")
    discarding.discard(Delivery.objects.get(pk=junk.pk))

    for _ in range(4):
        maintain()
        clock.advance(minutes=11)

    [said] = notices(code_host)
    assert "Junk" not in said
    assert "Honest" in said
