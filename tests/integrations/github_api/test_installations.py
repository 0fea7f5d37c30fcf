"""What an installation may do and who may do what: what is asked, and how the answer is read."""

from functools import partial

import pytest

from integrations import github_api
from integrations.github_api import (
    Candidate,
    InstallationFacts,
    Limited,
    Person,
    Reached,
    RepositoryFacts,
    RepositoryPage,
    Right,
    Suspended,
    Unreachable,
)
from tests.integrations.github_api.conftest import TOKEN, said, soon

NO_SENSE = (Unreachable, "GitHub's response could not be understood.")
GONE = (Suspended, "The app is suspended or no longer installed.")
KEY = "GitHub does not accept the Hub's key. An operator of this Hub has to fix this."
LIMIT = "GitHub's rate limit is reached; it asked us to wait 60 seconds."
ALICE, BOB = Person(11, "alice"), Person(12, "bob")
DOCS_JSON = {
    "id": 7,
    "owner": {"login": "acme"},
    "name": "docs",
    "private": False,
    "has_issues": True,
    "archived": False,
}
DOCS = RepositoryFacts(7, "acme", "docs", is_private=False, has_issues=True, is_archived=False)
ACME_JSON = {
    "id": 1,
    "account": {"login": "acme"},
    "suspended_at": None,
    "permissions": {"issues": "write", "metadata": "read"},
}
ACME = InstallationFacts(1, "acme", is_suspended=False, may_write_issues=True)
MINTED = {"token": "token-1", "repositories": [DOCS_JSON]}
LISTED = "GET /installation/repositories"
REACHED = Reached(DOCS, "token-1")


def permission_of(login: str, repository: int = 7) -> str:
    return f"GET /repositories/{repository}/collaborators/{login}/permission"


def installation():
    return github_api.installation(1, deadline=soon())


def reached():
    return github_api.reached(1, 7, deadline=soon())


def rights(*people: Person):
    return github_api.rights(REACHED, people, deadline=soon())


def candidate(full_name: str = "acme/docs"):
    return github_api.candidate(1, full_name, person=ALICE, deadline=soon())


def pushable(page: int = 1):
    return github_api.pushable(1, person=ALICE, page=page, deadline=soon())


def test_an_installation(wire):
    wire.answer("GET /app/installations/1", 200, ACME_JSON)

    assert installation() == ACME
    assert wire.sent[0].headers["authorization"].startswith("Bearer ")


@pytest.mark.parametrize(
    ("fields", "facts"),
    [
        ({"suspended_at": "2026-11-20T12:00:00Z"}, ACME._replace(is_suspended=True)),
        ({"permissions": {"issues": "read"}}, ACME._replace(may_write_issues=False)),
        ({"permissions": {}}, ACME._replace(may_write_issues=False)),
        ({"account": {"slug": "acme-inc"}}, ACME._replace(account="acme-inc")),
        ({"account": {"login": None, "slug": "acme-inc"}}, ACME._replace(account="acme-inc")),
    ],
)
def test_what_an_installation_may_be(wire, fields, facts):
    wire.answer("GET /app/installations/1", 200, ACME_JSON | fields)

    assert installation() == facts


def test_an_installation_that_is_gone(wire):
    wire.answer("GET /app/installations/1", 404, {"message": "Not Found"})

    assert installation() is None


@pytest.mark.parametrize(
    ("line", "ask", "what"),
    [
        ("GET /app/installations/1", installation, "the installation"),
    ],
)
@pytest.mark.parametrize(
    ("status", "body", "error", "sentence"),
    [
        (200, "", Unreachable, "GitHub's response could not be understood."),
        (200, '{"id": 1', Unreachable, "GitHub's response could not be understood."),
        (200, [], Unreachable, "GitHub's response could not be understood."),
        (
            200,
            {"id": 1, "account": None},
            Unreachable,
            "GitHub's response could not be understood.",
        ),
        (307, "", Unreachable, "GitHub answered 307 when asked about {}."),
        (401, {}, Unreachable, KEY),
        (403, {}, Unreachable, "GitHub answered 403 when asked about {}."),
        (429, {}, Limited, LIMIT),
        (500, "", Unreachable, "GitHub answered 500 when asked about {}."),
    ],
)
def test_what_cannot_be_said_of_an_app(wire, line, ask, what, status, body, error, sentence):
    wire.answer(line, status, body)

    assert said(ask) == (error, sentence.format(what))
    assert wire.lines == [line]


