"""What the list says, whoever wrote the reports in it: bounded, inert, and without secrets."""

import json
import os
import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st

from core import counting
from integrations.comments import listing, words
from integrations.comments.listing import Item
from integrations.delivery import pacing
from integrations.issue.rendering import BODY_LIMIT
from integrations.models import Comment, Delivery
from reports import erasing
from reports.models import Report
from tests import build
from tests.integrations.comments.world import WORDS, fold, lead
from tests.integrations.issue import hostile
from tests.integrations.issue.liveness import Page, live

SANITISE = os.environ.get("HUB_SANITISE_DIR", "")
SITE = "https://docs.example.com"
HEAD, ULID = "**Also reported**", "01JD000000000000000000000A"
TOKEN = "ghp_" + "a1B2" * 9


@pytest.fixture
def at_docs(settings):
    settings.HUB_BASE_URL = SITE


def text() -> str:
    """What the one list is to say now."""
    return words.of(Comment.objects.select_related("lead__report", "integration").get()) or ""


def listed(summary: str, agent: str = "agent-x", why: str = WORDS, number: int = 1) -> str:
    item = Item(ULID, agent, "23 November 2026", summary, why)
    return listing.filled(HEAD, [item] * number, number)


@pytest.mark.django_db(transaction=True)
def test_the_newest_are_listed_first_and_the_others_counted(acme):
    for number in range(33):
        fold(f"Joined {number:02}", report__details=str(number))

    said = text()

    assert re.findall(r"Joined \d\d", said) == [
        f"Joined {number:02}" for number in range(32, 2, -1)
    ]
    assert "33 more reports of this problem." in said
    assert "3 others are not listed." in said


@pytest.mark.django_db(transaction=True)
def test_one_source_pushes_out_nobody(acme):
    for number in range(3):
        joined = fold(f"True {number}", report__details=str(number))
        Delivery.objects.filter(pk=joined.pk).update(source=f"network {number}")
    for number in range(31):
        fold(f"Junk {number:02}", report__details=str(number))

    said = text()

    assert re.findall(r"Junk \d\d|True \d", said) == [
        *(f"Junk {number:02}" for number in range(30, 3, -1)),
        *("True 2", "True 1", "True 0"),
    ]
    assert "4 others are not listed." in said


@pytest.mark.django_db(transaction=True)
def test_one_source_pushes_out_nobody_either_once_sources_are_forgotten(acme):
    for number in range(3):
        joined = fold(f"True {number}", report__details=str(number))
        Delivery.objects.filter(pk=joined.pk).update(source=f"network {number}", turn=0)
    for number in range(31):
        fold(f"Junk {number:02}", report__details=str(number))
    Delivery.objects.update(created_at=timezone.now() - pacing.SOURCES_KEPT - timedelta(hours=1))

    pacing.forget_sources()

    assert re.findall(r"True \d", text()) == ["True 2", "True 1", "True 0"]


@pytest.mark.django_db(transaction=True)
def test_one_source_pushes_out_nobody_by_more_than_are_looked_at(acme, monkeypatch):
    """An attack: what joins uses no pace, so one network sends a thousand in twenty minutes."""
    monkeypatch.setattr(counting, "MOST", 6)
    for number in range(3):
        joined = fold(f"True {number}", report__details=str(number))
        Delivery.objects.filter(pk=joined.pk).update(source=f"network {number}")
    for number in range(9):
        fold(f"Junk {number:02}", report__details=str(number))

    assert re.findall(r"Junk \d\d|True \d", text()) == [
        *(f"Junk {number:02}" for number in range(8, 2, -1)),
        *("True 2", "True 1", "True 0"),
    ]


@pytest.mark.django_db(transaction=True)
def test_of_a_thousand_no_more_are_counted(acme, monkeypatch):
    monkeypatch.setattr(counting, "MOST", 3)
    monkeypatch.setattr(listing, "LISTED", 2)
    for number in range(5):
        fold(f"Joined {number:02}", report__details=str(number))

    said = text()

    assert "More than 3 more reports of this problem." in said
    assert "it was reported 4 or more times." in said
    assert "2 or more others are not listed." in said


@pytest.mark.django_db(transaction=True)
def test_exact_repeats_are_counted(acme, client):
    fold("First")
    Report.objects.filter(summary="First").update(times_reported=4)
    Report.objects.exclude(summary="First").update(times_reported=3)

    assert "1 more report of this problem. With exact repeats, it was reported 7 times." in text()


@pytest.mark.django_db(transaction=True)
def test_each_says_when_it_came_and_why_it_is_there(acme):
    joined = fold("First", agent__name="agent-y")
    day = f"{joined.report.received_at:%-d %B %Y}"
    named = fold("Second", by="alice")

    said = text()

    assert (
        f"/r/{joined.report_id}/) · {day} · agent-y\n\n  First\n\n  Joined for this: {WORDS}"
        in said
    )
    assert f"/r/{named.report_id}/" in said
    assert "Joined for this: A member says that it is the same problem." in said
    assert "alice" not in said


@pytest.mark.django_db(transaction=True)
def test_of_an_erased_report_no_text_is_shown(acme):
    joined = fold("Private matters", agent__name="agent-y")

    erasing.erase(joined.report)

    said = text()
    assert "Its text was erased." in said
    assert f"/r/{joined.report_id}/" in said
    for gone in ("Private matters", "agent-y", "unknown flag"):
        assert gone not in said


