"""`/v1/orgs/me/reports/<id>/not-the-same` and `/same-as`: members say what is one problem and what is not."""

import pytest
from django.test import Client

from core import batches
from integrations.delivery import holds, telling_apart
from integrations.models import Delivery, Integration, Verdict
from integrations.setup import configuration
from orgs.models import Domain
from reports.erasing import erase
from reports.models import Report
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)

PATH = "/v1/orgs/me/reports"
FLAG = "`shipyard push --force` fails in step 3: `unknown flag: --force`, since 4.0 it is `--overwrite`"
FORCE = [  # one problem in the words of several agents
    ("claude-code", FLAG, "The changelog of the release mentions it."),
    ("cursor", FLAG, "A wizard for the migration tells it."),
    ("aider", FLAG, ""),
    ("windsurf", f"In a container: {FLAG}", ""),
]
REGISTRY = ("goose", "The page does not say which `DEFAULT_REGISTRY` the `image` goes to")


@pytest.fixture
def acme(code_host):
    owner = build.acme(code_host)
    Integration.objects.update(likeness="fold")
    return owner


@pytest.fixture
def alice(acme):
    return build.api(build.token(build.member(acme)))


def send(agent: str, summary: str, details: str = "", **changes) -> Delivery:
    changes |= {"report__summary": summary, "report__details": details}
    body = build.report(agent__name=agent, **changes)
    return Delivery.objects.get(report=build.send(Client(), body).json()["id"])


def post(client, delivery: Delivery, act: str, body=None):
    return client.post(f"{PATH}/{delivery.report_id}/{act}", body, content_type="application/json")


def split(client, delivery: Delivery, **body):
    return post(client, delivery, "not-the-same", body)


def name(client, delivery: Delivery, issue) -> object:
    url = issue if isinstance(issue, str) else issue.issue_url
    return post(client, delivery, "same-as", {"issue_url": url})


def refused(code_host, agent: str, summary: str, **changes) -> Delivery:
    """One that GitHub does not take, so that it has no issue."""
    code_host.fail("422")
    delivery = send(agent, summary, **changes)
    assert delivery.status == "failed"
    return delivery


def now(delivery: Delivery) -> Delivery:
    return Delivery.objects.get(pk=delivery.pk)


def told(answer) -> tuple[int, str]:
    return answer.status_code, answer.json()["message"]


def test_what_is_not_the_same_has_an_issue_of_its_own_at_once(alice, code_host):
    lead, joined = send(*FORCE[0]), send(*FORCE[1])
    assert (joined.status, joined.lead) == ("folded", lead)
    words = joined.likeness_words

    answer = split(alice, joined)

    assert answer.status_code == 200
    assert answer.json()["delivery"]["status"] == "sent"
    assert (now(joined).lead, now(joined).folded_at, now(joined).likeness_words) == (None, None, "")
    assert len(code_host.issues("acme/docs")) == 2
    said = Verdict.objects.get()
    assert (said.report_id, said.other_id, said.is_same) == (
        joined.report_id,
        lead.report_id,
        False,
    )
    assert (said.made_by, said.rule, said.words, said.with_all) == ("alice", 1, words, False)


def test_a_split_pair_never_joins_again_nor_what_is_nearer_to_the_split_one(alice, code_host):
    lead, joined = send(*FORCE[0]), send(*FORCE[1])
    split(alice, joined)

    nearer = send("agent-y", *FORCE[1][1:])
    nearest_to_lead = send("agent-z", *FORCE[0][1:])

    assert nearer.lead == joined
    assert nearest_to_lead.lead == lead


@pytest.mark.parametrize("asked", ["the one that was split off", "its lead"])
def test_a_split_pair_stays_apart_whichever_is_asked(alice, code_host, asked):
    lead, joined = send(*FORCE[0]), send(*FORCE[1])
    code_host.set_issues("acme/docs", False)
    split(alice, joined)
    assert now(joined).status == "held"
    code_host.set_issues("acme/docs", True)
    if asked == "its lead":  # as if the lead had never been sent, and the other one had an issue
        blank = {"status": "failed", "repository_id": None, "issue_number": None, "issue_url": ""}
        issue = {"repository_id": lead.repository_id, "issue_number": lead.issue_number}
        Delivery.objects.filter(pk=lead.pk).update(posted_at=None, **blank)
        Delivery.objects.filter(pk=joined.pk).update(status="sent", held_for="", **issue)
    retried = lead if asked == "its lead" else joined
    Verdict.objects.update(with_all=True)  # so that it may join others

    answer = alice.post(f"{PATH}/{retried.report_id}/retry")

    assert answer.json()["delivery"]["status"] == "sent"
    assert now(retried).lead is None


