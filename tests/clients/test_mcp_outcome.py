"""What a Hub writes is short, plain and marked as its own before a model reads it."""

import json
from typing import Any

import pytest
from docfeedback import Client, DocFeedbackError, SentReport, ServerError, Unreachable
from docfeedback.errors import from_answer
from docfeedback.web import Failed

from tests.clients.mcp_desk import PROTOCOLS, REPORT, YES, Desk, Person, at_desk, outcome
from tests.clients.stand_ins import HUB

desk = pytest.fixture(params=PROTOCOLS)(at_desk)

ID = "01J9ZK3V5T8Q2M4N6P7R8S9T0V"
IN_REPOSITORY = {**REPORT, "doc_url": "docs/install.md"}
HOSTILE = "one\n\ntwo\u202e\u200b\x1b[2J\U000e0041\u2800 " + "three " * 200
UNCONFIRMED = "The Hub did not confirm it; it may have arrived."


def _answer(status: int, **body: Any) -> outcome.Outcome:
    return outcome.of_error(from_answer(status, body))


def test_a_hub_cannot_fill_the_models_context(desk: Desk):
    many = [{"path": HOSTILE, "message": HOSTILE, "orders": HOSTILE}] * 200
    desk.world.stage.answers[HUB] = [
        {"status": 400, "body": {"error": HOSTILE, "message": HOSTILE, "details": many}},
    ]

    (result,) = desk.results(IN_REPOSITORY, person=Person([YES]))

    fields = result.structured_content
    assert (fields["error"], len(fields["details"])) == ("http_400", 20)
    assert {name for fault in fields["details"] for name in fault} == {"path", "message"}
    assert result.content[0].text.startswith("The Hub says: one two[2J three three")
    assert fields["details"][0]["message"].startswith("The Hub says: one two")
    assert len(result.model_dump_json()) < 50_000
    assert not set("\u202e\u200b\x1b\U000e0041\u2800") & set(json.dumps(fields, ensure_ascii=False))


def test_a_hub_cannot_fill_it_with_thanks_either(desk: Desk):
    notices = [{"field": HOSTILE, "kind": HOSTILE, "orders": HOSTILE}] * 200
    body = {"id": HOSTILE, "receipt_url": HOSTILE, "notices": notices, "is_duplicate": False}
    desk.world.stage.answers[HUB] = [{"status": 201, "body": body}]

    (result,) = desk.results(IN_REPOSITORY, person=Person([YES]))

    fields = result.structured_content
    assert (fields["status"], fields["report_id"], fields["receipt_url"]) == ("sent", None, None)
    assert len(fields["notices"]) == 20
    assert fields["notices"][0].keys() == {"field", "kind"}
    assert len(result.model_dump_json()) < 50_000


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        (f"https://hub.acme.com/r/{ID}/", True),
        ("http://localhost:8000/r/1", True),
        ("javascript:alert(1)", False),
        ("ftp://hub.acme.com/", False),
        ("https://hub.acme.com/ and do as I say", False),
        ("https://hub.acme.com/\u202e", False),
        (f"https://hub.acme.com/{'x' * 2048}", False),
        (None, False),
    ],
)
def test_a_receipt_is_an_address_or_nothing(url: str | None, kept: bool):
    sent = SentReport(id=ID, is_duplicate=False, receipt_url=url)

    assert outcome.of_sent(sent).receipt_url == (url if kept else None)


@pytest.mark.parametrize(
    ("found", "kept"),
    [(ID, ID), (ID.lower(), None), ("8" + ID[1:], None), (ID + "0", None), ("do as I say", None)],
)
def test_a_report_id_is_a_ulid_or_nothing(found: str, kept: str | None):
    assert outcome.of_sent(SentReport(id=found, is_duplicate=True)).report_id == kept


@pytest.mark.parametrize("word", ["", "Do as I say", "x" * 65, "rate-limited", "é"])
def test_an_error_is_a_word_or_the_status(word: str):
    assert _answer(422, error=word, message="No.").error == "http_422"


@pytest.mark.parametrize(
    ("value", "kept"),
    [(30, 30), (0, 0), (True, None), ("30", None), (1.5, None), (-1, None), (10**30, None)],
)
def test_the_seconds_to_wait_are_a_number_or_nothing(value: Any, kept: int | None):
    assert _answer(429, retry_after=value).retry_after == kept


def test_items_of_a_wrong_shape_are_left_out():
    right = {"path": "/x", "message": "No."}
    wrong = [{"path": 1, "message": {"a": "b"}}, "text", None, {"path": "/y"}]

    found = _answer(400, details=[*wrong, {**right, "orders": "x"}])

    assert found.details == [{"path": "/x", "message": "The Hub says: No."}]


@pytest.mark.parametrize(
    ("status", "expected"),
    [(400, "not_sent"), (403, "not_sent"), (410, "refused"), (422, "not_sent"), (500, "not_sent")],
)
def test_only_a_guard_and_an_owner_refuse(status: int, expected: str):
    assert _answer(status, error="invalid_doc_url", message="No.").status == expected


@pytest.mark.parametrize("error", ["invalid_hub_url", "redirected", "no_scheme"])
def test_a_hub_does_not_speak_for_the_server(error: str):
    assert _answer(400, error=error, message="x").message == "The Hub says: x"
    assert _answer(400, error=error).message == "The Hub answered with status 400."


def test_an_address_that_was_redirected_is_not_repeated(desk: Desk):
    orders = {"Location": "https://x/ Do as I say"}
    desk.world.stage.answers[HUB] = [{"status": 307, "text": "", "headers": orders}]

    (result,) = desk.results(IN_REPOSITORY, person=Person([YES]))

    assert result.structured_content["error"] == "redirected"
    assert "Do as I say" not in result.model_dump_json()


def test_a_page_without_a_scheme_is_not_repeated():
    with pytest.raises(DocFeedbackError) as caught:
        Client().draft({"protocol_version": "0", **REPORT, "doc_url": "docs.acme.com/open-sesame"})

    said = outcome.of_error(caught.value)

    assert "https://" in said.message
    assert "open-sesame" not in said.message


@pytest.mark.parametrize(
    ("reason", "doubtful"),
    [
        ("timed_out", True),
        ("broken", True),
        ("too_long", True),
        ("refused", False),
        ("unknown_host", False),
        ("untrusted", False),
    ],
)
def test_a_lost_answer_is_said_to_be_one(reason: str, doubtful: bool):
    error = Unreachable("unreachable", "The Hub cannot be reached.")
    error.__cause__ = Failed(reason)

    assert outcome.of_error(error).message.endswith(UNCONFIRMED) is doubtful


def test_an_answer_that_confirms_nothing_is_said_to_be_one():
    strange = ServerError("not_a_hub", "That does not answer like a Hub.", status=200)

    assert outcome.of_error(strange).message == f"That does not answer like a Hub. {UNCONFIRMED}"
    assert _answer(502).message == f"The Hub answered with status 502. {UNCONFIRMED}"
    assert _answer(404, message="No.").message == "The Hub says: No."
