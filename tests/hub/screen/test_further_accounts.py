"""What the repeats of a report say: on its page, in the lists, and in the export."""

import json

import pytest

from orgs.models import User
from reports.models import Report
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = "/settings/reports/"
TRUE = "Step 3 fails: <b>--init</b> was removed"


@pytest.fixture
def alice(client) -> User:
    acme = build.organization()
    build.domain(acme, "docs.acme.com")
    user = build.member(acme)
    client.force_login(user)
    return user


def reported(client, *details: str) -> Report:
    """A report with these details, one repeat for each after the first; each from another network."""
    for number, each in enumerate(details):
        client.defaults["REMOTE_ADDR"] = f"10.0.{number}.1"
        build.send(client, build.report(report__details=each))
    return Report.objects.get()


def text_of(answer) -> str:
    return b"".join(answer).decode()


def test_the_true_report_is_shown_although_a_stranger_was_first(client, alice):
    report = reported(client, "lol", TRUE, TRUE)

    page = text_of(client.get(f"{PAGE}{report.id}/"))

    assert "Step 3 fails: &lt;b&gt;--init&lt;/b&gt; was removed" in page
    assert '2 times, last <time datetime="' in page
    assert '<a href="#accounts">1 further account</a>' in page
    assert "not kept" not in page


def test_a_report_without_further_accounts_says_nothing_of_them(client, alice):
    report = reported(client, "lol", "lol")

    assert "account" not in text_of(client.get(f"{PAGE}{report.id}/")).partition("<main")[2]


def test_what_is_not_kept_is_said(client, alice):
    report = reported(client, *(f"lol {number}" for number in range(24)))

    page = text_of(client.get(f"{PAGE}{report.id}/"))

    assert "20 further accounts" in page
    assert "3 more were not kept: a report keeps the first and the latest" in page


def test_of_much_that_is_said_only_the_first_is_formatted(client, alice):
    """An attack: a page with twelve texts of 8,000 characters took 180 ms of computing each time."""
    report = reported(client, "lol", *(f"**{number}** {'~' * 7000}" for number in range(4)))

    page = text_of(client.get(f"{PAGE}{report.id}/"))

    assert [f"<strong>{number}</strong>" in page for number in range(4)] == [
        True,
        True,
        False,
        False,
    ]
    assert [f'<pre tabindex="0">**{n}** ~' in page for n in range(4)] == [False, False, True, True]


def test_the_lists_count_accounts_apart(client, alice):
    reported(client, "lol", TRUE, "lol")

    [row] = build.api(build.token(alice)).get("/v1/orgs/me/reports").json()["reports"]

    assert (row["times_reported"], row["further_accounts"]) == (3, 1)
    assert "+1 account</a>" in text_of(client.get(PAGE))
    table = text_of(client.get(f"{PAGE}reports.csv")).splitlines()
    assert table[0].endswith(',"further_accounts"')
    assert table[1].endswith(",1")


def test_the_export_has_every_account(client, alice):
    reported(client, "lol", TRUE)

    [report] = json.loads(text_of(client.get("/settings/account/export.json")))["reports"]

    [account] = report["accounts"]
    assert account["details"] == TRUE
    assert "words_hash" not in account


def test_operators_read_every_account(client, alice):
    report = reported(client, "lol", TRUE)
    User.objects.update(is_staff=True, is_superuser=True)

    page = text_of(client.get(f"/admin/reports/report/{report.id}/change/"))

    assert "Step 3 fails: &lt;b&gt;" in page
    assert "Delete" not in page
