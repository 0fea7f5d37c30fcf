"""Who somebody is: the code that a browser brings, the account, and the installations they see."""

from functools import partial

import pytest

from integrations import github_api
from integrations.github_api import (
    BadCode,
    InstallationFacts,
    Limited,
    Person,
    Suspended,
    TimedOut,
    Unreachable,
    Visitor,
)
from tests.integrations.github_api.conftest import TOKEN, at_once, said, settled, soon
from tests.integrations.github_api.faults import LOST, NEVER_CONNECTED

NO_SENSE = (Unreachable, "GitHub's response could not be understood.")
UNREACHED = (Unreachable, "GitHub could not be reached.")
LIMIT = (Limited, "GitHub's rate limit is reached; it asked us to wait 60 seconds.")
CODE = "POST https://github.com/login/oauth/access_token"
USER, INSTALLATIONS = "GET /user", "GET /user/installations"
GIVEN = {"access_token": "alices-token", "token_type": "bearer"}
ALICE = {"id": 11, "login": "alice", "type": "User"}


def installation(number: int) -> dict:
    return {
        "id": number,
        "account": {"login": f"acme-{number}"},
        "suspended_at": None,
        "permissions": {"issues": "write"},
    }


def facts(number: int) -> InstallationFacts:
    return InstallationFacts(number, f"acme-{number}", is_suspended=False, may_write_issues=True)


def visitor(deadline: float | None = None):
    return github_api.visitor(
        "a-code", redirect_uri="https://hub.example/back", deadline=deadline or soon()
    )


def person(login: str = "alice", installation_id: int | None = None):
    return github_api.person(login, installation_id=installation_id, deadline=soon())


def test_a_visitor(wire):
    wire.answer(CODE, 200, GIVEN)
    wire.answer(USER, 200, ALICE)
    wire.answer(INSTALLATIONS, 200, {"total_count": 1, "installations": [installation(1)]})

    assert visitor() == Visitor(11, "alice", [facts(1)])

    code, user, listed = wire.sent
    assert code.form == {
        "client_id": "client",
        "client_secret": "not-a-secret",
        "code": "a-code",
        "redirect_uri": "https://hub.example/back",
    }
    assert user.headers["authorization"] == "token alices-token"
    assert listed.headers["authorization"] == "token alices-token"
    assert listed.query == {"per_page": "100", "page": "1"}


@pytest.mark.parametrize(
    ("pages", "asked"), [([0], 1), ([99], 1), ([100, 0], 2), ([100, 100, 1], 3)]
)
def test_all_pages_of_installations(wire, pages, asked):
    wire.answer(CODE, 200, GIVEN)
    wire.answer(USER, 200, ALICE)
    for page, length in enumerate(pages):
        listed = [installation(page * 100 + number) for number in range(1, length + 1)]
        wire.answer(INSTALLATIONS, 200, {"installations": listed})

    found = visitor().installations

    assert found == [facts(number) for number in range(1, sum(pages) + 1)]
    assert [each.query["page"] for each in wire.sent[2:]] == [str(n + 1) for n in range(asked)]


def test_after_the_deadline_no_other_page_is_asked_for(wire):
    wire.answer(CODE, 200, GIVEN)
    wire.answer(USER, 200, ALICE)
    page = wire.answer_late(INSTALLATIONS, 200, {"installations": [installation(1)] * 100})

    outcome = said(partial(visitor, at_once()))
    page.let_go()

    assert settled()
    assert outcome == (TimedOut, "GitHub took too long to answer.")
    assert wire.lines == [CODE, USER, INSTALLATIONS]


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (200, {"error": "bad_verification_code"},
         (BadCode, "GitHub does not accept this code. Please start over.")),
        (200, {"error": "incorrect_client_credentials"},
         (Unreachable, "GitHub did not issue a token: incorrect_client_credentials.")),
        (200, {"error": "redirect_uri_mismatch"},
         (Unreachable, "GitHub did not issue a token: redirect_uri_mismatch.")),
        (200, {}, (Unreachable, "GitHub did not issue a token: 200.")),
        (200, {"access_token": None}, (Unreachable, "GitHub did not issue a token: 200.")),
        (200, {"access_token": 7}, (Unreachable, "GitHub did not issue a token: 200.")),
        (200, '{"access_token": "al', (Unreachable, "GitHub did not issue a token: 200.")),
        (200, ["text"], (Unreachable, "GitHub did not issue a token: 200.")),
        (200, "<html>", (Unreachable, "GitHub did not issue a token: 200.")),
        (200, {"access_token": ""},
         (Unreachable, "GitHub answered without a token when asked for one.")),
        (201, GIVEN, (Unreachable, "GitHub did not issue a token: 201.")),
        (302, "", (Unreachable, "GitHub did not issue a token: 302.")),
        (404, {"error": "Not Found"}, (Unreachable, "GitHub did not issue a token: Not Found.")),
        (429, "", LIMIT),
        (403, {"message": "API rate limit exceeded"}, LIMIT),
        (500, "", (Unreachable, "GitHub did not issue a token: 500.")),
    ],
)  # fmt: skip
def test_a_code_that_gives_no_token(wire, status, body, outcome):
    wire.answer(CODE, status, body)

    assert said(visitor) == outcome
    assert len(wire.lines) == 1


