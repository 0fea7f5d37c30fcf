"""Labels, assignees and the type of a new issue: what is asked for, and what GitHub makes of it."""

import unicodedata
from typing import Any

import pytest

from core import deadlines
from integrations import github_api
from integrations.github_api import (
    Blocked,
    Forbidden,
    Issue,
    Limited,
    OutcomeUnknown,
    Refused,
    TooQuick,
    Unreachable,
)
from integrations.models import Repository
from integrations.models.dressing import Dressing
from tests.integrations.github_api.conftest import TOKEN, said, settled, soon
from tests.integrations.github_api.faults import LOST, NEVER_CONNECTED

DOCS = Repository(1, 7, "acme/docs")
POST = "POST /repositories/7/issues"
URL = "https://github.com/acme/docs/issues/3"
ALL = Dressing(("docs", "bug"), ("alice", "bob"), "Bug")
TEXT = {"title": "A title", "body": "A body"}


def create(dressing: Dressing = ALL) -> Issue:
    return github_api.create_issue(DOCS, "A title", "A body", deadline=soon(), dressing=dressing)


def made(
    labels: Any = ("docs", "bug"), assignees: Any = ("alice", "bob"), kind: Any = "Bug"
) -> dict[str, Any]:
    return {
        "number": 3,
        "html_url": URL,
        "labels": [{"name": each} for each in labels],
        "assignees": [{"login": each} for each in assignees],
        "type": {"name": kind} if kind else None,
    }


def invalid(resource: str, field: str, value: Any = None) -> dict[str, Any]:
    error = {"resource": resource, "field": field, "code": "invalid"}
    return error if value is None else {"value": value, **error}


def refusal(*errors: Any) -> dict[str, Any]:
    return {"message": "Validation Failed", "errors": list(errors)}


def posted(wire) -> list[dict[str, Any]]:
    return [each.json for each in wire.sent if each.line == POST]


def test_all_is_asked_for_with_the_one_post(wire):
    wire.answer_token()
    wire.answer(POST, 201, made())

    assert create() == Issue(3, URL)
    asked = {"labels": ["docs", "bug"], "assignees": ["alice", "bob"], "type": "Bug"}
    assert posted(wire) == [TEXT | asked]
    assert wire.lines == [TOKEN, POST]


def test_what_was_not_chosen_is_not_sent(wire):
    wire.answer_token()
    wire.answer(POST, 201, made(assignees=(), kind=None))

    create(Dressing(labels=("docs",)))

    assert posted(wire) == [TEXT | {"labels": ["docs"]}]


def test_case_does_not_matter_nor_what_others_put_on_it(wire):
    wire.answer_token()
    labels = ["Bug", "DOCS", "triage", unicodedata.normalize("NFC", "e\u0301")]
    wire.answer(POST, 201, made(labels, ["Bob", "Alice", "charlie"], "BUG"))

    asked = ALL._replace(labels=(*ALL.labels, "e\u0301"))
    assert create(asked).lacks == Dressing()


NOT_TAKEN = [
    (made(["docs"]), Dressing(labels=("bug",))),
    (made(assignees=["bob"]), Dressing(assignees=("alice",))),
    (made(kind=None), Dressing(type="Bug")),
    (made(kind="Task"), Dressing(type="Bug")),
    (made((), (), None), ALL),
    ({"number": 3, "html_url": URL}, ALL),  # as an older GitHub Enterprise Server
    (made() | {"labels": ["docs", "bug"], "type": "Bug"}, Dressing()),
    (made() | {"labels": None}, Dressing(labels=("docs", "bug"))),
    (made() | {"labels": 7, "assignees": {"login": "alice"}, "type": []}, ALL),
    (made() | {"labels": [None, 7, [], {"name": 7}, {"name": "docs"}]}, Dressing(labels=("bug",))),
]


