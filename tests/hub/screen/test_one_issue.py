"""The box *One problem, one issue* on the page of the integration."""

import json
import re
from datetime import timedelta

import pytest
from django.utils import timezone
from django.utils.html import escape

from hub.screen import lately, one_issue
from integrations.models import Answer, Comment, Delivery, Integration, Verdict
from reports.models import Report
from tests import build
from tests.plans import plans_of

PAGE = "/settings/integration/"
SAVE = f"{PAGE}one-issue/"
pytestmark = pytest.mark.django_db(transaction=True)

CHOSEN = {"likeness": "fold", "when_reported_again": "reopen", "shows_known": "on"}
COLUMNS = ("likeness", "when_reported_again", "shows_known")


@pytest.fixture
def acme(code_host):
    return build.acme(code_host)


@pytest.fixture
def bob(acme, client):
    client.force_login(build.member(acme, "bob", role="member"))
    return client


def box(client) -> str:
    page = client.get(PAGE).content.decode()
    return page[page.index('<h2 id="one-issue">') :].partition("</section>")[0]


def checked(html: str) -> list[str]:
    return re.findall(r'value="(\w+)" checked', html)


def test_each_choice_is_explained_and_what_holds_is_checked(bob):
    html = box(bob)

    for options in one_issue.OPTIONS.values():
        for each in options:
            assert f"<span>{each.name}</span><small>{escape(each.meaning)}</small>" in html
    assert checked(html) == ["hint", "comment"]
    assert 'name="shows_known"' in html
    assert 'aria-describedby="id_shows_known_helptext">' in html


def test_all_that_can_be_stored_can_be_chosen():
    assert [each.value for each in one_issue.LIKENESS] == Integration.Likeness.values
    assert [each.value for each in one_issue.AGAIN] == Integration.Again.values


def test_the_choices_are_saved_without_github(bob, code_host):
    code_host.archive("acme/docs")
    before = Integration.objects.values().get()

    page = bob.post(SAVE, CHOSEN, follow=True).content.decode()

    assert "Saved. This applies to what is sent from now on." in page
    chosen = {"likeness": "fold", "when_reported_again": "reopen", "shows_known": True}
    assert Integration.objects.values().get() == before | chosen
    assert checked(box(bob)) == ["fold", "reopen"]


def test_a_box_that_is_not_ticked_turns_it_off(bob):
    Integration.objects.update(shows_known=True)

    bob.post(SAVE, {"likeness": "hint", "when_reported_again": "comment"})

    assert not Integration.objects.get().shows_known


@pytest.mark.parametrize("wrong", [{"likeness": "all"}, {"when_reported_again": ""}])
def test_what_is_no_option_saves_nothing(bob, wrong):
    page = bob.post(SAVE, CHOSEN | wrong, follow=True).content.decode()

    assert "Nothing was saved. Choose one of the options." in page
    assert Integration.objects.values_list(*COLUMNS).get() == ("hint", "comment", False)


def test_what_everybody_would_see_is_said_and_of_a_private_repository_that_it_is_nothing(bob):
    assert "Agents can ask before they report." in box(bob)
    Integration.objects.update(repository_private=True)

    html = box(bob)

    assert "acme/docs is private, so nothing is told now, whatever you choose." in html
    assert "Agents can ask" not in html


def test_without_a_repository_there_is_nothing_to_choose(bob):
    Integration.objects.update(repository_id=None, repo_owner="", repo_name="")

    assert "One problem, one issue" not in bob.get(PAGE).content.decode()


def test_who_has_no_installation_is_told_so(client):
    client.force_login(build.member(build.organization("initech"), "charlie"))

    page = client.post(SAVE, CHOSEN, follow=True).content.decode()

    assert "Install the app on your account first." in page


def test_saving_the_template_keeps_the_choices(acme, code_host, client):
    client.force_login(build.member(acme, github_id=code_host.account("alice").id))
    client.post(SAVE, CHOSEN)

    client.post(PAGE, {"repository": "acme/docs", "issue_template": "{summary} {doc_url}"})

    assert Integration.objects.values_list(*COLUMNS).get() == ("fold", "reopen", True)