@pytest.mark.parametrize(
    ("fields", "facts"),
    [
        ({}, DOCS),
        ({"private": True}, DOCS._replace(is_private=True)),
        ({"has_issues": False}, DOCS._replace(has_issues=False)),
        ({"archived": True}, DOCS._replace(is_archived=True)),
        ({"owner": {"login": "acme-now"}, "name": "handbook"},
         DOCS._replace(owner="acme-now", name="handbook")),
    ],
)  # fmt: skip
def test_a_repository_that_is_reached(wire, fields, facts):
    wire.answer_token(repositories=[DOCS_JSON | fields])

    assert reached() == Reached(facts, "token-1")
    assert wire.sent[0].json == {"repository_ids": [7], "permissions": {"metadata": "read"}}


def test_what_a_short_description_leaves_out_counts_as_private():
    short = {"id": 7, "owner": {"login": "acme"}, "name": "docs"}

    assert github_api.repository_facts(short) == DOCS._replace(is_private=True)


def test_a_token_is_not_shown():
    assert "token-1" not in repr(REACHED)


def test_a_repository_that_is_out_of_reach(wire):
    wire.answer(TOKEN, 422, {"message": "There is at least one repository that does not exist"})

    assert reached() is None


def test_a_repository_that_is_no_candidate(wire):
    wire.answer(TOKEN, 422, {"message": "There is at least one repository that does not exist"})

    assert candidate() is None


def test_a_list_that_may_not_be_seen(wire):
    wire.answer(TOKEN, 422, {"message": "The permissions are not granted"})

    assert said(pushable) == (
        Unreachable,
        "GitHub did not issue a token: The permissions are not granted.",
    )


@pytest.mark.parametrize("ask", [reached, candidate, pushable])
@pytest.mark.parametrize(
    ("status", "body", "error", "sentence"),
    [
        (401, {}, Unreachable, KEY),
        (403, {"message": "This installation has been suspended"}, *GONE),
        (404, {"message": "Not Found"}, *GONE),
        (429, {}, Limited, LIMIT),
        (403, {"message": "API rate limit exceeded"}, Limited, LIMIT),
        (500, "", Unreachable, "GitHub answered 500 when asked for a token."),
        (302, "", Unreachable, "GitHub answered 302 when asked for a token."),
        (201, "", *NO_SENSE),
        (201, {}, *NO_SENSE),
        (201, '{"token": "tok', *NO_SENSE),
    ],
)
def test_without_a_token_nothing_is_asked(wire, ask, status, body, error, sentence):
    wire.answer(TOKEN, status, body)

    assert said(ask) == (error, sentence)
    assert wire.lines == [TOKEN]


@pytest.mark.parametrize("repositories", [[], [{}], [{"id": 7}], None, [None], "text"])
@pytest.mark.parametrize("ask", [reached, candidate])
def test_a_token_without_its_repository(wire, ask, repositories):
    wire.answer_token(repositories=repositories)

    assert said(ask) == NO_SENSE


@pytest.mark.parametrize(
    ("level", "pushes", "administers"),
    [
        ("admin", True, True),
        ("write", True, False),
        ("read", False, False),
        ("none", False, False),
    ],
)
def test_what_a_person_may_do(wire, level, pushes, administers):
    wire.answer(permission_of("alice"), 200, {"permission": level, "user": {"id": 11}})

    [right] = rights(ALICE)

    assert right == Right(ALICE, level)
    assert (right.pushes, right.administers) == (pushes, administers)
    assert wire.sent[0].headers["authorization"] == "token token-1"


def test_many_are_asked_about_and_told_in_their_order(wire):
    people = [Person(number, f"user-{number}") for number in range(9)]
    for each in people:
        level = "write" if each.github_id % 2 else "read"
        answer = {"permission": level, "user": {"id": each.github_id}}
        wire.answer(permission_of(each.login), 200, answer)

    assert rights(*people) == [
        Right(each, "write" if each.github_id % 2 else "read") for each in people
    ]


def test_a_login_is_part_of_the_path_and_nothing_more(wire):
    wire.answer(permission_of("..%2F..%2Fuser%3F"), 404)
    wire.answer("GET /user/11", 404)

    assert rights(Person(11, "../../user?")) == [Right(Person(11, "../../user?"), "none")]


RENAMED = Person(11, "alice-now")


def test_who_has_another_login_now_is_asked_about_under_it(wire):
    wire.answer(permission_of("alice"), 200, {"permission": "admin", "user": {"id": 99}})
    wire.answer("GET /user/11", 200, {"id": 11, "login": "alice-now"})
    wire.answer(permission_of("alice-now"), 200, {"permission": "write", "user": {"id": 11}})

    assert rights(ALICE) == [Right(RENAMED, "write")]


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (404, {"message": "Not Found"}),
        (200, {"id": 99, "login": "mallory"}),
        (200, {"id": 11, "login": "alice"}),
    ],
    ids=["gone", "another's", "the same login"],
)
def test_who_is_nobody_here_may_do_nothing(wire, status, body):
    wire.answer(permission_of("alice"), 404, {"message": "alice is not a user"})
    wire.answer("GET /user/11", status, body)

    assert rights(ALICE) == [Right(ALICE, "none")]


