"""The page of a report: what it has joined and why, what has joined it, and what a member says about that."""

import json

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.html import escape

from hub.screen import alike
from integrations.models import Delivery, Integration, Verdict
from integrations.models.integration import PAUSED
from reports.models import Report
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = "/settings/reports/"
FLAG = "`shipyard push --force` fails in step 3: `unknown flag: --force`, since 4.0 it is `--overwrite`"
OTHER = "The page does not say which `DEFAULT_REGISTRY` the `image` goes to"


@pytest.fixture
def alice(code_host, client):
    owner = build.acme(code_host)
    Integration.objects.update(likeness="fold")
    client.force_login(build.member(owner))
    return client


def send(agent: str, summary: str = FLAG) -> Delivery:
    body = build.report(agent__name=agent, report__summary=summary)
    return Delivery.objects.get(report=build.send(Client(), body).json()["id"])


def page_of(client, delivery: Delivery) -> str:
    return client.get(f"{PAGE}{delivery.report_id}/").content.decode()


def press(client, delivery: Delivery, act: str, **typed) -> str:
    return client.post(f"{PAGE}{delivery.report_id}/{act}/", typed, follow=True).content.decode()


def test_what_has_joined_an_issue_says_which_and_why(alice):
    lead, joined = send("claude-code"), send("cursor")

    page = page_of(alice, joined)

    assert f'It has joined <a href="{lead.issue_url}">issue #1</a>' in page
    assert escape(joined.likeness_words) in page
    assert f'The issue was opened for <a href="{PAGE}{lead.report_id}/">' in page
    assert f'action="{PAGE}{joined.report_id}/not-the-same/"' in page


def test_not_the_same_opens_an_issue_and_says_so(alice, code_host):
    joined = [send("claude-code"), send("cursor")][1]

    page = press(alice, joined, "not-the-same")

    assert "Split off. Issue #2 opened in acme/docs." in page
    assert "It has joined" not in page


def test_a_lead_lists_what_has_joined_it_and_each_can_be_split_off_there(alice, monkeypatch):
    lead, *joined = (send(each) for each in ("claude-code", "cursor", "aider", "goose"))
    monkeypatch.setattr(alike, "SHOWN", 2)

    page = page_of(alice, lead)
    after = press(alice, joined[2], "not-the-same", back=lead.report_id)

    assert "3 other reports joined its issue" in page
    assert "<span>goose</span>" in page
    assert "<span>cursor</span>" not in page
    assert "And 1 more." in page
    assert "2 other reports joined its issue" in after


def test_all_are_split_off_once_a_member_is_sure(alice, code_host):
    lead, *_ = (send(each) for each in ("claude-code", "cursor", "aider"))

    asked = alice.get(f"{PAGE}{lead.report_id}/split-all/").content.decode()
    assert "Split off all 2 reports that joined" in asked
    assert {each.status for each in Delivery.objects.filter(lead=lead)} == {"folded"}
    done = press(alice, lead, "split-all")

    assert "2 reports were split off. Each is sent in its turn." in done
    assert not lead.folded.exists()
    assert len(code_host.issues("acme/docs")) == 2
    assert "No other report has joined its issue." in press(alice, lead, "split-all")


def test_what_is_split_off_while_nothing_is_sent_says_so(alice):
    lead, _ = send("claude-code"), send("cursor")
    alice.post("/settings/integration/pause/")

    done = press(alice, lead, "split-all")

    assert f"1 report was split off. Nothing is sent now. {PAUSED}" in done


def test_without_a_repository_no_issue_can_be_named(alice):
    """The form would be refused, whatever is typed."""
    lead, joined = send("claude-code"), send("cursor", OTHER)
    with_one = page_of(alice, joined)
    alice.post("/settings/integration/disconnect/")

    page, refused = (
        page_of(alice, joined),
        press(alice, joined, "same-as", issue_url=lead.issue_url),
    )

    assert "The same as another issue?" in with_one
    assert "The same as another issue?" not in page
    assert "No repository is chosen. Choose one first." in refused


def test_of_an_erased_report_no_issue_of_its_own_is_promised(alice):
    """What is split off has none, and waits for nothing."""
    joined = [send("claude-code"), send("cursor")][1]
    press(alice, joined, "erase")
    alice.post("/settings/integration/pause/")

    before, after = page_of(alice, joined), press(alice, joined, "not-the-same")

    assert "Its text was erased, so it is in no issue then." in before
    assert "It gets an issue of its own now" not in before
    assert "Split off. Not delivered. Its text was erased." in after
    joined.refresh_from_db()
    assert (joined.status, joined.held_for, joined.lead) == ("failed", "", None)


def test_the_only_one_that_joined_is_split_off(alice):
    lead, _ = send("claude-code"), send("cursor")

    asked = alice.get(f"{PAGE}{lead.report_id}/split-all/").content.decode()
    done = press(alice, lead, "split-all")

    assert "Split off the report that joined" in asked
    assert "1 report was split off. It is sent in its turn." in done


def test_nothing_is_asked_where_nothing_has_joined(alice):
    lead = send("claude-code")

    answer = alice.get(f"{PAGE}{lead.report_id}/split-all/")

    assert answer.status_code == 302


