"""A report alike after its problem was fixed: an issue of its own that names the old one, and only one."""

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from integrations.delivery import coming_back
from integrations.delivery.forwarding import forward
from integrations.folding import following, looking, stored_terms
from integrations.folding.candidates import Lead
from integrations.models import Comment, Delivery, Installation, Integration, Terms, Verdict
from reports.models import Report
from tests import build
from tests.integrations.delivery.alike import AGAIN, ONCE_MORE, PUSH, mode, sent

pytestmark = pytest.mark.django_db(transaction=True)

DAY = timedelta(days=1)


@pytest.fixture
def acme(code_host):
    """What comes again after it was fixed becomes another issue; else what is alike joins one."""
    owner = build.acme(code_host)
    mode("fold")
    Integration.objects.update(when_reported_again="issue")
    return owner


@pytest.fixture
def fixed(acme, code_host) -> Delivery:
    """The delivery of issue 1, which was closed as completed two days ago."""
    first = sent(PUSH)
    Report.objects.update(received_at=timezone.now() - 9 * DAY)
    close(code_host, first)
    return now(first)


def close(code_host, delivery: Delivery, ago: timedelta = 2 * DAY, reason: str = "completed"):
    """Close its issue, so long ago, and have the Hub know that."""
    code_host.clock_offset = -ago
    code_host.close_issue("acme/docs", delivery.issue_number, by="alice", reason=reason)
    code_host.clock_offset = timedelta()
    issue = code_host.issue("acme/docs", delivery.issue_number)
    Delivery.objects.filter(pk=delivery.pk).update(
        issue_state="closed",
        issue_state_reason=reason,
        issue_closed_at=issue.closed_at,
        issue_updated_at=issue.updated_at,
    )


def now(delivery: Delivery) -> Delivery:
    return Delivery.objects.select_related("report").get(pk=delivery.pk)


def test_it_becomes_an_issue_that_names_the_old_one(fixed, code_host):
    again = sent(AGAIN)

    closed_on = f"{fixed.issue_closed_at:%-d %B %Y}"
    assert (again.status, again.follows, again.lead, again.maybe_lead) == (
        "sent",
        fixed,
        None,
        None,
    )
    issue = code_host.issue("acme/docs", 2)
    assert f"\n\n---\nReported again: #1 was closed on {closed_on}.\n\n[Receipt" in issue.body
    assert "Maybe the same" not in issue.body
    assert again.likeness_words.startswith("same page; ")
    assert code_host.issue("acme/docs", 1).state == "closed"
    assert not Comment.objects.exists()


def test_what_comes_later_joins_the_new_issue(fixed, code_host):
    again, later = sent(AGAIN), sent(ONCE_MORE)

    assert (later.status, later.lead, later.follows) == ("folded", again, None)
    assert len(code_host.issues("acme/docs")) == 2


def test_what_comes_after_that_was_fixed_too_follows_that(fixed, code_host):
    again = sent(AGAIN)
    Report.objects.update(received_at=timezone.now() - 9 * DAY)
    close(code_host, again)

    later = sent(ONCE_MORE)

    assert (later.status, later.follows) == ("sent", again)
    assert "Reported again: #2 was closed on" in code_host.issue("acme/docs", 3).body


@pytest.mark.parametrize("ago", [timedelta(minutes=1), 2 * DAY])
def test_an_old_issue_that_was_reopened_is_joined_and_not_what_followed_it(fixed, code_host, ago):
    again = sent(AGAIN)
    code_host.reopen_issue("acme/docs", fixed.issue_number, by="alice")
    Delivery.objects.filter(pk=fixed.pk).update(issue_state="open", issue_closed_at=None)
    Report.objects.update(received_at=timezone.now() - 9 * DAY)
    close(code_host, again, ago=ago)

    later = sent({**PUSH, "agent__name": "zed"}, report__details="It is so still.")

    assert (later.status, later.lead, later.follows) == ("folded", fixed, None)


