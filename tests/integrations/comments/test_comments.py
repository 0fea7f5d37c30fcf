"""One comment that grows: who also reported a problem, below its issue."""

import pytest
from django.test import Client
from django.utils import timezone

from core import clock as database_clock
from integrations.comments import sending
from integrations.delivery import issue_states, pacing
from integrations.delivery.issue_states import IssueNews
from integrations.models import Comment, Delivery, Installation, Integration
from orgs.models import Organization
from reports import erasing
from tests import build
from tests.integrations.comments.world import (
    comment,
    fold,
    lead,
    maintain,
    report,
    shown,
    unfold,
)
from tests.plans import plans_of, whole_tables_in

pytestmark = pytest.mark.django_db(transaction=True)

PUSH = {
    "report__summary": "Step 3 runs `shipyard push --force`, but that flag was removed in 4.0",
    "report__details": "`shipyard push --help` lists only `--overwrite`.",
}
ALIKE = {
    "report__summary": "`shipyard push --force` fails: the flag is called `--overwrite` since 4.0",
    "report__details": "The command of step 3 exits with code 2.",
    "agent__name": "cursor",
}


def comment_on(delivery) -> Comment:
    return Comment.objects.get(lead=delivery)


def asked(code_host, method: str) -> int:
    """How often the Hub has written, or read, a comment."""
    return len(
        [
            each
            for each in code_host.requests
            if each.method == method and "/comments" in each.path and each.status in (200, 201)
        ]
    )


def test_the_first_report_that_joins_writes_one_comment(acme, code_host):
    joined = fold("`--force` is an unknown flag", agent__name="agent-y")

    maintain()

    text = shown(code_host)
    assert text.startswith("**Also reported**\n\n1 more report of this problem.")
    assert "`--force` is an unknown flag" in text
    assert f"/r/{joined.report_id}/" in text
    assert (comment().status, comment().reason) == ("written", "")
    assert comment().comment_url == f"{code_host.url}/acme/docs/issues/1#issuecomment-6001"
    assert len(code_host.issues("acme/docs")) == 1


def test_a_report_that_is_alike_is_commented_on_the_issue_that_it_joins(code_host):
    """From the door to GitHub, with nothing in between that a test does."""
    build.acme(code_host)
    Integration.objects.update(likeness="fold")
    build.send(Client(), build.report(**PUSH))
    build.send(Client(), build.report(**ALIKE))

    maintain()

    assert len(code_host.issues("acme/docs")) == 1
    assert "the flag is called `--overwrite`" in shown(code_host)
    assert "Joined for this: same page;" in shown(code_host)


def test_the_second_edits_it_ten_minutes_later(acme, code_host, clock):
    fold("First")
    maintain()
    fold("Second")

    maintain()
    assert "Second" not in shown(code_host)
    assert comment().status == "pending"

    clock.advance(minutes=11)
    maintain()
    assert "First" in shown(code_host)
    assert "Second" in shown(code_host)
    assert comment().status == "written"


def test_many_in_ten_minutes_are_one_edit(acme, code_host, clock):
    fold("First")
    maintain()
    for number in range(5):
        fold(f"Later {number}", report__details=str(number))
        maintain()
    clock.advance(minutes=11)

    for _ in range(3):
        maintain()

    assert asked(code_host, "PATCH") == 1
    assert "6 more reports" in shown(code_host)


def test_a_text_that_is_the_same_is_not_written_again(acme, code_host, clock):
    fold("First")
    maintain()
    clock.advance(minutes=11)
    Comment.objects.note_changed(lead())

    maintain()

    assert asked(code_host, "PATCH") == 0
    assert comment().status == "written"
    assert comment().last_tried_at == comment().written_at


def test_what_joins_while_it_is_written_is_written_next(acme, code_host, clock, monkeypatch):
    fold("First")
    made = Comment.made

    def made_a_moment_later(self, *args):
        fold("Second")
        made(self, *args)

    monkeypatch.setattr(Comment, "made", made_a_moment_later)
    maintain()
    assert (comment().status, comment().comment_id) == ("pending", 6001)
    clock.advance(minutes=11)
    maintain()

    assert "Second" in shown(code_host)
    assert comment().status == "written"


def test_what_is_split_off_before_it_was_listed_leaves_nothing_to_say(acme, code_host):
    unfold(fold("First"))

    maintain()

    assert not Comment.objects.exists()
    assert not code_host.comments("acme/docs", 1)
    assert len(code_host.issues("acme/docs")) == 2

    fold("Second")
    maintain()
    assert "Second" in shown(code_host)


