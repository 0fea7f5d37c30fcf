"""What becomes of reports that are alike is chosen with the repository, or alone and without GitHub."""

import pytest

from integrations.models import Integration
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)

URL = "/v1/orgs/me/integrations/github"
DOCS = {"repo_owner": "acme", "repo_name": "docs"}
AT_FIRST = {"likeness": "hint", "when_reported_again": "comment", "shows_known": False}
CHOSEN = {"likeness": "fold", "when_reported_again": "reopen", "shows_known": True}


@pytest.fixture
def acme(code_host):
    return build.acme(code_host)


@pytest.fixture
def alice(acme, code_host):
    return build.api(build.token(build.member(acme, github_id=code_host.account("alice").id)))


def change(client, body):
    return client.patch(URL, body, content_type="application/json")


def choices(answer) -> dict:
    return {name: answer.json()[name] for name in AT_FIRST}


def test_at_first_reports_alike_are_named_and_nothing_is_shown(alice):
    assert alice.get("/v1/orgs/me").json()["integration"].items() >= AT_FIRST.items()


def test_all_are_chosen_with_the_repository(alice):
    answer = alice.post(URL, DOCS | CHOSEN, content_type="application/json")

    assert (answer.status_code, choices(answer)) == (200, CHOSEN)
    assert alice.get("/v1/orgs/me").json()["integration"].items() >= CHOSEN.items()


@pytest.mark.parametrize("sent", [{}, dict.fromkeys(CHOSEN)])
def test_what_is_absent_stays_as_it_is(alice, sent):
    change(alice, CHOSEN)

    assert choices(alice.post(URL, DOCS | sent, content_type="application/json")) == CHOSEN
    assert choices(change(alice, sent)) == CHOSEN
    assert choices(change(alice, {"shows_known": False})) == CHOSEN | {"shows_known": False}


def test_a_choice_alone_does_not_need_github_and_changes_nothing_else(alice, acme, code_host):
    Integration.objects.update(issue_template="{summary}", problem="acme/docs is archived.")
    code_host.archive("acme/docs")
    before = Integration.objects.values().get()

    answer = change(alice, {"likeness": "off"})

    assert (answer.status_code, answer.json()["likeness"]) == (200, "off")
    assert Integration.objects.values().get() == before | {"likeness": "off"}


def test_any_member_may_choose(acme):
    bob = build.api(build.token(build.member(acme, "bob", role="member")))

    assert choices(change(bob, CHOSEN)) == CHOSEN


def test_another_organizations_choices_stay_as_they_are(acme, alice):
    charlie = build.caller("initech")

    refused = change(charlie, CHOSEN)

    assert (refused.status_code, refused.json()["error"]) == (409, "not_installed")
    assert choices(change(alice, {})) == AT_FIRST


def test_every_mode_can_be_chosen(alice):
    for mode in Integration.Likeness.values:
        assert change(alice, {"likeness": mode}).json()["likeness"] == mode
    for again in Integration.Again.values:
        told = change(alice, {"when_reported_again": again}).json()
        assert told["when_reported_again"] == again


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"likeness": "merge"}, "Must be one of 'off', 'hint' or 'fold'."),
        ({"likeness": True}, "Must be one of 'off', 'hint' or 'fold'."),
        ({"likeness": ""}, "Must be one of 'off', 'hint' or 'fold'."),
        (
            {"when_reported_again": "close"},
            "Must be one of 'nothing', 'comment', 'reopen' or 'issue'.",
        ),
        ({"shows_known": "yes"}, "Must be true or false."),
        ({"repo_name": "docs"}, "Unknown field."),
    ],
)
def test_what_is_no_choice_is_refused_in_words(alice, wrong, message):
    answer = change(alice, CHOSEN | wrong)

    assert answer.status_code == 400
    assert answer.json()["details"] == [{"path": f"/{next(iter(wrong))}", "message": message}]
    assert choices(change(alice, {})) == AT_FIRST


def test_a_refused_repository_saves_no_choice(alice, code_host):
    code_host.archive("acme/docs")

    assert alice.post(URL, DOCS | CHOSEN, content_type="application/json").status_code == 422
    assert choices(change(alice, {})) == AT_FIRST