@pytest.mark.parametrize(("answer", "lacks"), NOT_TAKEN)
def test_what_github_did_not_take_is_known_and_the_issue_stays(wire, answer, lacks):
    wire.answer_token()
    wire.answer(POST, 201, answer)

    assert create() == Issue(3, URL, lacks=lacks)


REFUSED = [  # what GitHub says, and what is left out of the second POST
    ([invalid("Issue", "assignees", "alice")], Dressing(assignees=("alice",))),
    ([invalid("Issue", "assignees", "ALICE")], Dressing(assignees=("alice",))),
    ([invalid("Issue", "assignees", ["alice", "bob"])], Dressing(assignees=("alice", "bob"))),
    ([invalid("Issue", "assignees")], Dressing(assignees=("alice", "bob"))),
    ([invalid("Issue", "assignee", "nobody")], Dressing(assignees=("alice", "bob"))),
    ([invalid("Label", "name", "bug")], Dressing(labels=("bug",))),
    ([invalid("Issue", "labels", 7)], Dressing(labels=("docs", "bug"))),
    ([invalid("Issue", "type", "Bug")], Dressing(type="Bug")),
    ([invalid("Issue", "issue_type")], Dressing(type="Bug")),
    (
        [invalid("Label", "name", "bug"), invalid("Issue", "assignees", "bob")],
        Dressing(("bug",), ("bob",)),
    ),
    ([], ALL),
    (["Something is wrong"], ALL),
    ([{}], ALL),
    ([invalid("Issue", "milestone")], ALL),
    ([invalid("Issue", "body"), invalid("Issue", "type")], Dressing(type="Bug")),
]


@pytest.mark.parametrize(("errors", "without"), REFUSED)
def test_what_github_refuses_is_left_out_of_a_second_post(wire, errors, without):
    left = ALL.minus(without)
    wire.answer_token()
    wire.answer(POST, 422, refusal(*errors))
    wire.answer(POST, 201, made(left.labels, left.assignees, left.type))

    assert create() == Issue(3, URL, lacks=without)
    assert wire.lines == [TOKEN, POST, POST]
    second = posted(wire)[1]
    assert tuple(second.get("labels", ())) == left.labels
    assert tuple(second.get("assignees", ())) == left.assignees
    assert second.get("type", "") == left.type
    assert {name: second[name] for name in TEXT} == TEXT


@pytest.mark.parametrize("answer", [{}, {"message": "Invalid request."}, {"errors": "no"}])
def test_a_422_that_does_not_say_why_is_about_all_of_it(wire, answer):
    wire.answer_token()
    wire.answer(POST, 422, answer)
    wire.answer(POST, 201, made((), (), None))

    assert create().lacks == ALL
    assert posted(wire)[1] == TEXT


def test_where_another_one_is_refused_all_such_as_it_are_left_out(wire):
    wire.answer_token()
    wire.answer(POST, 422, refusal(invalid("Issue", "assignees", "alice")))
    wire.answer(POST, 422, refusal(invalid("Issue", "assignees", "bob")))
    wire.answer(POST, 201, made(assignees=()))

    assert create().lacks == Dressing(assignees=("alice", "bob"))
    assert posted(wire)[2] == TEXT | {"labels": ["docs", "bug"], "type": "Bug"}


def test_what_is_refused_three_times_is_posted_without_anything(wire):
    wire.answer_token()
    wire.answer(POST, 422, refusal(invalid("Issue", "assignees", "alice")))
    wire.answer(POST, 422, refusal(invalid("Issue", "assignees", "bob")))
    wire.answer(POST, 422, refusal(invalid("Issue", "type")))
    wire.answer(POST, 201, made((), (), None))

    assert create() == Issue(3, URL, lacks=ALL)
    assert posted(wire)[3] == TEXT
    assert wire.lines == [TOKEN, POST, POST, POST, POST]


