"""`/v1/orgs/me/reports/<id>`: one report, and what a member does with it."""

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from integrations.models import Attempt, Delivery, Integration
from orgs.people.tokens import SCOPES
from reports.models import Report
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
PATH = "/v1/orgs/me/reports"
ACTS = ["retry", "discard", "restore"]  # what needs a delivery


@pytest.fixture
def acme(code_host):
    return build.acme(code_host)


@pytest.fixture
def alice(acme):
    return build.api(build.token(build.member(acme)))


def waiting(code_host, number: int = 1) -> list[str]:
    """The ids of reports that GitHub did not take in time."""
    ids = []
    for each in range(number):
        code_host.fail("500", path="token")
        body = build.report(report__summary=f"Gone {each}", report__details="Use `npm ci`")
        ids.append(build.send(Client(), body).json()["id"])
    return ids


def undelivered(owner) -> Report:
    """A report that was received before there was a repository."""
    report = Report(organization=owner, received_at=NOON, last_received_at=NOON, kind="other")
    return Report.objects.bulk_create([report])[0]


def test_a_report_is_told_with_its_text_its_attempts_and_its_issue(alice, code_host):
    sent = build.report(
        report__details="Use `npm ci`",
        report__evidence=[{"kind": "quote", "text": "Run npm install"}],
        report__suggested_fix="Say so",
        task_context__task_summary="Install it",
        agent__version="1.2",
    )
    report_id = build.send(Client(), sent).json()["id"]
    Attempt.objects.update(started_at=NOON, ended_at=NOON)
    delivery = Delivery.objects.get()

    answer = alice.get(f"{PATH}/{report_id}").json()

    assert answer.pop("received_at") == answer.pop("last_received_at")
    assert answer == {
        "id": report_id,
        "doc_url": "https://docs.acme.com/install",
        "canonical_url": "https://docs.acme.com/install",
        "kind": "outdated",
        "summary": "The install command is gone",
        "details": "Use `npm ci`",
        "evidence": [{"kind": "quote", "text": "Run npm install"}],
        "suggested_fix": "Say so",
        "task_context": {"task_summary": "Install it"},
        "agent_name": "agent-x",
        "agent_version": "1.2",
        "agent_vendor": "",
        "submitted_at": "",
        "locale": "",
        "notices": [],
        "times_reported": 1,
        "further_accounts": 0,
        "erased_at": None,
        "accounts": [],
        "accounts_not_kept": 0,
        "delivery": {
            "status": "sent",
            "held_for": None,
            "reason": None,
            "waits_for": None,
            "issue_url": delivery.issue_url,
            "attempts": 1,
            "lead": None,
            "maybe_lead": None,
            "folded_by": None,
            "likeness_words": None,
        },
        "attempts": [
            {
                "number": 1,
                "started_at": "2026-01-01T12:00:00Z",
                "ended_at": "2026-01-01T12:00:00Z",
                "outcome": "sent",
                "reason": None,
            }
        ],
        "issue": {
            "repository": "acme/docs",
            "title": delivery.title,
            "body": delivery.body,
            "number": 1,
            "url": delivery.issue_url,
            "state": "open",
            "state_reason": None,
            "closed_at": None,
        },
    }


def test_why_and_when_its_issue_was_closed_is_told(alice, code_host):
    [report_id] = waiting(code_host)
    why = {"issue_state_reason": "not_planned", "issue_closed_at": "2026-03-03T12:00:00Z"}
    columns = {"status": "sent", "repository_id": 7, "issue_number": 1, "issue_state": "closed"}
    Delivery.objects.update(**columns, **why)

    issue = alice.get(f"{PATH}/{report_id}").json()["issue"]

    assert (issue["state"], issue["state_reason"]) == ("closed", "not_planned")
    assert issue["closed_at"] == "2026-03-03T12:00:00Z"


def test_a_report_without_a_delivery_has_no_issue(alice, acme):
    report = undelivered(acme)

    answer = alice.get(f"{PATH}/{report.id}").json()

    assert (answer["delivery"], answer["attempts"], answer["issue"]) == (None, [], None)


@pytest.mark.parametrize("act", ["", "/retry", "/discard", "/restore", "/erase"])
def test_a_strangers_report_is_not_there(alice, code_host, act):
    [report_id] = waiting(code_host)
    charlie = build.caller("charlie")
    call = charlie.post if act else charlie.get

    for unknown in (report_id, "x", "0" * 26, "%00"):
        answer = call(f"{PATH}/{unknown}{act}")
        assert (answer.status_code, answer.json()["error"]) == (404, "not_found")
    assert Delivery.objects.get().status == "pending"