def test_what_was_split_off_alone_joins_no_other_one_by_the_rule(alice, code_host):
    lead, joined, other = (send(*each) for each in FORCE[:3])
    assert other.lead == lead
    split(alice, other)

    split(alice, joined)

    assert now(joined).status == now(other).status == "sent"
    assert len(code_host.issues("acme/docs")) == 3


def test_all_that_joined_a_wrong_lead_is_split_off_and_finds_together_again(alice, code_host):
    lead, *joined = (send(*each) for each in FORCE)
    assert {each.lead for each in joined} == {lead}

    answer = split(alice, lead, all=True)
    waiting = [now(each) for each in joined[1:]]
    Delivery.objects.update(due_at="2026-01-01T00:00Z")
    for each in waiting:
        alice.post(f"{PATH}/{each.report_id}/retry")

    assert answer.status_code == 200
    assert answer.json()["joined"] == 0
    assert now(joined[0]).status == "sent"
    assert [each.status for each in waiting] == ["pending", "pending"]
    assert {now(each).lead for each in joined[1:]} == {joined[0]}
    assert len(code_host.issues("acme/docs")) == 2
    said = Verdict.objects.values_list("other", "is_same", "with_all").distinct()
    assert list(said) == [(lead.report_id, False, True)]
    assert Verdict.objects.count() == 3


def test_splitting_off_is_bounded_and_can_be_done_again(alice, code_host, monkeypatch):
    monkeypatch.setattr(telling_apart, "AT_ONCE", 2)
    monkeypatch.setattr(batches, "BATCH", 1)
    lead, *_ = (send(*each) for each in FORCE)

    answers = [split(alice, lead, all=True).json()["joined"] for _ in range(2)]

    assert answers == [1, 0]
    assert told(split(alice, lead, all=True)) == (409, "No other report has joined its issue.")


def test_two_members_split_the_same_one_at_the_same_moment(alice, acme, code_host):
    joined = [send(*each) for each in FORCE[:2]][1]
    bob = build.api(build.token(build.member(acme, "bob", role="member")))

    answers = [split(each, joined) for each in (alice, bob)]

    assert [each.status_code for each in answers] == [200, 409]
    assert answers[1].json()["error"] == "cannot_split"
    assert "said before" in answers[1].json()["message"]
    assert len(code_host.issues("acme/docs")) == 2


def test_a_hint_that_is_wrong_is_noted_and_nothing_is_sent(alice, code_host):
    Integration.objects.update(likeness="hint")
    lead, hinted = send(*FORCE[0]), send(*FORCE[1])
    assert hinted.maybe_lead == lead
    asked = len(code_host.requests)

    answers = [split(alice, hinted).status_code for _ in range(2)]

    assert answers == [200, 409]
    assert len(code_host.requests) == asked
    assert Verdict.objects.values_list("is_same", "words").get() == (False, hinted.likeness_words)


def test_what_waits_joins_the_issue_that_a_member_names(alice, code_host):
    lead = send(*FORCE[0])
    other = refused(code_host, *REGISTRY)
    asked = len(code_host.requests)

    answer = name(alice, other, f" {lead.issue_url}?x=1#issuecomment-2 ")

    assert answer.status_code == 200
    assert (now(other).status, now(other).lead) == ("folded", lead)
    assert (now(other).folded_by, now(other).likeness_words) == ("alice", "")
    assert len(code_host.requests) == asked
    assert Client().get(f"/v1/reports/{other.report_id}").json()["status"] == "forwarded"


@pytest.mark.parametrize(
    "columns",
    [
        {"status": "failed", "reason": "Refused."},
        {"status": "held", "held_for": "discarded"},
        {"status": "held", "held_for": "pause"},
        {"status": "pending"},
    ],
)
def test_whatever_is_not_sent_can_join(alice, code_host, columns):
    lead = send(*FORCE[0])
    other = refused(code_host, *REGISTRY)
    Delivery.objects.filter(pk=other.pk).update(**columns)

    assert name(alice, other, lead).status_code == 200

    assert (now(other).status, now(other).held_for, now(other).reason) == ("folded", "", "")


def test_it_may_be_about_another_page_since_a_person_says_so(alice, code_host):
    lead = send(*FORCE[0])
    elsewhere = refused(code_host, *REGISTRY, doc_url="https://docs.acme.com/v1/install")

    assert name(alice, elsewhere, lead).json()["delivery"]["status"] == "folded"


def test_what_has_an_issue_keeps_it_and_later_ones_join_the_named_one(alice, code_host):
    lead, other = send(*FORCE[0]), send(*REGISTRY)

    answer = name(alice, other, lead).json()
    later = send("agent-y", REGISTRY[1])

    assert (answer["delivery"]["status"], answer["same_as"]) == ("sent", lead.report_id)
    assert now(other).issue_url == other.issue_url
    assert later.lead == lead
    assert Verdict.objects.get().is_same


