"""Comments: one POST, a list that is read to its end, an edit; and what becomes of each answer."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from integrations import github_api
from integrations.github_api import (
    Blocked,
    Gone,
    IssueComment,
    IssueGone,
    Limited,
    Locked,
    OtherTime,
    OutcomeUnknown,
    ReadOn,
    Refused,
    Suspended,
    TimedOut,
    Unreachable,
    comments,
)
from integrations.github_api.answers import OTHER_TIME
from integrations.models import Repository
from tests.integrations.github_api.conftest import TOKEN, at_once, said, soon
from tests.integrations.github_api.faults import LOST, NEVER_CONNECTED

DOCS = Repository(1, 7, "acme/docs")
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
MARK = "<!-- hub:1 also "
LIST = "GET /repositories/7/issues/3/comments"
POST = "POST /repositories/7/issues/3/comments"
GET, PATCH = "GET /repositories/7/issues/comments/9", "PATCH /repositories/7/issues/comments/9"
ISSUE, REPOSITORY = "GET /repositories/7/issues/3", "GET /repositories/7"
URL = "https://github.com/acme/docs/issues/3#issuecomment-9"
OURS = {"login": "docs-feedback-hub[bot]", "type": "Bot"}
THERE = {"id": 9, "html_url": URL, "body": f"Text {MARK}x -->", "user": OURS}
FOUND = IssueComment(9, URL, THERE["body"])
API = "https://api.github.com"
MORE = '<x>; rel="next"'
OPEN = {
    "number": 3,
    "repository_url": f"{API}/repos/acme/docs",
    "state": "open",
    "closed_at": None,
    "updated_at": "2026-11-20T12:00:00Z",
}
HERE = {
    "id": 7,
    "name": "docs",
    "owner": {"login": "acme"},
    "url": f"{API}/repos/acme/docs",
    "has_issues": True,
}


def spam(*ids: int) -> list[dict[str, Any]]:
    return [
        {"id": each, "body": "Spam", "user": {"login": "mallory", "type": "User"}} for each in ids
    ]


def create(deadline: float | None = None) -> IssueComment:
    return github_api.create_comment(DOCS, 3, "Text", deadline=deadline or soon())


def find(deadline: float | None = None, *, now: datetime | None = None) -> IssueComment | None:
    return github_api.find_comment(
        DOCS, 3, MARK, since=NOON, now=now or datetime.now(UTC), deadline=deadline or soon()
    )


def read(deadline: float | None = None) -> IssueComment | None:
    return github_api.read_comment(DOCS, 3, 9, deadline=deadline or soon())


def edit(deadline: float | None = None) -> IssueComment | None:
    return github_api.edit_comment(DOCS, 3, 9, "Text", deadline=deadline or soon())


ALL = [(create, POST), (find, LIST), (read, GET), (edit, PATCH)]
REPEATABLE = ALL[1:]


def test_a_comment_is_written(wire):
    wire.answer_token()
    wire.answer(POST, 201, THERE, X_RateLimit_Remaining="4999")

    assert create() == FOUND._replace(limit_left=4999)
    minted, posted = wire.sent
    assert minted.json == {"repository_ids": [7], "permissions": {"issues": "write"}}
    assert (posted.line, posted.json) == (POST, {"body": "Text"})
    assert posted.headers["authorization"] == "token token-1"


def test_a_comment_without_an_address_has_the_usual_one(wire):
    wire.answer_token()
    wire.answer(POST, 201, {"id": 9})

    assert create() == IssueComment(9, URL, "")


def test_a_comment_is_read_and_edited(wire):
    wire.answer_token()
    wire.answer(GET, 200, THERE)
    wire.answer(PATCH, 200, THERE)

    assert read() == edit() == FOUND
    assert wire.sent[-1].json == {"body": "Text"}


def test_the_list_is_read_to_its_end(wire):
    wire.answer_token()
    others = {**THERE, "user": {"login": "charlie", "type": "User"}}
    wire.answer(LIST, 200, [others, {**THERE, "body": None}], Link='<x>; rel="next"')
    wire.answer(LIST, 200, [{**THERE, "id": 8, "body": "Another"}, THERE])

    assert find() == FOUND
    asked = [each.query for each in wire.sent[1:]]
    assert asked == [
        {"since": "2026-11-20T12:00:00Z", "per_page": "100", "page": page} for page in ("1", "2")
    ]


def test_a_list_that_is_too_slow_is_read_on_by_the_next_call(wire, slow_lists):
    wire.answer_token()
    for last in (2, 4, 4, 6):
        wire.answer(LIST, 200, spam(last - 1, last), Link=MORE)
    wire.answer(LIST, 200, [THERE])

    slow_lists(2)
    with pytest.raises(ReadOn):
        find()
    slow_lists(9)

    assert find() == FOUND
    assert [each.query["page"] for each in wire.sent[1:]] == ["1", "2", "2", "3", "4"]


def test_what_was_deleted_meanwhile_hides_nothing(wire, slow_lists):
    """Comments moved to the pages before: from 5 on, what was on the third page is on the second or first."""
    wire.answer_token()
    for page in (spam(1, 2), spam(3, 4), spam(5, 6), [], spam(7, 8), [*spam(2), THERE]):
        wire.answer(LIST, 200, page, Link=MORE)

    slow_lists(3)
    with pytest.raises(ReadOn):
        find()
    slow_lists(9)

    assert find() == FOUND
    assert [each.query["page"] for each in wire.sent[1:]] == ["1", "2", "3", "3", "2", "1"]


def test_a_call_that_read_nothing_new_was_too_late_and_the_place_stays(wire, slow_lists):
    wire.answer_token()
    for page in (spam(1, 2), spam(3, 4), spam(3, 4), spam(3, 4), [THERE]):
        wire.answer(LIST, 200, page, Link=MORE)
    slow_lists(2)
    with pytest.raises(ReadOn):
        find()

    for pages in (0, 1):
        slow_lists(pages)
        assert said(find) == (TimedOut, "GitHub took too long to answer.")

    slow_lists(9)
    assert find() == FOUND
    assert wire.sent[-1].query["page"] == "3"


def test_no_comment_is_missing_by_the_wrong_clock(wire):
    wire.answer_token()
    wire.answer(LIST, 200, spam(1), Date="Fri, 20 Nov 2026 12:00:00 GMT")

    assert said(partial(find, now=NOON - timedelta(hours=3))) == (OtherTime, OTHER_TIME)


def test_of_few_issues_the_place_is_remembered(wire, slow_lists, monkeypatch):
    monkeypatch.setattr(comments, "MOST_READ", 2)
    wire.answer_token()
    wire.answer(LIST, 200, spam(1), Link=MORE)
    for number in range(3):
        slow_lists(1)
        with pytest.raises(ReadOn):
            github_api.find_comment(
                DOCS, 3, f"{MARK}{number}", since=NOON, now=NOON, deadline=soon()
            )

    assert [marker for _, _, marker in comments._read] == [f"{MARK}1", f"{MARK}2"]


def test_a_comment_that_is_not_there_is_not_found(wire):
    wire.answer_token()
    wire.answer(LIST, 200, [])

    assert find() is None


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (201, {}),
        (201, {"id": "9"}),
        (201, {"id": True}),
        (201, [THERE]),
        (201, '{"id": 9, "ht'),
        (202, THERE),
        (302, ""),
        (307, ""),
        (500, {"message": "Server Error"}),
        (502, "<html>Unicorn!</html>"),
    ],
)
def test_an_answer_that_leaves_open_whether_there_is_a_comment(wire, status, body):
    wire.answer_token()
    wire.answer(POST, status, body)

    assert said(create) == (OutcomeUnknown, f"GitHub answered {status} without a comment.")


@pytest.mark.parametrize("fault", LOST)
def test_an_answer_to_a_comment_that_was_lost(wire, fault):
    wire.answer_token()
    wire.answer(POST, body=LOST[fault])

    assert said(create) == (
        OutcomeUnknown,
        "The connection to GitHub was lost before it answered.",
    )


@pytest.mark.parametrize("fault", NEVER_CONNECTED)
def test_where_no_byte_was_sent_nothing_was_written(wire, fault):
    wire.answer_token()
    wire.answer(POST, body=NEVER_CONNECTED[fault])

    assert said(create) == (Unreachable, "GitHub could not be reached.")


@pytest.mark.parametrize(("call", "line"), REPEATABLE)
@pytest.mark.parametrize("fault", NEVER_CONNECTED | LOST)
def test_what_changes_nothing_may_be_asked_again(wire, call, line, fault):
    wire.answer_token()
    wire.answer(line, body=(NEVER_CONNECTED | LOST)[fault])

    assert said(call) == (Unreachable, "GitHub could not be reached.")


@pytest.mark.parametrize(("call", "line"), ALL)
def test_a_late_answer(wire, call: Callable[[float], Any], line):
    wire.answer_token()
    late = wire.answer_late(line, 200, THERE)

    error = said(lambda: call(at_once()))
    late.let_go()

    late_ones = (OutcomeUnknown, TimedOut) if call is create else (TimedOut,)
    assert error[0] in late_ones
    assert error[1] == "GitHub took too long to answer."


@pytest.mark.parametrize(("call", "line"), ALL)
def test_a_new_token_is_asked_for_where_the_old_one_is_revoked(wire, call, line):
    wire.answer_token(1)
    wire.answer(line, 401, {"message": "Bad credentials"})
    wire.answer_token(2)
    wire.answer(line, 201 if call is create else 200, [THERE] if call is find else THERE)

    assert call() == FOUND
    assert wire.lines == [TOKEN, line, TOKEN, line]


REFUSALS = [
    (403, {"message": "Unable to create comment because issue is locked."}, Locked),
    (403, {"message": "Commenting is disabled on issues with more than 2500 comments"}, Locked),
    (403, {"message": "Repository was archived so is read-only."}, Blocked),
    (403, {"message": "Resource not accessible by integration"}, Blocked),
    (403, {"message": "You have exceeded a secondary rate limit."}, Limited),
    (429, {"message": "Slow down"}, Limited),
]


@pytest.mark.parametrize(("call", "line"), ALL)
@pytest.mark.parametrize(("status", "body", "error"), REFUSALS)
def test_a_refusal(wire, call, line, status, body, error):
    wire.answer_token()
    wire.answer(line, status, body)

    assert said(call)[0] is error


@pytest.mark.parametrize(("call", "line"), ALL)
def test_a_comment_that_is_not_valid(wire, call, line):
    wire.answer_token()
    wire.answer(line, 422, {"message": "Validation Failed", "errors": ["body is too long"]})

    assert said(call) == (Refused, "GitHub refused the comment: body is too long.")


@pytest.mark.parametrize(("call", "line"), ALL)
@pytest.mark.parametrize("status", [404, 410])
def test_where_only_the_issue_is_gone(wire, call, line, status):
    wire.answer_token()
    wire.answer(line, status, {"message": "Not Found"})
    wire.answer(ISSUE, status, {"message": "Not Found"})
    wire.answer(REPOSITORY, 200, HERE)

    assert said(call)[0] is IssueGone


@pytest.mark.parametrize(("call", "line"), ALL)
def test_where_the_issue_was_moved(wire, call, line):
    wire.answer_token()
    elsewhere = f"{API}/repositories/8/issues/3"
    wire.answer(line, 301, Location=elsewhere)
    method = line.split()[0]
    moved = OPEN | {"repository_url": f"{API}/repos/acme/other"}
    wire.answer(f"{method} /repositories/8/issues/3", 404 if method != "GET" else 200, moved)
    wire.answer(ISSUE, 200, moved)
    wire.answer(REPOSITORY, 200, HERE)

    assert said(call)[0] is IssueGone


@pytest.mark.parametrize(("call", "line"), ALL)
@pytest.mark.parametrize(
    ("repository", "error"),
    [
        ((404, {"message": "Not Found"}), Gone),
        ((200, HERE | {"has_issues": False}), Blocked),
        ((502, "<html>"), Unreachable),
    ],
)
def test_where_the_whole_repository_is_gone(wire, call, line, repository, error):
    wire.answer_token()
    wire.answer(line, 410, {"message": "Issues are disabled for this repo"})
    wire.answer(ISSUE, 410, {"message": "Issues are disabled for this repo"})
    wire.answer(REPOSITORY, *repository)

    assert said(call)[0] is error


@pytest.mark.parametrize(("call", "line"), [(read, GET), (edit, PATCH)])
def test_a_comment_that_somebody_has_deleted(wire, call, line):
    wire.answer_token()
    wire.answer(line, 404, {"message": "Not Found"})
    wire.answer(ISSUE, 200, OPEN)

    assert call() is None


@pytest.mark.parametrize(("call", "line"), REPEATABLE)
@pytest.mark.parametrize(
    ("status", "body"), [(500, ""), (502, "<html>"), (204, ""), (201, THERE), (304, "")]
)
def test_another_answer(wire, call, line, status, body):
    wire.answer_token()
    wire.answer(line, status, body)

    assert said(call)[0] is Unreachable


@pytest.mark.parametrize(("call", "line"), [(read, GET), (edit, PATCH)])
@pytest.mark.parametrize("body", [[], {}, "text", None, {**THERE, "id": 8}])
def test_an_answer_that_is_no_comment(wire, call, line, body):
    wire.answer_token()
    wire.answer(line, 200, body)
    wire.answer(ISSUE, 200, OPEN)

    assert said(call) == (Unreachable, "GitHub answered 200 when asked about a comment.")


@pytest.mark.parametrize("items", [[7], [{"user": OURS, "body": MARK}], ["text"]])
def test_a_list_that_is_none_of_comments(wire, items):
    wire.answer_token()
    wire.answer(LIST, 200, items)

    assert said(find) == (Unreachable, "GitHub's response could not be understood.")


@pytest.mark.parametrize("status", [403, 404])
def test_without_a_token_nothing_is_asked(wire, status):
    wire.answer(TOKEN, status, {"message": "This installation has been suspended"})

    assert said(create)[0] is Suspended
    assert wire.lines == [TOKEN]
