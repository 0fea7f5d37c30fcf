"""The text of a report is forgotten, wherever it is on its way."""

import pytest
from django.core.management import call_command
from django.db import connection

from integrations.delivery import pacing, trying_again
from integrations.folding import verdicts
from integrations.models import Attempt, Delivery, Verdict
from integrations.models.delivery import ERASED, LeaseLost
from orgs.models import User
from reports.erasing import erase
from reports.models import Account, Report
from tests import build
from tests.integrations.comments import world

pytestmark = pytest.mark.django_db(transaction=True)

WORDS = build.report(
    "https://docs.acme.com/install?name=alice-private#alice-private",
    agent__name="alice-private",
    agent__version="alice-private",
    agent__vendor="alice-private",
    report__summary="alice-private",
    report__details="alice-private",
    report__evidence=[{"kind": "quote", "text": "alice-private"}],
    report__suggested_fix="alice-private",
    task_context__task_summary="alice-private",
    locale="en",
    submitted_at="2026-06-06T12:34:56Z",
    client_capabilities=["alice-private"],
)

REPEATS = {
    "message": "Validation Failed",
    "errors": [{"message": "No alice-private in a title."}],
}


def everything_stored() -> str:
    """All rows of all tables, as text."""
    found = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            found += [str(row) for row in cursor.fetchall()]
    return "\n".join(found)


def delivery() -> Delivery:
    return Delivery.objects.get()


def waiting(client, code_host) -> Report:
    """A report whose delivery has not been tried with success."""
    build.acme(code_host)
    code_host.fail("500", path="token")
    build.send(client)
    return Report.objects.get()


def lost(client, code_host, fault: str) -> Report:
    """A report whose issue was sent, while GitHub's answer was lost."""
    build.acme(code_host)
    code_host.fail(fault)
    build.send(client)
    assert delivery().outcome_unknown_since
    return Report.objects.get()


def retry_later(clock) -> None:
    for _ in range(3):
        clock.advance(minutes=10)
        call_command("retry_deliveries", "--now")


def test_no_word_is_left_anywhere(client, code_host):
    build.acme(code_host)
    build.send(client, WORDS)
    build.send(client, {**WORDS, "report": {**WORDS["report"], "details": "alice-private too"}})
    assert "alice-private" in everything_stored()

    erase(Report.objects.get())

    report = Report.objects.get()
    assert "alice-private" not in everything_stored()
    assert report.erased_at
    assert (report.times_reported, report.further_accounts, report.kind) == (2, 1, "outdated")
    assert report.canonical_url == "https://docs.acme.com/install"
    assert (delivery().status, delivery().issue_number) == ("sent", 1)


def test_what_very_many_have_in_common_with_it_is_erased_a_part_at_a_time(
    client, code_host, monkeypatch
):
    monkeypatch.setattr(verdicts, "AT_ONCE", 3)
    lead = waiting(client, code_host)
    apart = {"integration": delivery().integration, "is_same": False, "words": "npm install"}
    now = {"received_at": lead.received_at, "last_received_at": lead.received_at}
    first, *others = Report.objects.bulk_create(Report(**now) for _ in range(8))
    Verdict.objects.bulk_create(Verdict(report=each, other=lead, **apart) for each in others)
    kept = Verdict.objects.create(report=others[0], other=first, **apart)
    once, bookmark = iter([True, False]), verdicts.Bookmark()

    erase(lead)
    with_words = Verdict.objects.exclude(words="")
    told = Verdict.objects.noting_words().exclude(words_told="")
    counts = [with_words.count()]
    for go_on in (lambda: next(once), lambda: True):
        verdicts.forget_rest(go_on, bookmark)
        counts.append(with_words.count())

    assert (told.get(), with_words.get()) == (kept, kept)
    assert counts == [5, 5, 1]


def test_operators_read_no_word_of_it_that_is_still_to_be_erased(client, code_host):
    lead = waiting(client, code_host)
    other = Report.objects.create(received_at=lead.received_at, last_received_at=lead.received_at)
    Verdict.objects.create(
        integration=delivery().integration, report=other, other=lead, is_same=False, words="npm"
    )
    Report.objects.filter(pk=lead.pk).update(erased_at=lead.received_at)
    client.force_login(User.objects.create(username="op", is_staff=True, is_superuser=True))
    page = "/admin/integrations/verdict/"

    def has_words() -> list[bool]:
        pages = page, f"{page}{Verdict.objects.get().pk}/change/"
        return ["npm" in client.get(each).text for each in pages]

    assert has_words() == [False, False]
    Report.objects.filter(pk=lead.pk).update(erased_at=None)
    assert has_words() == [True, True]