@pytest.mark.parametrize("fault", NEVER_CONNECTED | LOST)
def test_a_code_is_sent_once(wire, fault):
    wire.answer(CODE, body=(NEVER_CONNECTED | LOST)[fault])

    assert said(visitor) == UNREACHED
    assert len(wire.lines) == 1


WITHOUT_WHAT_WAS_ASKED_FOR = [
    (200, "", (Unreachable, "GitHub answered 200 without the requested data.")),
    (401, {}, (Unreachable, "GitHub answered 401 without the requested data.")),
    (403, {}, (Unreachable, "GitHub answered 403 without the requested data.")),
    (429, {}, LIMIT),
    (502, "<html>", (Unreachable, "GitHub answered 502 without the requested data.")),
]


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        *WITHOUT_WHAT_WAS_ASKED_FOR,
        (200, {}, (Unreachable, "GitHub has nothing at /user.")),
        (404, {}, (Unreachable, "GitHub has nothing at /user.")),
        (200, {"id": 11}, NO_SENSE),
        (200, ["alice"], NO_SENSE),
    ],
)
def test_a_visitor_who_is_not_named(wire, status, body, outcome):
    wire.answer(CODE, 200, GIVEN)
    wire.answer(USER, status, body)

    assert said(visitor) == outcome


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        *WITHOUT_WHAT_WAS_ASKED_FOR,
        (404, {}, (Unreachable, "GitHub has nothing at /user/installations.")),
        (200, {"total_count": 0}, NO_SENSE),
        (200, {"installations": 7}, NO_SENSE),
        (200, {"installations": [{}]}, NO_SENSE),
        (200, {"installations": [installation(1) | {"account": None}]}, NO_SENSE),
    ],
)
def test_installations_that_are_not_told(wire, status, body, outcome):
    wire.answer(CODE, 200, GIVEN)
    wire.answer(USER, 200, ALICE)
    wire.answer(INSTALLATIONS, status, body)

    assert said(visitor) == outcome


def test_a_person_is_asked_about_by_an_installation(wire):
    wire.answer_token()
    wire.answer("GET /users/Alice", 200, ALICE)

    assert person("Alice", installation_id=1) == Person(11, "alice")
    assert wire.sent[0].json == {"permissions": {"metadata": "read"}}
    assert wire.sent[1].headers["authorization"] == "token token-1"


def test_without_an_installation_nobody_in_particular_asks(wire):
    wire.answer("GET /users/alice", 200, ALICE)

    assert person() == Person(11, "alice")
    assert "authorization" not in wire.sent[0].headers


@pytest.mark.parametrize(
    ("status", "error"), [(403, Suspended), (404, Suspended), (422, Unreachable)]
)
def test_an_installation_that_gets_no_token_is_not_asked_around(wire, status, error):
    """Nobody in particular may ask 60 times an hour, and whoever asks as nobody counts that."""
    wire.answer(TOKEN, status, {"message": "No"})

    with pytest.raises(error):
        person(installation_id=1)

    assert len(wire.sent) == 1


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (404, {"message": "Not Found"}),
        (200, ALICE | {"type": "Organization"}),
        (200, ALICE | {"type": "Bot"}),
    ],
)
def test_who_is_no_person(wire, status, body):
    wire.answer("GET /users/alice", status, body)

    assert person() is None


def test_a_login_is_part_of_the_path_and_nothing_more(wire):
    wire.answer("GET /users/..%2Fuser%3Fa%3D1", 404)

    assert person("../user?a=1") is None


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        *WITHOUT_WHAT_WAS_ASKED_FOR,
        (200, {}, NO_SENSE),
        (200, {"type": "User"}, NO_SENSE),
        (200, ["alice"], NO_SENSE),
    ],
)
def test_a_person_who_is_not_told(wire, status, body, outcome):
    wire.answer("GET /users/alice", status, body)

    assert said(person) == outcome


@pytest.mark.parametrize("body", ["", "{}", '{"token": "tok', []])
def test_a_token_that_is_none_is_not_used(wire, body):
    wire.answer(TOKEN, 201, body)

    assert said(partial(person, installation_id=1)) == NO_SENSE
    assert wire.lines == [TOKEN]