def received(owner, code: str, *, days: int = 0, **delivery) -> Delivery:
    """A report so many days ago, and its delivery."""
    at = timezone.now() - timedelta(days=days)
    known = {"doc_url": "https://docs.acme.com/", "canonical_url": "https://docs.acme.com/"}
    report = Report(
        organization=owner, received_at=at, last_received_at=at, summary=code, kind="other", **known
    )
    Report.objects.bulk_create([report])  # without the signal that would send it
    mine = Integration.objects.get(organization=owner)
    return Delivery.objects.create(report=report, integration=mine, **delivery)


def joined(lead: Delivery, days: int = 0) -> None:
    folded = {"status": "folded", "lead": lead, "folded_at": timezone.now()}
    received(lead.integration.organization, "The flag is gone", days=days, **folded)


def test_the_overview_counts_what_joined_an_issue_in_thirty_days(bob, acme, monkeypatch):
    lead = received(acme, "The flag is unknown", days=40, status="pending")
    assert "joined an issue" not in bob.get("/settings/").content.decode()

    for days in (0, 1, 29, 31):
        joined(lead, days)
    received(acme, "Another problem", status="pending")

    page = bob.get("/settings/").content.decode()
    assert "Of the reports of the last 30 days, 3 joined an issue that was there." in page
    assert 'href="/settings/reports/?status=folded"' in page

    monkeypatch.setattr(lately, "COUNTED", 3)
    assert "30 days, 2 or more joined" in bob.get("/settings/").content.decode()


def test_what_joined_is_counted_from_an_index(bob, acme):
    lead = received(acme, "The flag is unknown", status="pending")
    joined(lead)

    plans = plans_of(lambda: lately.joined(acme))

    [plan] = [str(each) for each in plans]
    assert "report_received" in plan
    assert not re.search("Sort|TEMP B-TREE|SCAN reports_report|SCAN integrations", plan)


def test_the_export_has_the_choices_and_what_each_report_is_like(bob, acme):
    Integration.objects.update(likeness="fold", shows_known=True)
    lead = received(acme, "The flag is unknown", status="pending")
    joined(lead)
    mine = {"integration": lead.integration, "lead": lead, "occasion": timezone.now()}
    Comment.objects.create(**mine, purpose="also", comment_url="https://github.com/a/b/issues/1#c")
    Answer.objects.create(delivery=lead, text="Use --yes.", made_by="alice")
    other = lead.folded.get().report
    Verdict.objects.create(
        integration=lead.integration, report=other, other=lead.report, is_same=True, made_by="bob"
    )

    answer = bob.get("/settings/account/export.json")
    found = json.loads(b"".join(answer.streaming_content))

    [integration] = found["integrations"]
    assert (integration["likeness"], integration["shows_known"]) == ("fold", True)
    one, two = sorted(found["reports"], key=lambda each: each["delivery"]["status"], reverse=True)
    assert one["delivery"]["answer"]["text"] == "Use --yes."
    assert [each["purpose"] for each in one["delivery"]["comments"]] == ["also"]
    assert one["delivery"]["lead_report_id"] is None
    assert (two["delivery"]["status"], two["delivery"]["answer"]) == ("folded", None)
    assert two["delivery"]["lead_report_id"] == one["id"] == lead.report_id
    assert [each["other_id"] for each in two["verdicts"]] == [one["id"]]
    assert one["verdicts"] == []


def test_the_export_says_nothing_of_a_pair_of_which_one_may_not_be_read(bob, acme):
    lead = received(acme, "The flag is unknown", status="pending")
    other = received(acme, "The flag is gone", status="pending").report
    Verdict.objects.create(
        integration=lead.integration, report=other, other=lead.report, is_same=True, made_by="bob"
    )
    lead.report.withhold(1)

    answer = bob.get("/settings/account/export.json")
    found = json.loads(b"".join(answer.streaming_content))

    assert [each["verdicts"] for each in found["reports"]] == [[]]
    assert found["verdicts"] == []