def test_what_is_split_off_is_listed_no_longer(acme, code_host, clock):
    first = fold("First")
    fold("Second")
    maintain()
    unfold(first)
    clock.advance(minutes=11)

    maintain()

    assert "First" not in shown(code_host)
    assert "Second" in shown(code_host)


@pytest.mark.parametrize("of_the_lead", [False, True])
def test_what_is_erased_is_taken_out(acme, code_host, clock, of_the_lead):
    joined = fold("First")
    maintain()
    assert "unknown flag" in shown(code_host)
    erasing.erase(lead().report if of_the_lead else joined.report)
    clock.advance(minutes=11)

    maintain()

    assert "unknown flag" not in shown(code_host)
    assert ("First" in shown(code_host)) is of_the_lead
    assert ("Its text was erased." in shown(code_host)) is not of_the_lead


def test_each_comment_takes_a_turn_and_reading_takes_none(acme, code_host, clock, settings):
    settings.HUB_ISSUE_RATE = "3/hour"
    fold("First")
    clock.advance(hours=2)
    maintain()
    report("Another", report__details="1")
    report("A third", report__details="2")

    waits = report("A fourth", report__details="3")
    assert waits.status == "pending"

    clock.advance(hours=2)
    Comment.objects.note_changed(lead())
    sending.send_due()  # reads, and writes nothing
    [rate] = pacing.used([Installation.objects.get().pk])[Installation.objects.get().pk]
    assert rate.tried == 0


def test_comments_leave_room_for_issues(acme, code_host, clock, settings):
    """The attack: many reports that join many issues, so that each list is to be written anew."""
    settings.HUB_ISSUE_RATE = "12/hour"
    clock.advance(hours=2)
    leads = [
        lead(),
        *(report(f"Lead {number}", report__details=str(number)) for number in range(5)),
    ]
    clock.advance(hours=2)
    for number, each in enumerate(leads):
        fold(f"Joined {number}", under=each, report__details=f"Joined {number}")

    for _ in range(10):
        sending.send_due()
        clock.advance(seconds=61)

    assert asked(code_host, "POST") == 3  # of 12, since then they have a third of what is left
    assert report("New", report__details="new").status == "sent"


def test_a_comment_that_waits_for_its_turn_keeps_up_no_other(
    acme, code_host, clock, settings, monkeypatch
):
    monkeypatch.setattr("integrations.delivery.leased.AT_ONCE", 1)
    settings.HUB_ISSUE_RATE = "3/hour"
    clock.advance(hours=2)
    leads = [
        lead(),
        report("A second", report__details="2"),
        report("A third", report__details="3"),
    ]
    clock.advance(hours=2)
    for number, each in enumerate(leads):
        fold(f"Joined {number}", under=each, report__details=f"Joined {number}")

    tried = [sending.send_due() for _ in range(4)]

    assert tried == [1, 1, 1, 0]  # the first is written, each of the others is looked at once
    assert [comment_on(each).tries for each in leads] == [1, 0, 0]


def test_the_backlog_of_one_organization_keeps_no_other_waiting(acme, code_host, clock, settings):
    """The attack: many issues of one's own, each with a report that joined it, more than the pace lets through."""
    settings.HUB_ISSUE_RATE = "1000/hour"
    code_host.add_organization("evil")
    code_host.add_repository("evil", "docs", private=True)
    code_host.add_installation("evil")
    evil = build.organization("evil")
    build.integration(evil, code_host, "evil/docs")
    build.domain(evil, "docs.evil.com")
    there = {"doc_url": "https://docs.evil.com/install"}
    for number in range(sending.leased.AT_ONCE + 2):
        each = report(f"Lead {number}", **there)
        fold(f"Joined {number}", under=each, **there)
    fold("First")
    settings.HUB_ISSUE_RATE = "20/hour"  # evil has used up its share, and more

    sending.send_due()

    assert "First" in shown(code_host)


def test_a_comment_waits_for_its_turn(acme, code_host, clock, settings):
    settings.HUB_ISSUE_RATE = "1/hour"
    fold("First")

    maintain()
    assert not code_host.comments("acme/docs", 1)
    assert comment().tries == 0

    clock.advance(minutes=61)
    maintain()
    assert "First" in shown(code_host)