def test_where_the_text_is_refused_nothing_else_is_tried(wire):
    wire.answer_token()
    wire.answer(POST, 422, refusal(invalid("Issue", "body") | {"message": "body is too long"}))

    assert said(create) == (Refused, "GitHub refused the issue: body is too long.")
    assert wire.lines == [TOKEN, POST]


def test_where_all_was_left_out_a_422_is_final(wire):
    wire.answer_token()
    wire.answer(POST, 422, {"message": "Spammed"})

    assert said(create) == (Refused, "GitHub refused the issue: Spammed.")
    assert wire.lines == [TOKEN, POST, POST]


def test_labels_that_the_app_may_not_create_are_left_out(wire):
    message = "You do not have permission to create labels on this repository."
    error = {"resource": "Repository", "field": "label", "code": "unauthorized"}
    wire.answer_token()
    wire.answer(POST, 403, {"message": message, "errors": [error]})
    wire.answer(POST, 201, made(()))

    assert create().lacks == Dressing(labels=("docs", "bug"))
    assert "labels" not in posted(wire)[1]


def test_a_403_for_a_permission_is_about_the_app(wire):
    wire.answer_token()
    wire.answer(POST, 403, {"message": "Resource not accessible by integration"})

    assert said(create)[0] is Blocked
    assert wire.lines == [TOKEN, POST]


@pytest.mark.parametrize("answer", [refusal("no"), refusal({})])
def test_any_other_403_is_about_the_repository(wire, answer):
    wire.answer_token()
    wire.answer(POST, 403, answer)
    wire.answer("GET /repositories/7", 403)

    assert said(create)[0] is Forbidden


def test_a_limit_after_a_refusal_is_waited_for(wire):
    wire.answer_token()
    wire.answer(POST, 422, refusal(invalid("Issue", "type")))
    wire.answer(POST, 403, {"message": "Slow down"}, Retry_After="60")

    assert said(create)[0] is Limited
    assert wire.lines == [TOKEN, POST, POST]


def test_a_422_that_is_a_limit_is_about_no_label(wire):
    wire.answer_token()
    wire.answer(POST, 422, refusal({"field": "base", "message": "was submitted too quickly"}))

    assert said(create)[0] is TooQuick
    assert wire.lines == [TOKEN, POST]


@pytest.mark.parametrize("fault", LOST)
def test_a_second_answer_that_is_lost_leaves_open_whether_there_is_an_issue(wire, fault):
    wire.answer_token()
    wire.answer(POST, 422, refusal(invalid("Issue", "type")))
    wire.answer(POST, body=LOST[fault])

    assert said(create)[0] is OutcomeUnknown
    assert wire.lines == [TOKEN, POST, POST]


@pytest.mark.parametrize("fault", NEVER_CONNECTED)
def test_a_second_post_that_never_left_has_made_nothing(wire, fault):
    wire.answer_token()
    wire.answer(POST, 422, refusal(invalid("Issue", "type")))
    wire.answer(POST, body=NEVER_CONNECTED[fault])

    assert said(create)[0] is Unreachable


def test_a_token_that_ends_between_the_two_is_replaced(wire):
    wire.answer_token()
    wire.answer(POST, 422, refusal(invalid("Issue", "type")))
    wire.answer(POST, 401, {"message": "Bad credentials"})
    wire.answer_token(2)
    wire.answer(POST, 201, made(kind=None))

    assert create().lacks == Dressing(type="Bug")
    assert wire.lines == [TOKEN, POST, POST, TOKEN, POST]


def test_a_refusal_that_comes_after_the_deadline_is_not_posted_again(wire, monkeypatch):
    wire.answer_token()
    answer = wire.answer_late(POST, 422, refusal(invalid("Issue", "type")))

    def leave(future, _, wait=deadlines._result):
        assert answer.is_asked_for.wait(60)
        return wait(future, 0)

    monkeypatch.setattr(deadlines, "_result", leave)

    assert said(create)[0] is OutcomeUnknown
    answer.let_go()
    assert settled()
    assert wire.lines == [TOKEN, POST]