@pytest.mark.parametrize("reason", ["not_planned", "duplicate"])
def test_what_was_closed_for_another_reason_is_joined_and_nothing_is_said(fixed, code_host, reason):
    Delivery.objects.update(issue_state_reason=reason)

    assert sent(AGAIN).lead == fixed
    assert not Comment.objects.exclude(purpose="also").exists()


@pytest.mark.parametrize("reason", ["not_planned", "duplicate"])
def test_junk_that_was_dismissed_is_not_what_follows(fixed, code_host, reason):
    """Whoever sends the public title of issue 1 with nonsense would have all true reports only counted."""
    junk = sent(PUSH, report__details="lol", agent__name="junk")
    close(code_host, junk, ago=timedelta(minutes=1), reason=reason)

    again, once_more = sent(AGAIN), sent(ONCE_MORE)
    like_junk = sent(PUSH, report__details="lol", agent__name="more junk")

    assert junk.follows == fixed
    assert (again.status, again.follows) == ("sent", fixed)
    assert once_more.lead == again
    assert like_junk.lead is not None


@pytest.mark.parametrize("reason", ["not_planned", "duplicate"])
def test_what_is_nearer_to_what_was_dismissed_is_only_counted(fixed, code_host, reason):
    again = sent(AGAIN)
    close(code_host, again, ago=timedelta(minutes=1), reason=reason)

    once_more = sent({**AGAIN, "agent__name": "codex"})

    assert (once_more.status, once_more.lead) == ("folded", again)
    assert len(code_host.issues("acme/docs")) == 2


def test_within_a_day_it_joins(fixed):
    Delivery.objects.update(issue_closed_at=timezone.now() - DAY + timedelta(minutes=1))

    assert sent(AGAIN).lead == fixed
    assert not Comment.objects.exclude(purpose="also").exists()


@pytest.mark.parametrize("choice", ["nothing", "comment", "reopen"])
def test_it_joins_where_something_else_was_chosen(fixed, choice):
    Integration.objects.update(when_reported_again=choice)

    again = sent(AGAIN)

    said = Comment.objects.exclude(purpose="also").values_list("purpose", flat=True)
    expected = {"nothing": set(), "comment": {"again"}, "reopen": {"again", "reopen"}}
    assert (again.status, again.lead) == ("folded", fixed)
    assert set(said) == expected[choice]


def test_what_follows_is_found_without_reading_all_that_was_split_off(
    fixed, django_assert_num_queries
):
    again = Delivery.objects.select_related("integration", "report").get(pk=sent(AGAIN).pk)
    lead = Lead(fixed.pk, fixed.report_id, 1, is_closed=True, terms=stored_terms.of(fixed.report))

    with django_assert_num_queries(1):
        found = following.latest(lead, again, refused=())

    assert found is None  # it is of the same agent, just now: itself


def test_what_a_member_has_split_off_follows_nothing(fixed, code_host):
    Integration.objects.update(paused_at=timezone.now())
    again, other = sent(AGAIN), sent(ONCE_MORE)
    Verdict.objects.create(
        integration=fixed.integration,
        report=again.report,
        other=other.report,
        is_same=False,
        made_by="alice",
    )
    Integration.objects.update(paused_at=None)
    Delivery.objects.filter(pk=again.pk).update(status="pending", held_for="")

    forward(again.report_id)

    body = code_host.issue("acme/docs", 2).body
    assert "Maybe the same as #1 (closed): " in body
    assert "Reported again" not in body


def test_where_nothing_is_folded_it_is_a_hint_as_ever(fixed, code_host):
    mode("hint")

    again = sent(AGAIN)

    assert (again.follows, again.maybe_lead) == (None, fixed)
    assert "Maybe the same as #1 (closed): " in code_host.issue("acme/docs", 2).body