def test_the_issue_that_is_hinted_is_named_with_one_press(alice):
    Integration.objects.update(likeness="hint")
    lead, hinted = send("claude-code"), send("cursor")

    page = page_of(alice, hinted)
    named = press(alice, hinted, "same-as", issue_url=lead.issue_url)
    near = send("aider")

    assert "Maybe the same as" in page
    assert escape(hinted.likeness_words[1:]) in page
    assert f'value="{lead.issue_url}"' in page
    assert "Noted: it is the same. Both issues stay as they are." in named
    assert "<p>A member said so.</p>" in named
    assert near.maybe_lead == lead


def test_what_later_reports_do_is_said_where_reports_join_issues(alice):
    Integration.objects.update(likeness="hint")
    lead, hinted = send("claude-code"), send("cursor")
    hints = page_of(alice, hinted)
    Integration.objects.update(likeness="fold")

    joins = page_of(alice, hinted)
    named = press(alice, hinted, "same-as", issue_url=lead.issue_url)

    assert "later reports like this one join" not in hints
    assert "If it is the same, later reports like this one join #1." in joins
    assert "Noted. Both issues stay; later reports like this one join the one that you" in named
    assert "A member said so. Reports like this one join #1." in named


def test_a_hint_that_is_wrong_goes_away(alice):
    Integration.objects.update(likeness="hint")
    hinted = [send("claude-code"), send("cursor")][1]

    page = press(alice, hinted, "not-the-same")

    assert "Noted: it is not the same." in page
    assert 'id="likeness"' not in page
    assert Verdict.objects.get().made_by == "alice"


def test_what_has_failed_joins_the_issue_that_is_named(alice, code_host):
    lead = send("claude-code")
    code_host.fail("422")
    failed = send("cursor", OTHER)

    page = press(alice, failed, "same-as", issue_url=lead.issue_url)

    assert "It has joined issue #1." in page
    assert "alice said that it is the same." in page


def test_an_address_that_is_refused_is_kept_and_the_page_says_why(alice):
    lead, other = send("claude-code"), send("cursor", OTHER)

    pages = [
        press(alice, other, "same-as", issue_url=each)
        for each in ("#<1>", "", other.issue_url, "x" * 501)
    ]

    assert all("<title>Error: Report:" in page for page in pages)
    assert 'value="#&lt;1&gt;"' in pages[0]
    assert "Name the issue by its address, such as " in pages[0]
    assert "This field is required." in pages[1]
    assert "That is the issue of this report itself." in pages[2]
    assert lead.issue_url


def test_what_cannot_be_named_now_has_no_form(alice, code_host):
    code_host.fail("500")
    unknown = send("claude-code")
    assert unknown.outcome_unknown_since

    page = page_of(alice, unknown)
    refused = press(alice, unknown, "same-as", issue_url="x")

    assert "The same as this issue" not in page
    assert "It is not known yet whether GitHub opened the issue." in refused


def test_a_withheld_report_is_counted_but_not_shown(alice):
    lead, joined, withheld = (send(each) for each in ("claude-code", "cursor", "aider"))
    Report.objects.filter(pk=withheld.report_id).update(withheld_for=7)
    Report.objects.filter(pk=lead.report_id).update(summary="A secret")

    page = page_of(alice, lead)
    Report.objects.filter(pk=lead.report_id).update(withheld_for=7)
    of_joined = page_of(alice, joined)

    assert "<span>aider</span>" not in page
    assert "And 1 more." in page
    assert "A secret" not in of_joined
    assert "issue #1</a>" in of_joined


def test_the_export_has_what_was_said_of_reports_that_may_be_read(alice):
    _, joined, withheld = (send(each) for each in ("claude-code", "cursor", "aider"))
    for each in (joined, withheld):
        press(alice, each, "not-the-same")
    Report.objects.filter(pk=withheld.report_id).update(withheld_for=7)

    text = b"".join(alice.get("/settings/account/export.json").streaming_content).decode()

    [said] = json.loads(text)["verdicts"]
    assert (said["report_id"], said["is_same"], said["made_by"]) == (
        joined.report_id,
        False,
        "alice",
    )


def test_the_export_has_no_words_of_an_erased_report(alice):
    lead, joined = send("claude-code"), send("cursor")
    press(alice, joined, "not-the-same")
    had = Verdict.objects.get().words
    Report.objects.filter(pk=lead.report_id).update(erased_at=timezone.now())

    text = b"".join(alice.get("/settings/account/export.json").streaming_content).decode()
    exported = json.loads(text)

    ofs = [said for each in exported["reports"] for said in each["verdicts"]]
    assert had
    assert [each["words"] for each in exported["verdicts"] + ofs] == ["", ""]


@pytest.mark.parametrize("act", ["not-the-same", "same-as", "split-all"])
def test_a_strangers_report_is_not_there(alice, code_host, act):
    mine = send("claude-code")
    stranger = Client()
    stranger.force_login(build.member(build.organization("initech"), "charlie"))

    answer = stranger.post(f"{PAGE}{mine.report_id}/{act}/", {"issue_url": mine.issue_url})

    assert answer.status_code == 404