@pytest.mark.parametrize("reason", ["not_planned", "duplicate"])
def test_what_was_named_and_then_dismissed_is_passed_over(alice, code_host, reason):
    """What joins that is only counted, though there is an open issue."""
    junk, true = send(*FORCE[0]), send(*REGISTRY)
    name(alice, true, junk)
    Delivery.objects.filter(pk=junk.pk).update(issue_state="closed", issue_state_reason=reason)

    later = send("agent-y", REGISTRY[1])

    assert later.lead == true


def test_a_dismissed_one_leads_on_to_what_it_was_named_the_same_as(alice, code_host):
    lead, between = send(*FORCE[0]), send(*REGISTRY)
    third = send("agent-y", "The console shows `E_QUOTA` where the page promises `E_LIMIT`")
    name(alice, third, between)
    name(alice, between, lead)
    Delivery.objects.filter(pk=between.pk).update(
        issue_state="closed", issue_state_reason="duplicate"
    )

    later = send("agent-z", third.report.summary)

    assert later.lead == lead


def test_a_named_one_leads_on_to_where_that_one_was_named(alice, code_host):
    """Without a chain: what is folded has a lead with an issue."""
    lead, other = send(*FORCE[0]), send(*REGISTRY)
    third = send("agent-y", "The console shows `E_QUOTA` where the page promises `E_LIMIT`")
    name(alice, other, lead)

    answer = name(alice, third, other)

    assert answer.json()["same_as"] == lead.report_id
    status, words = told(name(alice, lead, third))
    assert status == 409
    assert words.endswith(f"so reports like it join #{lead.issue_number} already.")


def test_saying_the_opposite_counts_from_then_on(alice, code_host):
    lead, joined = send(*FORCE[0]), send(*FORCE[1])
    split(alice, joined)

    back = name(alice, joined, lead).json()
    near = send("agent-y", *FORCE[1][1:])
    again = split(alice, joined).json()

    assert (back["same_as"], again["same_as"]) == (lead.report_id, None)
    assert near.lead == lead
    assert Verdict.objects.filter(report=joined.report_id).get().is_same is False


def test_a_joined_one_moves_to_the_issue_that_is_named(alice, code_host):
    _, joined, other = send(*FORCE[0]), send(*FORCE[1]), send(*REGISTRY)

    answer = name(alice, joined, other)

    assert answer.json()["delivery"]["status"] == "folded"
    assert (now(joined).lead, now(joined).folded_by) == (other, "alice")
    assert len(code_host.issues("acme/docs")) == 2


def test_what_the_rule_has_joined_can_be_confirmed(alice, code_host):
    lead, joined = send(*FORCE[0]), send(*FORCE[1])

    assert name(alice, joined, lead).status_code == 200

    assert Verdict.objects.values_list("is_same", "rule").get() == (True, 1)
    assert now(joined).likeness_words == joined.likeness_words


def obstacles() -> dict[str, dict]:
    unknown = {"outcome_unknown_since": "2026-01-01T00:00Z", "repository_id": 7}
    return {
        "It is being sent right now.": {"status": "sending", "lease_until": "2036-01-01T00:00Z"},
        "It is not known yet whether": unknown,
        "The operator": {"status": "held", "held_for": "operator", "reason": "The operator."},
    }


@pytest.mark.parametrize("words", obstacles())
def test_what_cannot_join_says_why(alice, code_host, words):
    lead = send(*FORCE[0])
    other = refused(code_host, *REGISTRY)
    Delivery.objects.filter(pk=other.pk).update(**obstacles()[words])

    answer = name(alice, other, lead)

    assert (answer.status_code, answer.json()["error"]) == (409, "cannot_join")
    assert answer.json()["message"].startswith(words)
    assert not Verdict.objects.exists()


def test_what_was_erased_or_lost_joins_nothing(alice, acme, code_host):
    lead = send(*FORCE[0])
    erased = refused(code_host, *REGISTRY)
    erase(Report.objects.get(pk=erased.report_id))
    lost = refused(code_host, "agent-y", "The page is empty")
    Domain.objects.all().delete()

    assert told(name(alice, erased, lead)) == (409, "Its text was erased.")
    assert told(name(alice, lost, lead)) == (
        409,
        "This page no longer belongs to your organization.",
    )