def test_an_issue_that_was_reopened_unnoticed_is_joined(fixed, code_host):
    code_host.reopen_issue("acme/docs", 1, by="alice")

    again = sent(AGAIN)

    assert (again.status, again.lead, again.follows) == ("folded", fixed, None)
    assert (now(fixed).issue_state, now(fixed).issue_closed_at) == ("open", None)


def test_an_issue_that_was_deleted_unnoticed_is_not_named(fixed, code_host):
    code_host.delete_issue("acme/docs", 1, by="alice")

    again = sent(AGAIN)

    assert (again.status, again.lead, again.follows) == ("sent", None, None)
    assert "#1" not in code_host.issue("acme/docs", 2).body
    assert now(fixed).issue_state == "deleted"


def test_an_issue_that_was_closed_anew_unnoticed_is_joined(fixed, code_host):
    code_host.reopen_issue("acme/docs", 1, by="alice")
    code_host.close_issue("acme/docs", 1, by="alice")

    assert sent(AGAIN).lead == fixed


def test_an_old_issue_that_github_will_not_show_is_closed_as_far_as_is_known(fixed, code_host):
    code_host.fail(
        "answer",
        status=403,
        body={"message": "No."},
        method="GET",
        path="/api/v3/repositories/*/issues/1",
    )

    assert sent(AGAIN).follows == fixed
    assert not Integration.objects.get().problem


@pytest.mark.parametrize("fault", ["500", "502", "hang", "reset_mid_answer", "403_retry_after"])
def test_nothing_is_opened_as_long_as_github_does_not_say_so(fixed, code_host, fault, monkeypatch):
    monkeypatch.setattr("integrations.delivery.forwarding.DEADLINE", 1)
    code_host.fail(fault, method="GET", path="/api/v3/repositories/*/issues/1")

    again = sent(AGAIN)

    assert (again.status, again.posted_at) == ("pending", None)
    assert len(code_host.issues("acme/docs")) == 1
    code_host.faults.clear()
    Installation.objects.update(limited_until=None)
    call_command("retry_deliveries", "--now")
    assert now(again).follows == fixed
    assert len(code_host.issues("acme/docs")) == 2


def test_of_two_at_once_one_waits_and_then_joins(fixed, code_host, clock):
    code_host.fail("500", path="issues")
    again = sent(AGAIN)
    assert (again.status, again.follows) == ("pending", fixed)

    later = sent(ONCE_MORE)

    assert (later.status, later.follows, later.last_tried_at) == ("pending", None, None)
    clock.advance(minutes=3)  # by then GitHub lists what it has
    for _ in range(2):
        call_command("retry_deliveries", "--now")
    assert (now(again).status, now(later).lead) == ("sent", again)
    assert len(code_host.issues("acme/docs")) == 2


def test_nobody_waits_for_long(fixed, code_host, monkeypatch):
    monkeypatch.setattr(looking, "AT_ONCE", timedelta())
    code_host.fail("500", path="issues")
    sent(AGAIN)

    assert sent(ONCE_MORE).follows == fixed


def test_what_a_member_has_split_off_is_not_what_follows(fixed, code_host):
    again = sent(AGAIN)
    Verdict.objects.create(
        integration=again.integration,
        report=again.report,
        other=fixed.report,
        is_same=False,
        made_by="alice",
    )

    Terms.objects.filter(delivery=again).delete()  # so that only the old one is like it

    later = sent(ONCE_MORE)

    assert (later.status, later.follows) == ("sent", fixed)


def test_the_line_is_the_hubs_own(fixed):
    follows = coming_back.Fixed(1, 12, fixed.issue_closed_at.replace(2026, 3, 3))

    assert coming_back.line(follows) == "Reported again: #12 was closed on 3 March 2026."


def test_what_its_own_agent_has_just_reported_is_not_joined(fixed, code_host):
    sent(AGAIN)

    other = sent(ONCE_MORE, agent__name=AGAIN["agent__name"])

    assert (other.status, other.lead, other.follows) == ("sent", None, None)
