"""One issue: whether it is open, why not, and reopening it."""

from datetime import UTC, datetime

import pytest

from integrations import github_api
from integrations.github_api import (
    Blocked,
    Gone,
    IssueFacts,
    IssueGone,
    Limited,
    TimedOut,
    Unreachable,
)
from integrations.models import Repository
from tests.integrations.github_api.conftest import TOKEN, at_once, said, soon
from tests.integrations.github_api.faults import LOST, NEVER_CONNECTED

DOCS = Repository(1, 7, "acme/docs")
GET, PATCH = "GET /repositories/7/issues/3", "PATCH /repositories/7/issues/3"
REPOSITORY = "GET /repositories/7"
MOVED = "Its issue is no longer in acme/docs: it was deleted, or moved to another repository."
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
OPEN = {
    "number": 3,
    "repository_url": "https://api.github.com/repos/acme/docs",
    "state": "open",
    "state_reason": None,
    "closed_at": None,
    "updated_at": "2026-11-20T12:00:00Z",
    "locked": False,
}
CLOSED = OPEN | {
    "state": "closed",
    "state_reason": "not_planned",
    "closed_at": "2026-11-20T12:00:00Z",
    "locked": True,
}
THERE = {
    "url": "https://api.github.com/repos/acme/docs",
    "id": 7,
    "name": "docs",
    "owner": {"login": "acme"},
    "has_issues": True,
}


def read(deadline: float | None = None) -> IssueFacts:
    return github_api.read_issue(DOCS, 3, deadline=deadline or soon())


def reopen(deadline: float | None = None) -> None:
    github_api.reopen_issue(DOCS, 3, deadline=deadline or soon())


CALLS = [(read, GET), (reopen, PATCH)]


@pytest.mark.parametrize(
    ("body", "facts"),
    [
        (OPEN, IssueFacts("open", "", None, False, NOON)),
        (CLOSED, IssueFacts("closed", "not_planned", NOON, True, NOON)),
        ({**OPEN, "state_reason": "reopened"}, IssueFacts("open", "", None, False, NOON)),
    ],
)
def test_an_issue_is_read(wire, body, facts):
    wire.answer_token()
    wire.answer(GET, 200, body)

    assert read() == facts


def test_an_issue_is_reopened(wire):
    wire.answer_token()
    wire.answer(PATCH, 200, OPEN)

    reopen()

    assert wire.sent[-1].json == {"state": "open"}


@pytest.mark.parametrize(("call", "line"), CALLS)
def test_a_new_token_is_asked_for_where_the_old_one_is_revoked(wire, call, line):
    wire.answer_token(1)
    wire.answer(line, 401, {"message": "Bad credentials"})
    wire.answer_token(2)
    wire.answer(line, 200, OPEN)

    call()

    assert wire.lines == [TOKEN, line, TOKEN, line]


@pytest.mark.parametrize(("call", "line"), CALLS)
@pytest.mark.parametrize("status", [404, 410])
def test_an_issue_that_was_deleted_is_gone_if_its_repository_is_there(wire, call, line, status):
    wire.answer_token()
    wire.answer(line, status, {"message": "Not Found"})
    wire.answer(REPOSITORY, 200, THERE)

    assert said(call) == (IssueGone, MOVED)


@pytest.mark.parametrize(
    ("repository", "error"),
    [
        ((404, {"message": "Not Found"}), Gone),
        ((200, THERE | {"has_issues": False}), Blocked),
        ((403, {"message": "You have exceeded a secondary rate limit."}), Limited),
        ((502, "<html>"), Unreachable),
        ((200, []), Unreachable),
    ],
)
def test_where_nothing_can_be_read_no_issue_is_taken_for_gone(wire, repository, error):
    wire.answer_token()
    wire.answer(GET, 410, {"message": "Issues are disabled for this repo"})
    wire.answer(REPOSITORY, *repository)

    assert said(read)[0] is error


def test_an_issue_that_was_moved_is_gone_also_if_its_address_leads_there(wire):
    wire.answer_token()
    wire.answer(GET, 301, Location="https://api.github.com/repositories/8/issues/3")
    moved = OPEN | {"repository_url": "https://api.github.com/repos/acme/other"}
    wire.answer("GET /repositories/8/issues/3", 200, moved)
    wire.answer(REPOSITORY, 200, THERE)

    assert said(read) == (IssueGone, MOVED)


def test_an_issue_of_a_renamed_repository_is_there(wire):
    wire.answer_token()
    wire.answer(GET, 200, OPEN | {"repository_url": "https://api.github.com/repos/acme/Handbook"})
    wire.answer(REPOSITORY, 200, THERE | {"url": "https://api.github.com/repos/acme/handbook"})

    assert read().state == "open"


@pytest.mark.parametrize(("call", "line"), CALLS)
@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (403, {"message": "Repository was archived so is read-only."}, Blocked),
        (403, {"message": "You have exceeded a secondary rate limit."}, Limited),
        (429, {"message": "Slow down"}, Limited),
        (500, "", Unreachable),
        (502, "<html>", Unreachable),
        (200, [], Unreachable),
        (200, {}, Unreachable),
        (200, OPEN | {"repository_url": None}, Unreachable),
    ],
)
def test_another_answer(wire, call, line, status, body, error):
    wire.answer_token()
    wire.answer(line, status, body)

    assert said(call)[0] is error


@pytest.mark.parametrize("part", ["closed_at", "updated_at"])
@pytest.mark.parametrize("odd", ["noon", 7, [], "0001-01-01T00:00:00+01:00"])
def test_a_time_that_is_none_is_not_understood(wire, part, odd):
    wire.answer_token()
    wire.answer(GET, 200, CLOSED | {part: odd})

    assert said(read) == (Unreachable, "GitHub's response could not be understood.")


@pytest.mark.parametrize(("call", "line"), CALLS)
@pytest.mark.parametrize("fault", NEVER_CONNECTED | LOST)
def test_an_answer_that_did_not_arrive(wire, call, line, fault):
    wire.answer_token()
    wire.answer(line, body=(NEVER_CONNECTED | LOST)[fault])

    assert said(call) == (Unreachable, "GitHub could not be reached.")


def test_a_late_answer(wire):
    wire.answer_token()
    late = wire.answer_late(GET, 200, OPEN)

    error = said(lambda: read(at_once()))
    late.let_go()

    assert error == (TimedOut, "GitHub took too long to answer.")
