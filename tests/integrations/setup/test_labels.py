"""Choosing labels, assignees and a type: by the API, checked before anything is asked or saved."""

import json
import unicodedata
from types import SimpleNamespace

import pytest

from integrations.github_sync import applying
from integrations.models import Integration, dressing
from integrations.setup import configuration, labels
from orgs.models import Membership
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)

URL = "/v1/orgs/me/integrations/github"
DOCS = {"repo_owner": "acme", "repo_name": "docs"}
CHOICE = {
    "labels": {"*": ["docs feedback"], "broken": ["bug", "🐞 é"]},
    "assignees": ["alice", "bob"],
    "issue_type": "Bug",
}
NOTHING = {"labels": {}, "assignees": [], "issue_type": None}


@pytest.fixture
def acme(code_host):
    return build.acme(code_host)


@pytest.fixture
def alice(acme, code_host):
    return build.api(build.token(build.member(acme, github_id=code_host.account("alice").id)))


def save(client, **changes):
    return client.post(URL, DOCS | changes, content_type="application/json")


def chosen(client) -> dict:
    mine = client.get("/v1/orgs/me").json()["integration"]
    return {name: mine[name] for name in NOTHING}


def test_a_choice_is_saved_and_shown(alice):
    before = chosen(alice)

    answer = save(alice, **CHOICE)

    assert before == NOTHING
    assert answer.status_code == 200
    assert chosen(alice) == CHOICE
    assert answer.json()["not_applied"] is None
    assert answer.json() == alice.get("/v1/orgs/me").json()["integration"]


@pytest.mark.parametrize("absent", [{}, {"labels": None, "assignees": None, "issue_type": None}])
def test_what_is_absent_stays_as_it_is(alice, absent):
    save(alice, **CHOICE)

    save(alice, **absent)
    save(alice, assignees=["bob"])

    assert chosen(alice) == CHOICE | {"assignees": ["bob"]}


@pytest.mark.parametrize(
    "empty",
    [
        {"labels": {}, "assignees": [], "issue_type": ""},
        {"labels": {"broken": []}, "assignees": [], "issue_type": " "},
    ],
)
def test_what_is_empty_is_none(alice, empty):
    save(alice, **CHOICE)

    save(alice, **empty)

    assert chosen(alice) == NOTHING
    mine = Integration.objects.get()
    assert (mine.labels, mine.assignees, mine.issue_type) == (None, None, "")


def test_spaces_around_names_and_the_sign_of_a_mention_are_left_out(alice):
    save(alice, labels={"*": [" bug "]}, assignees=[" @alice"], issue_type=" Bug ")

    assert chosen(alice) == {"labels": {"*": ["bug"]}, "assignees": ["alice"], "issue_type": "Bug"}


A_KIND = "Must be one of broken, incorrect, outdated, missing, unclear, other, or * for all."
NOBODY = "{!r} is not the login of a person on GitHub."
UNSEEN = "Must not contain control characters or other invisible ones."
REFUSED = [
    ({"labels": {"Broken": ["bug"]}}, "/labels/Broken", A_KIND),
    ({"labels": {"a/~b": []}}, "/labels/a~1~0b", A_KIND),
    ({"labels": {"*": ["a" * 51]}}, "/labels/*/0", f"The label {'a' * 40}… has 51 characters. Shorten it to 50."),
    ({"labels": {"*": ["ok", " "]}}, "/labels/*/1", "Must not be empty."),
    ({"labels": {"*": ["a,b"]}}, "/labels/*/0", "The label a,b has a comma, which separates labels."),
    ({"labels": {"*": ["a\nb"]}}, "/labels/*/0", UNSEEN),
    ({"labels": {"*": ["a\u202eb"]}}, "/labels/*/0", UNSEEN),
    ({"labels": {"*": ["Bug", "docs", "bug"]}}, "/labels/*/2", "Bug and bug are the same label on GitHub. Keep one."),
    ({"labels": {"*": [str(n) for n in range(21)]}}, "/labels/*", "Must have at most 20 items."),
    ({"labels": {"*": ["a\0b"]}}, "/labels/*/0", "Must not contain the character NUL (U+0000)."),
    ({"labels": {"*": "bug"}}, "/labels/*", "Must be an array."),
    ({"labels": {"*": [7]}}, "/labels/*/0", "Must be a string."),
    ({"labels": ["bug"]}, "/labels", "Must be an object."),
    ({"assignees": ["alice", "ALICE"]}, "/assignees/1", "alice and ALICE are the same login on GitHub. Keep one."),
    ({"assignees": [f"a{n}" for n in range(11)]}, "/assignees", "Must have at most 10 items."),
    ({"assignees": [""]}, "/assignees/0", NOBODY.format("")),
    ({"assignees": ["al ice"]}, "/assignees/0", NOBODY.format("al ice")),
    ({"assignees": ["an-agent[bot]"]}, "/assignees/0", NOBODY.format("an-agent[bot]")),
    ({"assignees": ["a" * 101]}, "/assignees/0", NOBODY.format("a" * 40 + "…")),
    ({"assignees": ["ålice"]}, "/assignees/0", NOBODY.format("ålice")),
    ({"issue_type": "a" * 101}, "/issue_type", f"The issue type {'a' * 40}… has 101 characters. Shorten it to 100."),
    ({"issue_type": "a\tb"}, "/issue_type", UNSEEN),
    ({"issue_type": 7}, "/issue_type", "Must be a string."),
]  # fmt: skip