def test_an_issue_that_cannot_be_named_says_what_can(alice, code_host, acme):
    lead, other = send(*FORCE[0]), send(*REGISTRY)
    base = lead.issue_url.rpartition("/acme/")[0]
    Delivery.objects.filter(pk=lead.pk).update(issue_state="deleted")

    said = {
        issue: told(name(alice, other, issue))
        for issue in (
            lead.issue_url,
            other.issue_url,
            f"{base}/acme/docs/issues/999",
            f"{base}/acme/other/issues/1",
            f"{base}/acme/docs/pull/1",
            "https://elsewhere.example/acme/docs/issues/1",
            "#1",
            f"{base}/acme/docs/issues/٣",
            "x" * 500,
        )
    }

    assert {status for status, _ in said.values()} == {409}
    words = [message for _, message in said.values()]
    assert words[0] == "The issue #1 was deleted or transferred on GitHub. Name another one."
    assert words[1].startswith("That is the issue of this report itself.")
    assert words[2].startswith("The Hub has opened no issue #999 in acme/docs for a report.")
    assert words[3] == "Name an issue in acme/docs, where your issues go now."
    assert {each.partition(",")[0] for each in words[4:]} == {"Name the issue by its address"}
    assert not Verdict.objects.exists()


def test_an_issue_in_an_earlier_repository_cannot_be_named(alice, code_host):
    lead, other = send(*FORCE[0]), send(*REGISTRY)
    Integration.objects.update(repository_id=77, repo_name="handbook")

    status, words = told(name(alice, other, lead))

    assert (status, words) == (409, "Name an issue in acme/handbook, where your issues go now.")


def test_the_issue_of_another_organization_cannot_be_named(alice, code_host):
    lead = send(*FORCE[0])
    other = send(*REGISTRY)
    strangers = build.organization("initech")
    theirs = Integration.objects.get()
    theirs.pk, theirs.organization = None, strangers
    theirs.save(force_insert=True)
    Delivery.objects.filter(pk=lead.pk).update(integration=theirs)

    assert told(name(alice, other, lead))[1].startswith("The Hub has opened no issue #1")


@pytest.mark.parametrize("body", [{}, {"issue_url": ""}, {"issue_url": 1}, {"url": "x"}, []])
def test_a_body_of_another_shape_is_refused(alice, code_host, body):
    other = send(*REGISTRY)

    answers = [post(alice, other, "same-as", body), post(alice, other, "not-the-same", {"x": 1})]

    assert [each.status_code for each in answers] == [400, 400]


def test_nothing_to_split_from_says_so(alice, code_host):
    lead, other = send(*FORCE[0]), send(*REGISTRY)
    send(*FORCE[1])

    assert told(split(alice, other))[1].startswith("It has not joined the issue of another report")
    assert told(split(alice, lead))[1].startswith("Other reports have joined its issue.")
    assert told(split(alice, other, all=True)) == (409, "No other report has joined its issue.")


@pytest.mark.parametrize("act", ["not-the-same", "same-as"])
def test_a_report_without_a_delivery_and_a_strangers_are_refused(alice, acme, code_host, act):
    mine = send(*REGISTRY)
    Delivery.objects.all().delete()
    charlie = build.caller("charlie")
    body = {"issue_url": "x"} if act == "same-as" else {}

    assert post(alice, mine, act, body).status_code == 409
    assert post(charlie, mine, act, body).status_code == 404


def test_a_member_who_splits_without_end_is_stopped(alice, code_host, settings):
    settings.HUB_ASKING_RATE = "1/minute"
    _, *joined = (send(*each) for each in FORCE[:3])

    answers = [split(alice, each).status_code for each in joined]

    assert answers == [200, 429]
    assert now(joined[1]).status == "folded"
    assert Verdict.objects.count() == 1


def test_what_was_refused_before_it_joined_is_split_off_as_if_it_was_new(alice, acme, code_host):
    lead, joined = send(*FORCE[0]), refused(code_host, *REGISTRY)
    name(alice, joined, lead)
    configuration.forget(acme)
    asked = len(code_host.requests)

    split(alice, joined)

    assert (now(joined).status, now(joined).reason) == ("held", holds.NO_REPOSITORY)
    assert len(code_host.requests) == asked


def test_a_token_that_may_not_read_is_told_no_text(acme, code_host):
    blind = build.api(build.token(build.member(acme), ["orgs:write"]))
    joined = [send(*each) for each in FORCE[:2]][1]

    told = name(blind, joined, joined.lead).json()

    assert set(told) == {"id", "delivery"}
    assert (told["delivery"]["status"], told["delivery"]["likeness_words"]) == ("folded", None)
    assert now(joined).likeness_words


def test_what_a_report_had_in_common_is_erased_with_it(alice, code_host):
    joined = [send(*each) for each in FORCE[:2]][1]
    split(alice, joined)

    erase(Report.objects.get(pk=joined.report_id))

    assert Verdict.objects.get().words == ""