@pytest.mark.django_db(transaction=True)
def test_where_the_first_report_is_erased_nothing_is_said_of_what_they_have_in_common(acme):
    fold("First")

    erasing.erase(lead().report)

    assert "First" in text()
    assert "unknown flag" not in text()


@pytest.mark.django_db(transaction=True)
def test_what_members_may_not_read_is_not_shown(acme):
    fold("Private matters")
    Report.objects.filter(summary="Private matters").update(withheld_for=7)

    assert "Its text is not shown here." in text()
    assert "Private matters" not in text()


@pytest.mark.django_db(transaction=True)
def test_what_a_member_let_join_from_a_page_that_was_lost_is_not_shown(acme):
    build.domain(acme, "www.acme.com")
    fold("About another page", doc_url="https://www.acme.com/install")
    assert "About another page" in text()

    acme.domains.filter(name="www.acme.com").delete()

    assert "About another page" not in text()


@pytest.mark.django_db(transaction=True)
def test_a_secret_that_is_only_known_now_is_removed_and_noted(acme):
    joined = fold("Harmless", words=f"same page; `{TOKEN}` in common")
    Report.objects.filter(pk=joined.report_id).update(summary=f"With {TOKEN}")

    assert TOKEN not in text()
    assert "removed: GitHub token]" in text()
    joined.report.refresh_from_db()
    assert joined.report.notices[0]["field"] == "/report/summary"


BEGIN, KEY = "-----BEGIN RSA PRIVATE KEY-----", f"{'MIIEow' * 10} -----END RSA PRIVATE KEY-----"


@pytest.mark.django_db(transaction=True)
def test_a_secret_that_two_texts_form_together_is_removed(acme):
    joined = fold(KEY, agent__name=BEGIN)
    assert joined.report.notices == []

    assert "MIIEow" not in text()
    assert f"/r/{joined.report_id}/" in text()


@pytest.mark.django_db(transaction=True)
def test_what_was_split_off_is_listed_no_longer(acme):
    fold("First")
    Comment.objects.update(comment_id=1, status="written")
    Delivery.objects.folded().unfold()

    assert "have issues of their own now" in text()


@pytest.mark.django_db(transaction=True)
def test_many_are_read_in_a_few_queries(acme, django_assert_max_num_queries):
    for number in range(30):
        fold(f"Joined {number:02}", report__details=str(number))

    with django_assert_max_num_queries(10):
        text()


def test_thirty_of_the_longest_have_room(at_docs):
    worst = "@[x](//e.example)`<!--" * 40

    said = listed(worst, worst, worst, number=30)

    assert len(said) <= BODY_LIMIT
    assert said.count("[Receipt]") == 30


def test_what_has_no_room_is_counted(at_docs, settings, monkeypatch):
    monkeypatch.setattr(listing, "BODY_LIMIT", 2000)

    said = listed("summary " * 20, number=30)

    assert len(said) <= 2000
    shown = said.count("[Receipt]")
    assert shown
    assert f"{30 - shown} others are not listed." in said


@pytest.mark.parametrize(
    "odd", ["`", "``", "```", "<!--", "~~~", "$$", "![", "    ", "> ", "| a |\n|-|"]
)
def test_no_text_swallows_what_follows(at_docs, odd):
    page = Page(f"{listed(odd, odd, odd)}\n\n{listed('LAST')}")

    assert page.links.count(f"{SITE}/r/{ULID}/") == 2
    assert page.shows("LAST")


anything = st.one_of(hostile.text, hostile.code_block, hostile.table)


@pytest.mark.slow
@given(anything, hostile.text, anything)
@settings(max_examples=300)
def test_nothing_that_a_reporter_writes_is_live(summary, agent, why):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("integrations.comments.listing.settings.HUB_BASE_URL", SITE)
        said = listed(summary, agent, why)

    assert not live(said, links=(SITE,)) - live(listed("word", "word", "word"), links=(SITE,))
    assert Page(f"{said}\n\nLAST").shows("LAST")


@pytest.mark.slow
@pytest.mark.skipif(not SANITISE, reason="HUB_SANITISE_DIR is not set")
def test_an_independent_checker_finds_nothing_live_in_its_corpus(at_docs, tmp_path):
    rendered = tmp_path / "rendered.jsonl"
    cases = Path(SANITISE, "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    with rendered.open("w", encoding="utf-8") as lines:
        for case in map(json.loads, cases):
            lines.write(json.dumps(_rendered(case)) + "\n")

    result = subprocess.run(
        [sys.executable, f"{SANITISE}/check.py", "--rendered", str(rendered)],
        capture_output=True,
        text=True,
        check=False,
    )

    summary = json.loads(result.stdout)
    assert summary["renders"] > 100
    assert summary["live_inputs"] == 0, result.stdout


def _rendered(case: dict) -> dict:
    """A list with the case's texts in every place where a reporter's text stands."""
    given = case["input"]
    texts = list(given.values()) if isinstance(given, dict) else [given]
    first, last = str(texts[0]), str(texts[-1])
    body = f"{listed(first, last, first)}\n\n{listed(last, first, last)}\n\nHUBSENTINEL\n"
    name = "own" if case.get("template") else "prose"
    return {"id": case["id"], "template_name": name, "title": "[docs] Also", "body": body}
