"""What an operator holds is not said in comments and reopens no issue; it is said once it is let go."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from core import client_address
from integrations.comments import sending
from integrations.delivery import discarding, issue_states, operator_holds
from integrations.delivery.issue_states import IssueNews
from integrations.models import Comment, Delivery, Hold, Integration
from integrations.models.comment import ON_HOLD
from orgs.models import Organization, User
from reports import erasing
from reports.models import Report
from sandbox import CodeHost
from tests import build
from tests.integrations.comments.world import comment, fold, maintain, shown

pytestmark = pytest.mark.django_db(transaction=True)

KINDS = {
    "page": "https://docs.acme.com/install",
    "agent": "agent-x",
    "source": "",
    "organization": "",
}


@pytest.fixture
def closed(acme, code_host) -> None:
    """Issue 1 was closed as completed two days ago; it is to be reopened if its problem comes again."""
    Integration.objects.update(when_reported_again="reopen")
    before = (timezone.now() - timedelta(days=2)).replace(microsecond=0)
    code_host.issue("acme/docs", 1).closed_at = before
    vars(code_host.issue("acme/docs", 1)).update(
        state="closed", state_reason="completed", updated_at=before
    )
    Delivery.objects.update(
        issue_state="closed",
        issue_state_reason="completed",
        issue_closed_at=before,
        issue_updated_at=before,
    )


@pytest.fixture
def hold(db):
    root = User.objects.create(username="root", is_staff=True, is_superuser=True)

    def make(kind: str, value: str = "") -> Hold:
        own = (
            Organization.objects.get().pk
            if kind == "organization"
            else client_address.source("127.0.0.1")
        )
        value = value or KINDS[kind] or own
        made = Hold(kind=kind, value=operator_holds.checked(kind, value), reason="Spam.")
        operator_holds.make(made, by=root)
        Hold.objects.exclude(ends_at=None).update(ends_at=timezone.now() + timedelta(days=1))
        return made  # one of a source lasts as long also where the day is nearly over

    return make


def repeat(**changes) -> None:
    assert build.send(Client(), build.report(**changes)).json()["is_duplicate"]


def noted() -> set[tuple[str, str, str]]:
    return set(Comment.objects.values_list("purpose", "status", "reason"))


def state(host: CodeHost) -> str:
    return host.issue("acme/docs", 1).state


@pytest.mark.parametrize("kind", KINDS)
def test_a_repeat_that_is_held_is_not_said_and_reopens_nothing(closed, code_host, hold, kind):
    """An attack: a report that had become an issue makes no delivery, which alone was held."""
    made = hold(kind)

    repeat()
    repeat(report__details="In other words.")
    sending.send_due()
    during = noted(), state(code_host), code_host.comments("acme/docs", 1)
    operator_holds.release(made)
    repeat()
    sending.send_due()

    assert during == (set(), "closed", [])
    assert state(code_host) == "open"
    assert "The same report, 4 times by now." in shown(code_host)


@pytest.mark.parametrize("kind", ["agent", "source"])
def test_a_repeat_that_is_held_reopens_nothing_when_a_list_is_written(
    acme, code_host, hold, clock, request, kind
):
    """An attack: what came before it was known that the issue is closed is looked for then."""
    fold("Honest", agent__name="honest")
    before = timezone.now() - timedelta(days=3)
    Delivery.objects.update(source="0" * 16)
    Report.objects.update(received_at=before, last_received_at=before)
    request.getfixturevalue("closed")
    made = hold(kind)

    repeat()
    sending.send_due()
    during = {purpose for purpose, *_ in noted()}, state(code_host), "Honest" in shown(code_host)
    operator_holds.release(made)
    repeat()
    sending.send_due()

    assert during == ({"also"}, "closed", True)
    assert state(code_host) == "open"


def test_what_joined_after_the_closing_reopens_the_issue_though_a_source_is_held(
    acme, code_host, hold, request
):
    fold("Honest", agent__name="honest")
    request.getfixturevalue("closed")
    hold("source", "0" * 16)

    sending.send_due()
    sending.send_due()

    assert state(code_host) == "open"


def test_a_repeat_from_elsewhere_is_said_though_a_source_is_held(closed, hold):
    hold("source", "0" * 16)

    repeat()

    assert {purpose for purpose, *_ in noted()} == {"again", "reopen"}


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_to_be_said_before_the_hold_waits_for_its_end(
    closed, code_host, hold, clock, kind
):
    repeat()

    made = hold(kind)
    sending.send_due()
    during = noted(), state(code_host), code_host.comments("acme/docs", 1)
    operator_holds.release(made)
    clock.advance(hours=2)
    sending.send_due()

    waits = {("again", "pending", ON_HOLD), ("reopen", "pending", ON_HOLD)}
    assert during == (waits, "closed", [])
    assert state(code_host) == "open"
    assert "The same report, 2 times by now." in shown(code_host)


@pytest.mark.parametrize("kind", KINDS)
def test_a_comment_without_an_answer_of_github_is_not_sent_again_while_it_is_held(
    acme, code_host, hold, clock, kind
):
    fold("First")
    code_host.fail("500", method="POST", path="comments")
    sending.send_due()

    made = hold(kind)
    clock.advance(hours=2)
    sending.send_due()
    during = code_host.comments("acme/docs", 1)
    operator_holds.release(made)
    clock.advance(hours=2)
    sending.send_due()

    assert during == []
    assert "First" in shown(code_host)


def test_what_is_discarded_while_it_is_held_reopens_nothing(closed, code_host, hold, clock):
    """An attack: the hold ended by itself, since nothing was left that it was about."""
    before = timezone.now() - timedelta(days=3)
    Report.objects.update(received_at=before, last_received_at=before)
    junk = fold("BUY AT EVIL SHOP", agent__name="spammer")
    hold("agent", "spammer")
    sending.send_due()

    discarding.discard(junk)
    clock.advance(hours=2)
    sending.send_due()

    assert state(code_host) == "closed"
    assert noted() == set()


def test_what_is_held_reopens_nothing_beside_what_was_erased(closed, code_host, hold, clock):
    before = timezone.now() - timedelta(days=3)
    Report.objects.update(received_at=before, last_received_at=before)
    erasing.erase(fold("First", agent__name="honest").report)
    fold("BUY AT EVIL SHOP", agent__name="spammer")
    hold("agent", "spammer")

    sending.send_due()
    clock.advance(hours=2)
    sending.send_due()

    assert state(code_host) == "closed"
    assert {reason for purpose, _, reason in noted() if purpose != "also"} == {ON_HOLD}


def test_of_what_is_held_the_list_has_no_text_until_it_is_let_go(acme, code_host, hold, clock):
    fold("First", agent__name="honest")
    fold("BUY AT EVIL SHOP", agent__name="spammer")

    made = hold("agent", "spammer")
    sending.send_due()
    during, written = shown(code_host), (comment().status, comment().reason)
    operator_holds.release(made)
    clock.advance(minutes=11)
    sending.send_due()

    assert "honest" in during
    assert "2 more reports" in during
    assert "Its text is not shown here." in during
    assert "spammer" not in during
    assert "EVIL" not in during
    assert written == ("written", ON_HOLD)
    assert "spammer" in shown(code_host)
    assert "EVIL" in shown(code_host)
    assert (comment().status, comment().reason) == ("written", "")


def test_a_list_of_nothing_but_what_is_held_is_not_begun(acme, code_host, hold, clock):
    fold("BUY AT EVIL SHOP", agent__name="spammer")

    made = hold("agent", "spammer")
    asked = len(code_host.requests)
    sending.send_due()
    during = len(code_host.requests) - asked, comment().status
    operator_holds.release(made)
    clock.advance(hours=2)
    sending.send_due()

    assert during == (0, "pending")
    assert "EVIL" in shown(code_host)


def test_what_was_listed_before_loses_its_text_when_the_list_is_edited(
    acme, code_host, hold, clock
):
    fold("BUY AT EVIL SHOP", agent__name="spammer")
    sending.send_due()
    hold("agent", "spammer")

    fold("Second", agent__name="honest")
    clock.advance(minutes=11)
    sending.send_due()

    assert "EVIL" not in shown(code_host)
    assert "Second" in shown(code_host)


def test_what_a_source_is_held_for_is_listed_after_its_day(acme, code_host, hold, clock):
    fold("First")
    Delivery.objects.exclude(lead=None).update(source="0" * 16)
    fold("Second")
    hold("source", "0" * 16)
    sending.send_due()
    during = shown(code_host)

    clock.advance(days=1)
    operator_holds.follow()
    sending.send_due()

    assert "First" not in during
    assert "First" in shown(code_host)
    assert operator_holds.follow() == 0


def test_a_process_that_is_killed_when_it_has_released_a_hold_has_lists_written_all_the_same(
    acme, code_host, hold, clock, monkeypatch
):
    fold("First", agent__name="spammer")
    fold("Second", agent__name="honest")
    made = hold("agent", "spammer")
    sending.send_due()

    with monkeypatch.context() as patch:
        patch.setattr(operator_holds, "_after_commit", lambda work: None)
        operator_holds.release(made)
    clock.advance(minutes=11)
    operator_holds.follow()
    sending.send_due()

    assert "First" in shown(code_host)


def test_a_hold_that_is_released_while_the_list_is_made_leaves_nothing_out(
    acme, code_host, hold, monkeypatch
):
    """It looks for what left something out before this attempt has noted that."""
    fold("First", agent__name="spammer")
    fold("Second", agent__name="honest")
    made = hold("agent", "spammer")
    note = Comment.note_on_hold

    def release_first(mine):
        operator_holds.release(made)
        note(mine)

    monkeypatch.setattr(Comment, "note_on_hold", release_first)
    sending.send_due()

    assert "First" in shown(code_host)


@pytest.mark.parametrize("goes", ["during the hold", "unheard", "after it was listed"])
def test_what_was_listed_without_its_text_is_sent_when_the_issue_goes(
    acme, code_host, hold, clock, goes
):
    fold("Shown before", agent__name="spammer")
    sending.send_due()
    held = fold("Held", agent__name="spammer")
    shown_too = fold("Shown", agent__name="honest")
    made = hold("agent", "spammer")
    clock.advance(minutes=11)
    sending.send_due()
    if goes == "after it was listed":
        operator_holds.release(made)
        clock.advance(minutes=11)
        sending.send_due()
    code_host.delete_issue("acme/docs", 1, by="alice")
    if goes != "unheard":
        gone = IssueNews(Delivery.IssueState.DELETED, updated_at=timezone.now())
        issue_states.note(Delivery.objects.get(status="sent").repository_id, 1, gone)
        clock.advance(minutes=11)
        maintain()
    operator_holds.release(made)

    for _ in range(3):
        clock.advance(minutes=11)
        maintain()

    is_known = goes == "after it was listed"
    assert Delivery.objects.get(pk=held.pk).status == ("folded" if is_known else "sent")
    assert Delivery.objects.get(pk=shown_too.pk).status == "folded"
    assert Delivery.objects.get(report__summary="Shown before").status == "folded"


def test_another_hold_goes_on_when_one_is_released(acme, code_host, hold, clock):
    fold("BUY AT EVIL SHOP", agent__name="spammer")
    fold("Second", agent__name="honest")
    Delivery.objects.exclude(lead=None).filter(report__agent_name="spammer").update(source="0" * 16)
    made = hold("agent", "spammer")
    hold("source", "0" * 16)
    sending.send_due()

    operator_holds.release(made)
    clock.advance(minutes=11)
    sending.send_due()

    assert "EVIL" not in shown(code_host)
    assert (comment().status, comment().reason) == ("written", ON_HOLD)