@pytest.mark.parametrize(("choice", "path", "message"), REFUSED)
def test_what_github_could_not_take_is_refused(alice, code_host, choice, path, message):
    save(alice, **CHOICE)
    asked = len(code_host.requests)

    answer = save(alice, **choice)

    assert answer.status_code == 400
    body = answer.json()
    assert body["error"] == "validation_error"
    assert body["details"] == [{"path": path, "message": message}]
    assert chosen(alice) == CHOICE
    assert len(code_host.requests) == asked


def test_all_that_is_wrong_is_said_at_once_and_at_most_a_hundred(alice):
    answer = save(alice, labels={f"kind {n}": ["x"] for n in range(500)}, assignees=["[bot]"])

    assert len(answer.json()["details"]) == 100


def test_a_long_body_is_answered_shortly(alice):
    answer = save(alice, labels={"x" * 60_000: []})

    assert answer.status_code == 400
    assert len(answer.content) < 1000


def test_a_family_of_emoji_is_a_label(alice):
    save(alice, labels={"*": ["👩\u200d💻 docs"]})

    assert chosen(alice)["labels"] == {"*": ["👩\u200d💻 docs"]}


def test_the_choice_stays_when_the_repository_changes_and_what_was_missing_is_forgotten(
    alice, acme, code_host
):
    code_host.add_to_installation(build.installed(code_host), code_host.add_repository("acme", "b"))
    save(alice, **CHOICE)
    Integration.objects.update(not_applied="label bug")

    answer = save(alice, repo_name="b")

    assert chosen(alice) == CHOICE
    assert answer.json()["not_applied"] is None


def test_what_was_missing_is_forgotten_when_another_choice_is_saved_and_not_before(alice):
    save(alice, **CHOICE)
    Integration.objects.update(not_applied="label bug")

    same = save(alice, **CHOICE, issue_template="{details}")
    other = save(alice, assignees=["alice"])

    assert same.json()["not_applied"] == (
        "GitHub did not take the label bug. Create the label in acme/docs yourself, or choose another one."
    )
    assert other.json()["not_applied"] is None


def test_a_repository_that_is_disconnected_takes_with_it_what_it_did_not_take(alice, acme):
    save(alice, **CHOICE)
    Integration.objects.update(not_applied="label bug")

    configuration.forget(acme)

    assert Integration.objects.get().not_applied == ""
    assert chosen(alice) == CHOICE


def test_whoever_has_no_push_access_changes_nothing(acme, code_host):
    build.member(acme, github_id=code_host.account("alice").id)
    bob = build.member(acme, "bob", role="member", github_id=code_host.account("bob").id)

    answer = save(build.api(build.token(bob)), **CHOICE)

    assert answer.status_code == 422
    assert Integration.objects.get().labels is None
    assert Membership.objects.count() == 2


def test_a_choice_survives_a_suspension(alice, code_host):
    save(alice, **CHOICE)

    applying.mark_uninstalled(Integration.objects.get().installation)

    assert json.loads(json.dumps(chosen(alice))) == CHOICE


def test_a_name_that_is_refused_costs_no_more_than_a_long_one(monkeypatch):
    """The attack: 31,000 marks in a name were put in order to compare it, before its length was looked at."""
    longest: list[int] = []
    normalize = unicodedata.normalize
    monkeypatch.setattr(
        dressing,
        "unicodedata",
        SimpleNamespace(
            normalize=lambda form, text: longest.append(len(text)) or normalize(form, text)
        ),
    )

    long = "\u0301" * 31_000
    faults = labels.faults(labels.Choice({"broken": [long]}, [long], long))

    assert len(faults) == 3
    assert max(longest) <= dressing.COMPARED
