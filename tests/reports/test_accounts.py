"""A repeat that says more than the first: its words are kept with the report."""

import threading
from itertools import count

import pytest
from django.db import connection
from django.test import Client

from reports import accounts
from reports.models import Account, Report
from tests import build
from tests.reports.test_reports_api import statements

pytestmark = pytest.mark.django_db

TRUE = "Step 3 fails: the flag --init was removed in version 4"
QUOTE = {"kind": "quote", "text": "Run acme --init"}


senders = count()


def send(client, details: str = "", **parts):
    return send_as_it_is(client, build.report(report__details=details, **parts))


def send_as_it_is(client, body: dict):
    """From a network that nobody else is in, so that no source has had its share."""
    number = next(senders)
    client.defaults["REMOTE_ADDR"] = f"10.{number // 250 % 250}.{number % 250}.1"
    return build.send(client, body)


def kept() -> list[str]:
    """The details of every account, oldest first."""
    return list(Account.objects.order_by("pk").values_list("details", flat=True))


def long(number: int, size: int) -> list[dict[str, str]]:
    """Evidence of about `size` bytes, another for each number."""
    text = f"{number:04}" + "x" * 3900
    return [{"kind": "observed", "text": text}] * max(1, size // 4000)


def test_a_stranger_who_was_first_does_not_swallow_the_true_report(client):
    first = send(client, "lol").json()

    true = send(client, TRUE, report__evidence=[QUOTE], report__suggested_fix="Drop it").json()

    account = Account.objects.get()
    assert (true["id"], true["is_duplicate"]) == (first["id"], True)
    assert account.report_id == first["id"]
    assert (account.details, account.evidence, account.suggested_fix) == (TRUE, [QUOTE], "Drop it")
    assert Report.objects.get().times_reported == 2
    assert Report.objects.get().further_accounts == 1


@pytest.mark.parametrize(
    "words",
    [
        {"report__details": TRUE},
        {"report__evidence": [QUOTE]},
        {"report__suggested_fix": "Drop it"},
        {"report__summary": "Another summary, under the key of the first"},
    ],
)
def test_whatever_differs_is_kept(client, words):
    build.send(client, Idempotency_Key="1")

    build.send(client, build.report(**words), Idempotency_Key="1")

    [(path, text)] = words.items()
    assert getattr(Account.objects.get(), path.removeprefix("report__")) == text


def test_a_repeat_without_words_of_its_own_makes_no_account(client):
    words = {"report__evidence": [QUOTE], "report__suggested_fix": "Drop it"}
    send(client, TRUE, **words)

    send(client, TRUE, **words, agent__version="2", submitted_at="2026-06-06T12:34:56Z")
    send(client, TRUE, **words, report__kind="broken")

    assert not Account.objects.exists()
    assert Report.objects.get().times_reported == 3


def test_the_same_words_again_are_counted_with_their_account(client):
    send(client, "lol")

    for _ in range(3):
        send(client, TRUE)

    assert Account.objects.get().times_received == 3
    assert Account.objects.get().last_received_at > Account.objects.get().received_at
    assert Report.objects.get().further_accounts == 1


def test_an_account_keeps_who_sent_it_and_the_kind_that_it_said(client):
    send(client, "lol")

    context = {"task_summary": "Install it"}
    send(client, TRUE, agent__version="2", report__kind="broken", task_context=context)

    account = Account.objects.get()
    assert (account.agent_version, account.kind) == ("2", "broken")
    assert account.task_context == context


def test_an_account_holds_no_secrets(client):
    send(client, "lol")

    answer = send(client, "I used ghp_" + "a1B2" * 9)

    assert answer.json()["notices"] == [{"field": "/report/details", "kind": "GitHub token"}]
    assert "a1B2" not in Account.objects.get().details


def test_junk_in_advance_does_not_keep_the_true_report_out(client):
    for number in range(30):
        send(client, f"lol {number}")

    send(client, TRUE)

    report = Report.objects.get()
    assert TRUE in kept()
    assert len(kept()) == report.further_accounts == accounts.MOST
    assert report.times_reported == 31
    assert report.accounts_not_kept == 10


def test_one_source_does_not_fill_a_report_nor_drive_out_what_others_said(client):
    send(client, "lol")
    for number in range(30):
        client.defaults["REMOTE_ADDR"] = f"198.51.100.{number}"
        build.send(client, build.report(report__details=f"before {number}"))
    send(client, TRUE)

    for number in range(30):
        client.defaults["REMOTE_ADDR"] = f"198.51.100.{number}"
        build.send(client, build.report(report__details=f"after {number}"))

    assert kept() == ["before 0", "before 1", "before 2", TRUE]
    assert Report.objects.get().times_reported == 62
    assert Report.objects.get().accounts_not_kept == 57


def test_one_source_is_counted_for_so_many_reports_a_day(client, monkeypatch):
    """An attack: each report that somebody repeats in other words left a counter of its own for a day."""
    monkeypatch.setattr(accounts, "OF_ALL", "3/day")
    for number in range(5):
        page = f"https://docs.acme.com/{number}"
        build.send(client, build.report(page))

        build.send(client, build.report(page, report__details="Again"))

    assert Account.objects.count() == 3
    assert Report.objects.filter(accounts_not_kept=1).count() == 2


def test_three_long_ones_of_one_source_drive_nobody_out(client):
    send(client, "lol")
    for number in range(2):
        send(client, report__evidence=long(number, 16_000))
    for number in range(9):
        send(client, f"{TRUE}, {number}")

    send(client, report__evidence=long(3, 32_000))

    assert sum(TRUE in each for each in kept()) == 9
    assert sum(Account.objects.values_list("size", flat=True)) <= accounts.BYTES


def test_what_one_source_repeats_in_the_same_words_uses_nothing_up(client):
    build.send(client)

    for details in ["one", "one", "one", "one", "two", "three"]:
        build.send(client, build.report(report__details=details))

    assert kept() == ["one", "two", "three"]


def test_junk_afterwards_does_not_drive_the_first_accounts_out(client):
    send(client, "lol")
    send(client, TRUE)

    for number in range(30):
        send(client, f"lol {number}", report__evidence=long(number, 60_000))

    assert kept()[0] == TRUE


def test_a_report_keeps_64_kib_of_accounts_at_most(client):
    send(client, "lol")

    for number in range(8):
        send(client, report__evidence=long(number, 20_000))
    send(client, report__evidence=long(9, 50_000))
    send(client, TRUE)

    report = Report.objects.get()
    sizes = Account.objects.values_list("size", flat=True)
    assert sum(sizes) <= accounts.BYTES
    assert kept()[-1] == TRUE
    assert report.further_accounts + report.accounts_not_kept == 10


def test_an_account_that_is_larger_than_what_may_give_way_is_only_counted(client):
    send(client, "lol")
    for number in range(7):
        send(client, f"{number}" + "x" * 3_000)

    send(client, report__evidence=long(9, 60_000))

    assert len(kept()) == 7
    assert Report.objects.get().accounts_not_kept == 1


@pytest.mark.parametrize("size", [3_400, 6_000])
@pytest.mark.parametrize(("junk", "left"), [(20_000, 7), (40_000, 6), (60_000, 6)])
def test_a_long_one_drives_out_few_that_are_shorter(client, size, junk, left):
    send(client, "lol")
    for number in range(8):
        send(client, f"{TRUE}, {number} {'x' * size}")

    send(client, report__evidence=long(1, junk))

    assert sum(TRUE in each for each in kept()) >= left


def test_long_ones_in_advance_keep_no_longer_one_out(client):
    send(client, "lol")
    for number in range(3):
        send(client, report__evidence=long(number, 20_000))

    send(client, TRUE, report__evidence=long(9, 28_000))

    assert TRUE in kept()


def test_a_longer_one_makes_room_for_one_that_is_shorter(client):
    send(client, "lol")
    send(client, report__evidence=long(1, 60_000))

    send(client, TRUE, report__evidence=long(2, 40_000))

    assert kept() == [TRUE]


def test_after_the_window_a_report_has_no_accounts(client, settings):
    send(client, "lol")
    settings.HUB_DEDUP_DAYS = 0

    assert send(client, TRUE).json()["is_duplicate"] is False
    assert not Account.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_an_account_sends_nothing(client, code_host):
    build.acme(code_host)
    send(client, "lol")

    send(client, TRUE)

    [issue] = code_host.issues("acme/docs")
    assert kept() == [TRUE]
    assert TRUE not in issue.body


def test_a_repeat_with_words_of_its_own_costs_eight_more_statements(client):
    send(client, "lol")

    assert statements(lambda: send(client, TRUE)) == 9
    assert statements(lambda: send(client, TRUE)) == 9
    assert statements(lambda: send(client, "lol")) == 1


def all_at_once(bodies: list[dict]) -> list[int]:
    """The status of each answer; each is sent from a network of its own."""

    def post(body: dict) -> None:
        try:
            barrier.wait()
            answers.append(send_as_it_is(Client(), body).status_code)
        finally:
            connection.close()

    answers: list[int] = []
    barrier = threading.Barrier(len(bodies))
    threads = [threading.Thread(target=post, args=[body]) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_fifty_at_once_with_the_same_words_make_one_account(client):
    send(client, "lol")

    answers = all_at_once([build.report(report__details=TRUE)] * 50)

    assert answers == [201] * 50
    assert Account.objects.get().times_received == 50
    assert Report.objects.get().times_reported == 51


@pytest.mark.django_db(transaction=True)
def test_fifty_at_once_with_words_of_their_own_keep_within_the_bounds(client):
    send(client, "lol")

    answers = all_at_once([build.report(report__evidence=long(n, 8_000)) for n in range(50)])

    report = Report.objects.get()
    sizes = list(Account.objects.values_list("size", flat=True))
    assert answers == [201] * 50
    assert sum(sizes) <= accounts.BYTES
    assert len(sizes) == report.further_accounts <= accounts.MOST
    assert report.further_accounts + report.accounts_not_kept == 50
    assert report.times_reported == 51