def test_who_is_nobody_under_the_new_login_either_may_do_nothing(wire):
    wire.answer(permission_of("alice"), 404)
    wire.answer("GET /user/11", 200, {"id": 11, "login": "alice-now"})
    wire.answer(permission_of("alice-now"), 404)

    assert rights(ALICE) == [Right(RENAMED, "none")]


@pytest.mark.parametrize(
    ("status", "body", "error", "sentence"),
    [
        (200, {"permission": "owner", "user": {"id": 11}}, Unreachable,
         "GitHub named an unknown permission."),
        (200, {"permission": ["admin"], "user": {"id": 11}}, Unreachable,
         "GitHub named an unknown permission."),
        (200, {"user": {"id": 11}}, *NO_SENSE),
        (200, {"permission": "admin", "user": None}, *NO_SENSE),
        (200, ["admin"], *NO_SENSE),
        (200, "", Unreachable, "GitHub answered 200 without the requested data."),
        (401, {}, Unreachable, "GitHub answered 401 without the requested data."),
        (403, {}, Unreachable, "GitHub answered 403 without the requested data."),
        (429, {}, Limited, LIMIT),
        (500, "", Unreachable, "GitHub answered 500 without the requested data."),
    ],
)  # fmt: skip
def test_a_right_is_never_guessed(wire, status, body, error, sentence):
    wire.answer(permission_of("alice"), status, body)

    assert said(partial(rights, ALICE)) == (error, sentence)


@pytest.mark.parametrize(
    ("fields", "level", "may_see", "may_push"),
    [
        ({}, "write", True, True),
        ({}, "read", True, False),
        ({}, "none", True, False),
        ({"private": True}, "admin", True, True),
        ({"private": True}, "read", True, False),
        ({"private": True}, "none", False, False),
    ],
)
def test_a_candidate(wire, fields, level, may_see, may_push):
    wire.answer_token(repositories=[DOCS_JSON | fields])
    wire.answer(permission_of("alice"), 200, {"permission": level, "user": {"id": 11}})

    facts = DOCS._replace(is_private=fields.get("private", False))
    assert candidate("Acme/Docs") == Candidate(facts, may_see, may_push)
    assert wire.sent[0].json == {"repositories": ["Docs"], "permissions": {"issues": "write"}}
    assert wire.sent[1].headers["authorization"] == "token token-1"


@pytest.mark.parametrize("full_name", ["initech/docs", "acme/handbook", "docs", ""])
def test_a_repository_of_another_name_is_no_candidate(wire, full_name):
    wire.answer_token(repositories=[DOCS_JSON])

    assert candidate(full_name) is None
    assert wire.lines == [TOKEN]


def test_of_a_page_only_what_may_be_pushed_to(wire):
    listed = [DOCS_JSON | {"id": number, "name": f"docs-{number}"} for number in (1, 2, 3, 4)]
    wire.answer_token()
    wire.answer(LISTED, 200, {"total_count": 4, "repositories": listed})
    for number, level in enumerate(("admin", "write", "read", "none"), 1):
        answer = {"permission": level, "user": {"id": 11}}
        wire.answer(permission_of("alice", number), 200, answer)

    page = pushable()

    assert [each.full_name for each in page.repositories] == ["acme/docs-1", "acme/docs-2"]
    assert wire.sent[0].json == {"permissions": {"metadata": "read"}}
    assert (wire.sent[1].line, wire.sent[1].query) == (LISTED, {"per_page": "50", "page": "1"})
    assert {each.headers["authorization"] for each in wire.sent[1:]} == {"token token-1"}


def test_who_has_another_login_now_is_looked_up_once_for_a_page(wire):
    listed = [DOCS_JSON | {"id": number, "name": f"docs-{number}"} for number in (1, 2, 3)]
    wire.answer_token()
    wire.answer(LISTED, 200, {"total_count": 3, "repositories": listed})
    wire.answer(permission_of("alice", 1), 404, {})
    wire.answer("GET /user/11", 200, {"id": 11, "login": "alicia"})
    for number in (1, 2, 3):
        answer = {"permission": "write", "user": {"id": 11}}
        wire.answer(permission_of("alicia", number), 200, answer)

    assert len(pushable().repositories) == 3
    assert len(wire.sent) == 2 + 1 + 1 + 3