STOPS = [
    {"problem": "GitHub refuses everything."},
    {"paused_at": database_clock.now()},
    {"rights_lost_at": database_clock.now()},
]


@pytest.mark.parametrize("stop", STOPS, ids=["blocked", "paused", "without rights"])
def test_a_stopped_integration_says_nothing(acme, code_host, clock, stop):
    fold("First")
    Integration.objects.update(**stop)

    sending.send_due()
    assert (comment().tries, comment().status) == (0, "pending")

    Integration.objects.update(problem="", paused_at=None, rights_lost_at=None)
    sending.send_due()
    assert "First" in shown(code_host)


def test_about_a_page_that_was_lost_nothing_is_written(acme, code_host, clock):
    fold("First")
    acme.domains.update(verified_at=None)

    maintain()
    assert (comment().status, comment().reason) == ("pending", sending.UNOWNED)
    assert comment().last_tried_at is None

    acme.domains.update(verified_at=database_clock.now())
    clock.advance(hours=2)
    maintain()
    assert "First" in shown(code_host)


@pytest.mark.parametrize("purpose", ["also", "again"])
def test_comments_about_a_page_that_was_lost_ask_github_nothing_however_long(
    acme, code_host, clock, purpose
):
    """They were read each hour, outside the pace."""
    fold("First")
    Comment.objects.update(purpose=purpose)
    acme.domains.update(verified_at=None)
    asked = len(code_host.requests)

    for _ in range(3):
        maintain()
        clock.advance(minutes=61)

    assert len(code_host.requests) == asked
    assert (comment().status, comment().tries) == ("pending", 3)


def test_what_joins_an_issue_about_another_page_that_was_lost_is_listed_all_the_same(
    acme, code_host
):
    """A member has said that it is the same problem; then the page on which it was first reported was lost."""
    build.domain(acme, "www.acme.com")
    fold("About the page that was lost")
    fold("About a page that is theirs", doc_url="https://www.acme.com/install")
    acme.domains.filter(name="docs.acme.com").delete()

    maintain()

    assert "About a page that is theirs" in shown(code_host)
    assert "About the page that was lost" not in shown(code_host)
    assert (comment().status, comment().reason) == ("written", "")


def test_what_was_listed_without_its_text_for_a_lost_page_leaves_an_issue_that_goes(
    acme, code_host
):
    build.domain(acme, "www.acme.com")
    listed = fold("About a page that is theirs")
    left_out = fold("About a page that was lost", doc_url="https://www.acme.com/install")
    acme.domains.filter(name="www.acme.com").delete()
    maintain()
    code_host.delete_issue("acme/docs", 1, by="alice")
    gone = IssueNews(Delivery.IssueState.DELETED, updated_at=timezone.now())
    issue_states.note(lead().repository_id, 1, gone)
    Comment.objects.update(due_at=database_clock.now())

    maintain()

    listed.refresh_from_db()
    left_out.refresh_from_db()
    assert listed.status == "folded"
    assert (left_out.status, left_out.held_for) == ("held", "ownership")


def test_what_stands_on_no_issue_when_its_repository_is_left_is_sent_to_the_next(acme, code_host):
    joined = fold("First")
    other = code_host.add_repository("acme", "other", private=True)
    code_host.add_to_installation(build.installed(code_host), other)
    Integration.objects.update(repository_id=other.id, repo_name="other")

    maintain()

    assert (comment().status, comment().reason) == ("dropped", "The issues go to acme/other now.")
    assert not code_host.comments("acme/docs", 1)
    joined.refresh_from_db()
    assert (joined.status, joined.repository) == ("sent", "acme/other")


def test_a_comment_in_a_repository_that_was_left_is_still_kept_right(acme, code_host, clock):
    joined = fold("First")
    maintain()
    other = code_host.add_repository("acme", "other")
    code_host.add_to_installation(build.installed(code_host), other)
    Integration.objects.update(repository_id=other.id, repo_name="other")
    erasing.erase(joined.report)
    clock.advance(minutes=11)

    maintain()

    assert "First" not in shown(code_host)


def test_an_organization_is_deleted_with_its_comments(acme, code_host):
    fold("First")
    maintain()
    Organization.objects.all().delete()

    assert not Comment.objects.exists()


def test_whatever_is_due_is_found_by_an_index(acme):
    fold("First")

    plans = plans_of(sending.is_anything_due)

    assert not whole_tables_in(plans, "integrations_comment", "integrations_delivery")