def test_what_is_discarded_and_restored_says_so(alice, code_host):
    [report_id] = waiting(code_host)

    discarded = alice.post(f"{PATH}/{report_id}/discard").json()
    listed = alice.get(PATH, {"status": "discarded"}).json()["reports"]
    held = alice.get(PATH, {"status": "held"}).json()["reports"]
    receipt = Client().get(f"/v1/reports/{report_id}").json()
    restored = alice.post(f"{PATH}/{report_id}/restore").json()

    assert discarded["delivery"]["status"] == "held"
    assert discarded["delivery"]["held_for"] == "discarded"
    assert [each["id"] for each in listed] == [report_id]
    assert held == []
    assert receipt["status"] == "received"
    assert restored["delivery"]["status"] == "pending"
    assert restored["id"] == report_id


def test_a_member_tries_again(acme, code_host):
    [report_id] = waiting(code_host)
    bob = build.api(build.token(build.member(acme, "bob", role="member")))

    answer = bob.post(f"{PATH}/{report_id}/retry").json()

    assert answer["delivery"]["status"] == "sent"
    assert [each["outcome"] for each in answer["attempts"]] == ["later", "sent"]
    assert answer["issue"]["number"] == 1


@pytest.mark.parametrize("act", ["retry", "discard", "restore", "erase"])
def test_a_token_that_may_not_read_acts_and_is_told_no_text(acme, code_host, act):
    [report_id] = waiting(code_host)
    alice = build.member(acme)
    blind, seeing = (build.api(build.token(alice, some)) for some in (["orgs:write"], SCOPES))
    if act == "restore":
        blind.post(f"{PATH}/{report_id}/discard")

    answer = blind.post(f"{PATH}/{report_id}/{act}")
    told = seeing.get(f"{PATH}/{report_id}").json()

    assert blind.get(f"{PATH}/{report_id}").status_code == 403
    assert answer.status_code == 200
    assert answer.json() == {"id": report_id, "delivery": told["delivery"]}
    assert told["delivery"]["status"] != "pending" or act == "restore"


@pytest.mark.parametrize("act", ["retry", "discard", "restore"])
def test_a_token_that_may_not_read_is_told_no_text_of_many(acme, code_host, act):
    ids = waiting(code_host, 2)
    alice = build.api(build.token(build.member(acme), ["orgs:write"]))
    alice.post(f"{PATH}/{ids[0]}/discard")

    answer = alice.post(f"{PATH}/{act}", {"ids": ids}, "application/json")

    assert answer.status_code == 200
    assert "Gone" not in answer.text
    assert "npm" not in answer.text


def test_the_words_of_repeats_are_told_apart(alice, code_host):
    [report_id] = waiting(code_host)
    repeat = build.report(report__summary="Gone 0", report__details="Use `pnpm i`")
    build.send(Client(), repeat)

    answer = alice.get(f"{PATH}/{report_id}").json()

    assert (answer["times_reported"], answer["further_accounts"]) == (2, 1)
    assert [each["details"] for each in answer["accounts"]] == ["Use `pnpm i`"]


def test_an_owner_has_the_text_of_a_report_erased(alice, acme, code_host):
    [report_id] = waiting(code_host)
    bob = build.api(build.token(build.member(acme, "bob", role="member")))

    refused = bob.post(f"{PATH}/{report_id}/erase")
    answer = alice.post(f"{PATH}/{report_id}/erase").json()

    assert (refused.status_code, refused.json()["error"]) == (403, "not_an_owner")
    assert answer["erased_at"]
    assert (answer["summary"], answer["details"], answer["issue"]) == ("", "", None)
    assert answer["delivery"]["reason"] == "Its text was erased."
    for act in ACTS:
        assert alice.post(f"{PATH}/{report_id}/{act}").status_code == 409


def test_what_was_discarded_and_then_erased_is_never_sent(alice, code_host):
    [report_id] = waiting(code_host)
    for act in ("discard", "erase", "restore"):
        alice.post(f"{PATH}/{report_id}/{act}")

    assert Delivery.objects.get().state == "failed"