@pytest.mark.parametrize(
    ("page", "total", "following"),
    [(1, 0, None), (1, 50, None), (1, 51, 2), (2, 100, None), (2, 101, 3), (9, 7, None)],
)
def test_whether_another_page_follows(wire, page, total, following):
    wire.answer_token()
    wire.answer(LISTED, 200, {"total_count": total, "repositories": []})

    assert pushable(page) == RepositoryPage([], following)
    assert wire.sent[1].query["page"] == str(page)


@pytest.mark.parametrize(
    ("status", "body", "error", "sentence"),
    [
        (200, {}, *NO_SENSE),
        (200, {"repositories": []}, *NO_SENSE),
        (200, {"total_count": "many", "repositories": []}, *NO_SENSE),
        (200, {"total_count": 1, "repositories": [{}]}, *NO_SENSE),
        (200, {"total_count": 1, "repositories": None}, *NO_SENSE),
        (404, {}, *NO_SENSE),
        (200, "", Unreachable, "GitHub answered 200 without the requested data."),
        (401, {}, Unreachable, "GitHub answered 401 without the requested data."),
        (429, {}, Limited, LIMIT),
        (502, "", Unreachable, "GitHub answered 502 without the requested data."),
    ],
)
def test_a_page_that_cannot_be_read(wire, status, body, error, sentence):
    wire.answer_token()
    wire.answer(LISTED, status, body)

    assert said(pushable) == (error, sentence)


def test_a_page_of_a_proxy_does_not_say_that_the_app_was_uninstalled(wire):
    wire.answer("GET /app/installations/1", 404, "<html>default backend - 404</html>")

    assert said(partial(github_api.installation, 1, deadline=soon())) == (
        github_api.Unreachable,
        "Something between this Hub and GitHub answered 404, not GitHub itself.",
    )


@pytest.mark.parametrize("status", [403, 404, 422])
def test_a_page_of_a_proxy_does_not_say_that_a_repository_is_out_of_reach(wire, status):
    wire.answer(TOKEN, status, "<html>")

    assert said(partial(github_api.reached, 1, 7, deadline=soon()))[0] is github_api.Unreachable


def test_what_is_told_of_another_installation_or_repository_is_not_believed(wire):
    other = {"id": 2, "account": {"login": "evil"}, "permissions": {"issues": "write"}}
    wire.answer("GET /app/installations/1", 200, other)
    wire.answer_token(
        repositories=[{"id": 8, "name": "docs", "owner": {"login": "evil"}, "private": False}]
    )

    for ask in (
        partial(github_api.installation, 1, deadline=soon()),
        partial(github_api.reached, 1, 7, deadline=soon()),
    ):
        assert said(ask) == (
            github_api.Unreachable,
            "GitHub's response is about something else.",
        )


@pytest.mark.parametrize("private", [None, 0, "", "false", []])
def test_a_repository_of_which_it_is_unclear_is_not_taken_for_public(wire, private):
    wire.answer_token(
        repositories=[{"id": 7, "name": "docs", "owner": {"login": "acme"}, "private": private}]
    )

    assert said(partial(github_api.reached, 1, 7, deadline=soon()))[0] is github_api.Unreachable


def assignable(*logins: str):
    return github_api.assignable(1, 7, logins, deadline=soon())


def test_who_can_be_assigned(wire):
    wire.answer(TOKEN, 201, MINTED)
    wire.answer("GET /repositories/7/assignees/alice", 204, "")
    wire.answer("GET /repositories/7/assignees/bob", 404, {"message": "Not Found"})

    assert assignable("bob", "alice") == ["alice"]


@pytest.mark.parametrize(
    ("status", "body", "headers", "error", "sentence"),
    [
        (200, {}, {}, Unreachable, "GitHub answered 200 when asked who can be assigned."),
        (403, {}, {}, Unreachable, "GitHub answered 403 when asked who can be assigned."),
        (429, {}, {"retry_after": "60"}, Limited, LIMIT),
    ],
)
def test_who_can_be_assigned_is_not_said(wire, status, body, headers, error, sentence):
    wire.answer(TOKEN, 201, MINTED)
    wire.answer("GET /repositories/7/assignees/alice", status, body, **headers)

    with pytest.raises(error) as raised:
        assignable("alice")

    assert str(raised.value) == sentence


def test_who_can_be_assigned_where_the_app_may_not_look(wire):
    wire.answer(TOKEN, 422, {"message": "The permissions requested are not granted"})

    with pytest.raises(Unreachable, match="did not issue a token"):
        assignable("alice")
