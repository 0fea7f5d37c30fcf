"""Labels, assignees and types of issues: created, taken, dropped and refused as GitHub does it."""

import pytest
import requests

ISSUES = "/repos/acme/docs/issues"


def names(answer) -> tuple[list[str], list[str], str | None]:
    body = answer.json()
    kind = body["type"]["name"] if body["type"] else None
    return (
        [each["name"] for each in body["labels"]],
        [each["login"] for each in body["assignees"]],
        kind,
    )


def test_an_issue_gets_labels_assignees_and_a_type(call, token):
    sent = {"title": "T", "labels": ["BUG", "bug"], "assignees": ["Alice", "bob"], "type": "task"}

    answer = call("POST", ISSUES, token, json=sent)

    assert names(answer) == (["bug"], ["alice", "bob"], "Task")
    assert answer.json()["assignee"]["login"] == "alice"
    assert call("GET", f"{ISSUES}/1", token).json()["labels"] == answer.json()["labels"]


def test_labels_that_do_not_exist_are_created(call, token, host):
    answer = call(
        "POST", ISSUES, token, json={"title": "T", "labels": ["docs: new", {"name": "é"}]}
    )

    assert names(answer)[0] == ["docs: new", "é"]
    assert answer.json()["labels"][0]["url"].endswith("/labels/docs%3A%20new")
    assert host.repository("acme/docs").labels[-2:] == ["docs: new", "é"]


@pytest.mark.parametrize(
    ("sent", "errors"),
    [
        ({"labels": ["a" * 51]}, [("Label", "name", "a" * 51)]),
        ({"labels": [" ", "ok"]}, [("Label", "name", " ")]),
        ({"labels": [7]}, [("Label", "name", 7)]),
        ({"assignees": ["charlie"]}, [("Issue", "assignees", "charlie")]),
        ({"assignees": ["nobody"]}, [("Issue", "assignees", "nobody")]),
        ({"assignees": ["acme"]}, [("Issue", "assignees", "acme")]),
        ({"type": "Defect"}, [("Issue", "type", "Defect")]),
        (
            {"labels": [""], "assignees": ["charlie"], "type": ""},
            [("Label", "name", ""), ("Issue", "assignees", "charlie"), ("Issue", "type", "")],
        ),
    ],
)
def test_what_github_refuses_makes_no_issue_and_no_label(call, token, host, sent, errors):
    answer = call("POST", ISSUES, token, json={"title": "T", "labels": ["new"]} | sent)

    assert answer.status_code == 422
    told = [(each["resource"], each["field"], each["value"]) for each in answer.json()["errors"]]
    assert told == errors
    assert host.issues("acme/docs") == []
    assert "new" not in host.repository("acme/docs").labels


def test_an_issue_has_at_most_a_hundred_labels(call, token):
    labels = [f"label {number}" for number in range(101)]

    assert call("POST", ISSUES, token, json={"title": "T", "labels": labels}).status_code == 422
    assert call("POST", ISSUES, token, json={"title": "T", "labels": labels[1:]}).status_code == 201


def test_what_is_dropped_is_dropped_without_a_word(call, token, host):
    host.drops = {"labels", "assignees", "type"}
    sent = {"title": "T", "labels": ["new"], "assignees": ["nobody"], "type": "Defect"}

    answer = call("POST", ISSUES, token, json=sent)

    assert (answer.status_code, names(answer)) == (201, ([], [], None))
    assert "new" not in host.repository("acme/docs").labels


def test_a_person_has_no_issue_types(host):
    assert host.account("alice").issue_types == []
    assert host.account("acme").issue_types


def test_the_page_of_an_issue_shows_them(call, token, host):
    sent = {"title": "T", "labels": ["<b>"], "assignees": ["alice"], "type": "Bug"}
    call("POST", ISSUES, token, json=sent)

    page = requests.get(f"{host.url}/acme/docs/issues/1", timeout=5).text

    assert "Labels: &lt;b&gt; · Assignees: alice · Type: Bug" in page


def test_an_assignee_whose_login_has_changed_is_no_longer_shown(call, token, host):
    call("POST", ISSUES, token, json={"title": "T", "assignees": ["bob"]})
    host.rename_account("bob", "robert")

    assert call("GET", f"{ISSUES}/1", token).json()["assignees"] == []