@pytest.mark.parametrize(
    ("act", "columns", "code"),
    [
        ("retry", {"status": "sent", "issue_number": 1, "repository_id": 1}, "cannot_try_again"),
        ("retry", {"status": "held", "held_for": "discarded"}, "cannot_try_again"),
        ("discard", {"status": "sent", "issue_number": 1, "repository_id": 1}, "cannot_discard"),
        ("restore", {}, "cannot_restore"),
    ],
)
def test_what_cannot_be_is_a_conflict_in_words(alice, code_host, act, columns, code):
    [report_id] = waiting(code_host)
    Delivery.objects.update(**columns)

    answer = alice.post(f"{PATH}/{report_id}/{act}")

    assert (answer.status_code, answer.json()["error"]) == (409, code)
    assert answer.json()["message"].endswith(".")


@pytest.mark.parametrize("act", ACTS)
def test_nothing_is_done_with_a_report_that_has_no_delivery(alice, acme, act):
    report = undelivered(acme)

    assert alice.post(f"{PATH}/{report.id}/{act}").status_code == 409


def test_many_are_discarded_at_once_and_each_that_is_not_says_why(alice, code_host):
    ids = waiting(code_host, 3)
    foreign = Report.objects.create(received_at=NOON, last_received_at=NOON, kind="other").id
    alice.post(f"{PATH}/{ids[2]}/discard")

    body = {"ids": [*ids, ids[0], foreign, "x"]}
    answer = alice.post(f"{PATH}/discard", body, content_type="application/json").json()

    assert answer["done"] == ids[:2]
    assert [(each["id"], each["error"]) for each in answer["refused"]] == [
        (ids[2], "cannot_discard"),
        (foreign, "not_found"),
        ("x", "not_found"),
    ]


def test_many_are_restored_at_once(alice, code_host):
    ids = waiting(code_host, 2)
    for act in ("discard", "restore"):
        body = {"ids": ids}
        answer = alice.post(f"{PATH}/{act}", body, content_type="application/json").json()
        assert answer == {"done": ids, "refused": []}

    assert Delivery.objects.filter(status="pending").count() == 2


def test_many_are_tried_again_in_their_turn_and_each_that_is_not_says_why(alice, code_host):
    """Without a call to GitHub, of which a hundred would take minutes."""
    ids = waiting(code_host, 4)
    failed = Delivery.objects.filter(report__in=ids[:2])
    failed.update(status="failed", reason="Refused", last_tried_at=timezone.now())
    Delivery.objects.filter(report=ids[2]).update(status="held", held_for="operator")
    Delivery.objects.filter(report=ids[3]).update(status="held", held_for="discarded")
    asked = len(code_host.requests)

    answer = alice.post(f"{PATH}/retry", {"ids": ids}, content_type="application/json").json()

    assert answer["done"] == ids[:2]
    assert [each["error"] for each in answer["refused"]] == ["cannot_try_again"] * 2
    assert len(code_host.requests) == asked
    again = Delivery.objects.filter(status="pending", reason="")
    assert again.count() == 2
    assert all(each.due_at > timezone.now() + timedelta(seconds=30) for each in again)


def test_one_press_for_many_counts_once(alice, code_host, settings):
    settings.HUB_ASKING_RATE = "2/minute"
    ids = waiting(code_host, 3)
    press = {"path": f"{PATH}/retry", "data": {"ids": ids}, "content_type": "application/json"}

    answers = [alice.post(**press).status_code for _ in range(3)]

    assert answers == [200, 200, 429]


@pytest.mark.parametrize("ids", [[], ["x"] * 101, "x", None, [1], ["\ud800"]])
def test_a_list_of_another_shape_is_refused(alice, ids):
    answer = alice.post(f"{PATH}/discard", {"ids": ids}, content_type="application/json")

    assert (answer.status_code, answer.json()["error"]) == (400, "validation_error")


def test_an_address_of_an_act_is_no_report(alice):
    assert alice.get(f"{PATH}/discard").status_code == 405
    assert alice.post(f"{PATH}/{'0' * 26}/unknown").status_code == 404


def test_reading_costs_the_same_however_many_attempts(
    alice, code_host, django_assert_max_num_queries
):
    [report_id] = waiting(code_host)
    build.attempts(Delivery.objects.get(), 300)
    assert Integration.objects.count() == 1

    with django_assert_max_num_queries(7 + 3):  # for why it waits
        answer = alice.get(f"{PATH}/{report_id}").json()

    assert [each["number"] for each in answer["attempts"]] == [1, *range(202, 301)]
    assert answer["delivery"]["attempts"] == 300
