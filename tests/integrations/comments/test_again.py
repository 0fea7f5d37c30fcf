"""What is reported again after its issue was closed: noted once for each closing, and only where it is wanted."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from integrations.models import Comment, Delivery, Integration
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)

DAY = timedelta(days=1)


@pytest.fixture
def acme(code_host):
    return build.acme(code_host)


@pytest.fixture
def sent(acme) -> Delivery:
    """The delivery of a report that has become issue 1."""
    build.send(Client())
    return Delivery.objects.get(status="sent")


def closed(delivery: Delivery, reason: str = "completed", ago: timedelta = DAY) -> None:
    """Its issue was closed, so long ago."""
    Delivery.objects.filter(pk=delivery.pk).update(
        issue_state="closed",
        issue_state_reason=reason,
        issue_closed_at=timezone.now() - ago,
        issue_updated_at=timezone.now() - ago,
    )


def repeat(**changes) -> int:
    """Send the same report again; returns the number of questions to the database."""
    with CaptureQueriesContext(connection) as queries:
        answer = build.send(Client(), build.report(**changes))
    assert (answer.status_code, answer.json()["is_duplicate"]) == (201, True)
    return len(queries)


def noted() -> list[str]:
    return sorted(Comment.objects.values_list("purpose", flat=True))


@pytest.mark.parametrize(
    ("choice", "purposes"),
    [
        ("nothing", []),
        ("comment", ["again"]),
        ("reopen", ["again", "reopen"]),
        ("issue", ["again"]),  # an exact repeat has no issue of its own
    ],
)
@pytest.mark.parametrize("likeness", ["off", "hint", "fold"])
def test_a_repeat_has_done_what_the_organization_wants(sent, choice, purposes, likeness):
    Integration.objects.update(when_reported_again=choice, likeness=likeness)
    closed(sent)

    repeat()

    assert noted() == purposes


def test_a_repeat_in_other_words_counts_too(sent):
    closed(sent)

    repeat(report__details="It says `npm install`, and nothing happens.")

    assert noted() == ["again"]


@pytest.mark.parametrize("reason", ["not_planned", "duplicate", ""])
def test_nothing_is_said_where_an_issue_was_not_closed_as_completed(sent, reason):
    closed(sent, reason)

    repeat()

    assert noted() == []
    assert Delivery.objects.get().report.times_reported == 2


def test_nothing_is_said_within_a_day(sent):
    closed(sent, ago=DAY - timedelta(minutes=1))

    repeat()

    assert noted() == []


def test_nothing_is_said_of_an_open_issue(sent):
    repeat()

    assert noted() == []


def test_nothing_is_said_in_a_repository_that_was_left(sent):
    closed(sent)
    Integration.objects.update(repository_id=999)

    repeat()

    assert noted() == []


def test_a_flood_of_repeats_is_said_once_and_costs_what_repeats_cost(sent):
    usual = repeat()
    closed(sent)

    repeat()
    flood = {repeat() for _ in range(10)}

    assert flood == {usual}
    assert noted() == ["again"]


def test_each_closing_is_said_once(sent):
    closed(sent, ago=3 * DAY)
    repeat()
    closed(sent, ago=2 * DAY)
    repeat()

    assert noted() == ["again", "again"]


def test_what_was_chosen_later_says_nothing_anew(sent):
    closed(sent)
    repeat()
    Integration.objects.update(when_reported_again="reopen")

    repeat()

    assert noted() == ["again"]


def test_a_repeat_of_what_has_joined_an_issue_is_said_there(acme, sent):
    closed(sent)
    build.send(Client(), build.report(report__summary="Another"))
    Delivery.objects.exclude(pk=sent.pk).update(
        status="folded", lead=sent, folded_at=timezone.now(), issue_number=None, issue_url=""
    )

    repeat(report__summary="Another")

    assert Comment.objects.get().lead == sent


def test_why_it_is_reopened_is_due_before_that(sent, monkeypatch):
    """Also where the ids of one millisecond are in another order."""
    ids = iter(["1" * 26, "0" * 26])
    monkeypatch.setattr(Comment._meta.pk, "_get_default", lambda: next(ids))
    Integration.objects.update(when_reported_again="reopen")
    closed(sent)

    repeat()

    due = Comment.objects.order_by("due_at", "pk").values_list("purpose", flat=True)
    assert list(due) == ["again", "reopen"]