def test_no_word_is_left_that_github_has_repeated(client, code_host):
    build.acme(code_host)
    code_host.fail("answer", status=422, body=REPEATS)
    build.send(client, WORDS)
    assert "alice-private" in Attempt.objects.get().reason

    erase(Report.objects.get())

    assert "alice-private" not in everything_stored()
    assert Attempt.objects.get().reason == ERASED


def test_no_word_is_left_that_github_has_repeated_after_an_answer_was_lost(
    client, code_host, clock
):
    build.acme(code_host)
    code_host.fail("500")
    build.send(client, WORDS)
    code_host.fail("answer", status=422, body=REPEATS)
    retry_later(clock)
    assert "alice-private" in delivery().reason

    erase(Report.objects.get())

    assert "alice-private" not in everything_stored()


def test_no_word_is_left_that_github_has_repeated_of_a_comment(client, code_host):
    build.acme(code_host)
    world.lead()
    joined = world.fold("alice-private joined")
    code_host.fail("answer", status=422, body=REPEATS, path="comments")
    world.maintain()
    assert "alice-private" in world.comment().reason

    erase(joined.report)

    assert "alice-private" not in everything_stored()


def test_the_receipt_goes_on_to_say_where_it_is(client, code_host):
    build.acme(code_host)
    before = build.send(client).json()
    receipt = client.get(f"/v1/reports/{before['id']}").json()

    erase(Report.objects.get())

    assert client.get(f"/v1/reports/{before['id']}").json() == receipt


def test_what_waits_is_never_sent_as_an_empty_issue(client, code_host, clock):
    erase(waiting(client, code_host))

    retry_later(clock)

    assert not code_host.issues("acme/docs")
    assert (delivery().status, delivery().reason) == ("failed", ERASED)


@pytest.mark.parametrize("cause", Delivery.Cause.values)
def test_what_is_held_is_never_set_free(client, code_host, cause):
    report = waiting(client, code_host)
    Delivery.objects.update(status="held", held_for=cause, reason="Later.")

    erase(report)
    Delivery.objects.release(cause)

    assert (delivery().status, delivery().reason) == ("failed", ERASED)


def test_nobody_can_have_it_tried_again(client, code_host):
    erase(waiting(client, code_host))
    member = build.member(delivery().integration.organization).membership

    with pytest.raises(trying_again.CannotTryAgain, match=ERASED):
        trying_again.try_again(delivery(), by=member)
    trying_again.try_all_again(Delivery.objects.all())

    assert not code_host.issues("acme/docs")
    assert (delivery().status, delivery().reason) == ("failed", ERASED)


def test_an_attempt_that_runs_writes_no_word_back(client, code_host):
    report = waiting(client, code_host)
    running = pacing.take(report.id)

    erase(report)

    with pytest.raises(LeaseLost):
        running.record("A title", "A body")
    assert (delivery().title, delivery().body, delivery().status) == ("", "", "failed")
    assert delivery().attempts.last().outcome == Attempt.Outcome.REFUSED


def test_an_issue_that_is_made_at_this_moment_is_known(client, code_host):
    report = waiting(client, code_host)
    running = pacing.take(report.id)
    running.record("A title", "A body")

    erase(report)
    running.succeed(7, "https://github.com/acme/docs/issues/7", adopted=False)

    assert (delivery().status, delivery().issue_number) == ("sent", 7)
    assert (delivery().title, delivery().body) == ("", "")


def test_an_issue_that_may_have_been_made_is_found_by_its_marker(client, code_host, clock):
    report = lost(client, code_host, "502_after_creating")

    erase(report)
    retry_later(clock)

    assert (delivery().status, delivery().issue_number) == ("sent", 1)
    assert (delivery().title, delivery().body) == ("", "")


def test_an_issue_that_was_not_made_is_not_made_after_erasing(client, code_host, clock):
    report = lost(client, code_host, "502")

    erase(report)
    retry_later(clock)

    assert not code_host.issues("acme/docs")
    assert (delivery().status, delivery().reason) == ("failed", ERASED)
    assert delivery().outcome_unknown_since is None


def test_the_same_text_again_is_a_report_of_its_own(client):
    first = build.send(client).json()
    erase(Report.objects.get())

    again = build.send(client, build.report(report__details="The true one")).json()

    assert again["is_duplicate"] is False
    assert Report.objects.get(pk=again["id"]).details == "The true one"
    assert Report.objects.get(pk=first["id"]).times_reported == 1
    assert not Account.objects.exists()


def test_erasing_twice_keeps_the_first_time(client):
    build.send(client)
    report = Report.objects.get()
    erase(report)
    first = report.erased_at

    erase(Report.objects.get())

    assert Report.objects.get().erased_at == first


def test_what_was_erased_is_nobodys_latest_report_in_a_preview(client, code_host):
    from hub.screen.previews import previews

    acme = build.acme(code_host)
    build.send(client)
    erase(Report.objects.get())

    assert [each.name for each in previews("", acme)][2:] == []
