"""One issue, one POST: what is sent, and what becomes of each answer."""

from datetime import UTC, datetime, timedelta, timezone
from functools import partial

import pytest

from core import deadlines
from integrations import github_api
from integrations.github_api import (
    Blocked,
    Forbidden,
    Gone,
    Issue,
    Limited,
    OtherTime,
    OutcomeUnknown,
    Refused,
    RefusedText,
    Suspended,
    TimedOut,
    Unfinished,
    Unreachable,
)
from integrations.github_api.answers import OTHER_TIME
from integrations.models import Repository
from tests.integrations.github_api.conftest import TOKEN, at_once, said, settled, soon
from tests.integrations.github_api.faults import LOST, NEVER_CONNECTED

MAY_NOT_WRITE = (
    "The app may not write issues in acme/docs. Give it the permission Issues: read and write, "
    "then press Try again."
)

DOCS = Repository(1, 7, "acme/docs")
POST, LIST = "POST /repositories/7/issues", "GET /repositories/7/issues"
REPOSITORY, THERE = "GET /repositories/7", {"has_issues": True, "archived": False}
MADE = {"number": 3, "html_url": "https://github.com/acme-now/docs/issues/3"}
NOON, DATE = datetime(2026, 11, 20, 12, tzinfo=UTC), "Fri, 20 Nov 2026 12:00:00 GMT"
TOO_LONG = {"field": "body", "code": "custom", "message": "body is too long (maximum is 65536)"}


def create(deadline: float | None = None) -> Issue:
    return github_api.create_issue(DOCS, "A title", "A body", deadline=deadline or soon())


def find(
    since: datetime = NOON, deadline: float | None = None, *, now: datetime | None = None
) -> Issue | None:
    return github_api.find_issue(
        DOCS,
        "<!-- hub:1 -->",
        since=since,
        now=now or datetime.now(UTC),
        deadline=deadline or soon(),
    )


def test_what_is_sent(wire):
    wire.answer_token()
    wire.answer(POST, 201, MADE)

    create()

    minted, posted = wire.sent
    assert (minted.line, minted.query) == (TOKEN, {})
    assert minted.json == {"repository_ids": [7], "permissions": {"issues": "write"}}
    assert (posted.line, posted.query) == (POST, {})
    assert posted.json == {"title": "A title", "body": "A body"}
    assert posted.headers["authorization"] == "token token-1"


@pytest.mark.parametrize(
    ("answer", "headers", "issue"),
    [
        (MADE, {}, Issue(3, MADE["html_url"])),
        (MADE, {"X_RateLimit_Remaining": "4999"}, Issue(3, MADE["html_url"], 4999)),
        (MADE, {"X_RateLimit_Remaining": "0"}, Issue(3, MADE["html_url"], 0)),
        (MADE, {"Retry_After": "120"}, Issue(3, MADE["html_url"])),
        ({"number": 3}, {}, Issue(3, "https://github.com/acme/docs/issues/3")),
        ({"number": 3, "html_url": None}, {}, Issue(3, "https://github.com/acme/docs/issues/3")),
    ],
)
def test_an_issue_that_was_made(wire, answer, headers, issue):
    wire.answer_token()
    wire.answer(POST, 201, answer, **headers)

    assert create() == issue


UNKNOWN = [
    (201, {}, {}),
    (201, {"number": None}, {}),
    (201, {"number": "3"}, {}),
    (201, {"number": True}, {}),
    (201, [MADE], {}),
    (201, "", {}),
    (201, '{"number": 3, "html_u', {}),
    (200, MADE, {}),
    (202, MADE, {}),
    (204, "", {}),
    (301, {"message": "Moved Permanently"}, {}),
    (302, "", {"Location": "https://api.github.com/repositories/8/issues"}),
    (303, "", {"Location": "https://api.github.com/repositories/8/issues"}),
    (307, "", {"Location": "https://api.github.com/repositories/8/issues"}),
    (308, "", {"Location": "https://api.github.com/repositories/8/issues"}),
    (500, {"message": "Server Error"}, {}),
    (502, "<html>Unicorn!</html>", {}),
    (503, "", {"Retry_After": "120"}),
    (504, "", {}),
]


@pytest.mark.parametrize(("status", "body", "headers"), UNKNOWN)
def test_an_answer_that_leaves_open_whether_there_is_an_issue(wire, status, body, headers):
    wire.answer_token()
    wire.answer(POST, status, body, **headers)

    assert said(create) == (OutcomeUnknown, f"GitHub answered {status} without an issue.")
    assert wire.lines == [TOKEN, POST]


def test_a_header_of_its_limit_that_makes_no_sense_leaves_nothing_open(wire):
    wire.answer_token()
    wire.answer(POST, 201, MADE, X_RateLimit_Remaining="0", X_RateLimit_Reset="soon")

    assert create().number == MADE["number"]


@pytest.mark.parametrize("fault", LOST)
def test_an_answer_that_was_lost(wire, fault):
    wire.answer_token()
    wire.answer(POST, body=LOST[fault])

    assert said(create) == (
        OutcomeUnknown,
        "The connection to GitHub was lost before it answered.",
    )
    assert wire.lines == [TOKEN, POST]


@pytest.mark.parametrize("fault", NEVER_CONNECTED)
def test_where_no_byte_was_sent_nothing_was_made(wire, fault):
    wire.answer_token()
    wire.answer(POST, body=NEVER_CONNECTED[fault])

    assert said(create) == (Unreachable, "GitHub could not be reached.")
    assert wire.lines == [TOKEN, POST]


REFUSALS = [
    (401, "Bad credentials", Blocked, "GitHub does not accept the app's token for acme/docs."),
    (
        403,
        "Repository was archived so is read-only.",
        Blocked,
        "acme/docs is archived. Unarchive it, then press Try again.",
    ),
    (
        403,
        "Resource not accessible by integration",
        Blocked,
        MAY_NOT_WRITE,
    ),
    (
        404,
        "Not Found",
        Gone,
        "The app can't see acme/docs. Give it access on GitHub, or choose another repository.",
    ),
    (
        410,
        "Issues are disabled for this repo",
        Blocked,
        "Issues are turned off in acme/docs. Turn them on, then press Try again.",
    ),
    (400, "Problems parsing JSON", Refused, "GitHub refused the issue: Problems parsing JSON."),
    (422, "Validation Failed", Refused, "GitHub refused the issue: Validation Failed."),
    (422, "", Refused, "GitHub refused the issue: 422."),
    (409, None, Refused, "GitHub refused the issue: 409."),
]
UNKNOWN = [  # reasons that may be about the repository, or about the text
    (403, "The `acme` organization has an IP allow list enabled."),
    (451, "Repository access blocked"),
]


@pytest.mark.parametrize(("status", "message", "error", "sentence"), REFUSALS)
def test_a_refusal_in_words(wire, status, message, error, sentence):
    wire.answer_token()
    wire.answer(POST, status, {"message": message})
    if status == 401:  # asked once more, with another token
        wire.answer_token(2)
        wire.answer(POST, status, {"message": message})

    assert said(create) == (error, sentence)
    assert wire.lines == [TOKEN, POST] * (2 if status == 401 else 1)


@pytest.mark.parametrize(("status", "message"), UNKNOWN)
@pytest.mark.parametrize(
    ("asked", "said_of_it"),
    [
        (403, {"message": "The `acme` organization has an IP allow list enabled."}),
        (502, None),
        (200, THERE | {"has_issues": False}),
        (200, THERE | {"archived": True}),
        (200, {}),
        (200, []),
    ],
)
def test_who_is_refused_for_an_unknown_reason_asks_whether_the_repository_takes_issues(
    wire, status, message, asked, said_of_it
):
    wire.answer_token()
    wire.answer(POST, status, {"message": message})
    wire.answer(REPOSITORY, asked, said_of_it)

    why = message.rstrip(".")
    assert said(create) == (
        Forbidden,
        f"GitHub refuses issues in acme/docs: {why}. Change that, then press Try again.",
    )
    assert wire.lines == [TOKEN, POST, REPOSITORY]


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ("Forbidden by a policy.", "Forbidden by a policy"),
        ("x\0y" * 200, "x y" * 40),
        (None, "451"),
    ],
)
def test_what_stops_a_repository_repeats_nothing_of_a_report(wire, message, why):
    """All members and operators read it, also once that report is erased."""
    errors = [{"field": "title", "message": "title contains 'Alice Smith'"}]
    wire.answer_token()
    wire.answer(POST, 451, {"message": message, "errors": errors})
    wire.answer(REPOSITORY, 502)

    assert said(create) == (
        Forbidden,
        f"GitHub refuses issues in acme/docs: {why}. Change that, then press Try again.",
    )


@pytest.mark.parametrize(("status", "message"), UNKNOWN)
def test_where_it_does_the_text_is_what_is_refused(wire, status, message):
    """An attack: a firewall before the code host answers so to some words, and the next issue is others'."""
    wire.answer_token()
    wire.answer(POST, status, {"message": message})
    wire.answer(REPOSITORY, 200, THERE)

    why = message.rstrip(".")
    assert said(create) == (RefusedText, f"GitHub refuses this issue, and says: {why}.")


@pytest.mark.parametrize(
    ("errors", "reason"),
    [
        ([TOO_LONG], "body is too long (maximum is 65536)"),
        (
            [TOO_LONG, {"resource": "Issue", "field": "title", "code": "missing_field"}],
            "body is too long (maximum is 65536); title missing_field",
        ),
        (["Title is a duplicate", 7], "Title is a duplicate; 7"),
        ([], "Validation Failed"),
        ([{}], "Validation Failed"),
        ("Title is a duplicate", "Validation Failed"),
        (None, "Validation Failed"),
    ],
)
def test_what_github_calls_invalid_is_told_with_all_its_reasons(wire, errors, reason):
    wire.answer_token()
    wire.answer(POST, 422, {"message": "Validation Failed", "errors": errors})

    assert said(create) == (Refused, f"GitHub refused the issue: {reason}.")


LIMITS = [
    (403, {"Retry_After": "120"}, "", 120),
    (403, {"Retry_After": "120", "X_RateLimit_Remaining": "4000"}, "", 120),
    (429, {"Retry_After": "120"}, "", 120),
    (429, {"Retry_After": "Fri, 20 Nov 2026 12:05:00 GMT"}, "", 300),
    (429, {"Retry_After": "Fri, 20 Nov 2026 11:00:00 GMT"}, "", 1),
    (429, {"Retry_After": "Fri, 20 Nov 2027 12:00:00 GMT"}, "", 3600),
    (429, {"Retry_After": "Fri, 31 Dec 9999 23:59:59 -2359"}, "", 60),
    (429, {"Retry_After": "1e9"}, "", 60),
    (429, {"Retry_After": "1000000000"}, "", 3600),
    (429, {"Retry_After": "abc"}, "", 60),
    (429, {}, "", 60),
    (403, {"X_RateLimit_Remaining": "0", "X_RateLimit_Reset": f"{NOON.timestamp() + 90:.0f}"}, "", 90),
    (403, {"X_RateLimit_Remaining": "0"}, "", 60),
    (403, {}, "API rate limit exceeded for installation 1.", 60),
    (403, {}, "You have exceeded a secondary rate limit.", 60),
]  # fmt: skip


@pytest.mark.parametrize(("status", "headers", "message", "seconds"), LIMITS)
def test_a_rate_limit_says_how_long_to_wait(wire, status, headers, message, seconds):
    wire.answer_token()
    wire.answer(POST, status, {"message": message}, Date=DATE, **headers)

    with pytest.raises(Limited) as limited:
        create()

    assert limited.value.wait == timedelta(seconds=seconds)
    assert str(limited.value) == (
        f"GitHub's rate limit is reached; it asked us to wait {seconds} seconds."
    )
    assert wire.lines == [TOKEN, POST]


def test_a_token_is_used_again(wire):
    wire.answer_token()
    wire.answer(POST, 201, {"number": 3})
    wire.answer(POST, 201, {"number": 4})

    assert [create().number, create().number] == [3, 4]
    assert wire.lines == [TOKEN, POST, POST]


def test_a_token_that_was_revoked_is_minted_once_more(wire):
    wire.answer_token(1)
    wire.answer(POST, 401, {"message": "Bad credentials"})
    wire.answer_token(2)
    wire.answer(POST, 201, MADE)

    assert create().number == 3
    assert wire.lines == [TOKEN, POST, TOKEN, POST]
    assert wire.sent[3].headers["authorization"] == "token token-2"


def test_after_a_401_the_new_token_may_be_refused(wire):
    wire.answer_token(1)
    wire.answer(POST, 401, {"message": "Bad credentials"})
    wire.answer(TOKEN, 404, {"message": "Not Found"})

    assert said(create)[0] is Suspended
    assert wire.lines == [TOKEN, POST, TOKEN]


def test_without_a_token_there_is_no_post(wire):
    wire.answer(TOKEN, 500)

    assert said(create) == (Unreachable, "GitHub answered 500 when asked for a token.")
    assert wire.lines == [TOKEN]


def test_a_redirect_of_the_repository_is_followed_with_the_same_post(wire):
    wire.answer_token()
    wire.answer(POST, 301, "", Location="https://api.github.com/repositories/8/issues")
    wire.answer("POST /repositories/8/issues", 201, MADE)

    assert create().number == 3
    assert wire.sent[2].json == wire.sent[1].json


def test_a_redirect_to_another_host_gets_neither_text_nor_token(wire):
    wire.answer_token()
    wire.answer(POST, 301, "", Location="https://evil.example/repositories/7/issues")

    assert said(create)[0] is OutcomeUnknown
    assert wire.lines == [TOKEN, POST]


def test_a_post_without_an_answer_at_the_deadline_has_an_unknown_outcome(wire, monkeypatch):
    wire.answer_token()
    answer = wire.answer_late(POST, 201, MADE)

    def leave(future, _, wait=deadlines._result):
        assert answer.is_asked_for.wait(60)
        return wait(future, 0)

    monkeypatch.setattr(deadlines, "_result", leave)

    assert said(create) == (OutcomeUnknown, "GitHub took too long to answer.")
    answer.let_go()


def test_a_token_that_comes_after_the_deadline_posts_nothing(wire):
    token = {"token": "token-1", "expires_at": "2099-01-01T00:00:00Z"}
    answer = wire.answer_late(TOKEN, 201, token)

    outcome = said(partial(create, at_once()))
    answer.let_go()

    assert settled()
    assert outcome == (TimedOut, "GitHub took too long to answer.")
    assert wire.lines == [TOKEN]


OURS = {
    "number": 5,
    "html_url": "https://github.com/acme/docs/issues/5",
    "body": "Text\n\n<!-- hub:1 -->",
    "user": {"login": "docs-feedback-hub[bot]", "type": "Bot"},
    "updated_at": "2026-11-20T12:00:01Z",
}
FOUND = Issue(5, "https://github.com/acme/docs/issues/5")


def test_what_is_asked_for_when_an_issue_is_looked_for(wire):
    wire.answer_token()
    wire.answer(LIST, 200, [])
    two_hours_east = datetime(2026, 11, 20, 14, 0, 0, 999, tzinfo=timezone(timedelta(hours=2)))

    assert find(since=two_hours_east) is None

    listed = wire.sent[1]
    assert listed.headers["authorization"] == "token token-1"
    assert listed.query == {
        "state": "all",
        "since": "2026-11-20T12:00:00Z",
        "sort": "updated",
        "direction": "asc",
        "per_page": "100",
        "page": "1",
    }


@pytest.mark.parametrize(
    ("item", "found"),
    [
        (OURS, FOUND),
        (OURS | {"state": "closed"}, FOUND),
        (OURS | {"user": {"login": "Docs-Feedback-Hub[bot]", "type": "Bot"}}, FOUND),
        (OURS | {"performed_via_github_app": None}, FOUND),
        (OURS | {"user": {"login": "former[bot]", "type": "Bot"},
                 "performed_via_github_app": {"id": 1}}, FOUND),
        (OURS | {"user": {"login": "charlie", "type": "User"},
                 "performed_via_github_app": {"id": 1}}, None),
        (OURS | {"user": {"login": "former[bot]", "type": "Bot"},
                 "performed_via_github_app": {"id": 2}}, None),
        (OURS | {"performed_via_github_app": {"id": 2}}, None),  # an app that has its former name
        (OURS | {"user": {"login": "docs-feedback-hub", "type": "User"}}, None),
        (OURS | {"user": {"login": "charlie", "type": "User"}}, None),
        (OURS | {"user": None}, None),
        (OURS | {"body": "<!-- hub:2 -->"}, None),
        (OURS | {"body": None}, None),
    ],
)  # fmt: skip
def test_only_the_marker_in_an_issue_of_the_app_counts(wire, item, found):
    wire.answer_token()
    wire.answer(LIST, 200, [item])

    assert find() == found


def test_an_app_without_a_number_is_known_by_its_name_alone(wire, settings):
    wire.answer_token()
    wire.answer(LIST, 200, [OURS | {"performed_via_github_app": {"id": None}}])
    find_with_a_number = find()
    wire.answer_token()
    wire.answer(LIST, 200, [OURS | {"performed_via_github_app": {"id": 1}}])
    github_api.forget_tokens()
    settings.HUB_GITHUB_APP_SLUG = ""

    assert find_with_a_number == find() == FOUND


MORE = '<https://api.github.com/x?page=9>; rel="next", <x>; rel="last"'


def updated(*seconds: int) -> list[dict]:
    """Somebody else's issues, updated so long after noon."""
    times = ((NOON + timedelta(seconds=each)).strftime("%Y-%m-%dT%H:%M:%SZ") for each in seconds)
    return [OURS | {"body": "Other", "updated_at": each} for each in times]


def test_each_page_begins_where_the_one_before_ended(wire):
    """What is updated meanwhile moves to the end, and shifts no page."""
    wire.answer_token()
    wire.answer(LIST, 200, updated(5, 60), Link=MORE)
    wire.answer(LIST, 200, updated(60, 60), Link=MORE)
    wire.answer(LIST, 200, [], Link=MORE)
    wire.answer(LIST, 200, updated(60, 90), Link=MORE)
    wire.answer(LIST, 200, updated(60, 60), Link=MORE)
    wire.answer(LIST, 200, [], Link=MORE)
    wire.answer(LIST, 200, [OURS], Link='<x>; rel="prev", <y>; rel="first"')

    assert find() == FOUND
    assert [(each.query["since"][-9:], each.query["page"]) for each in wire.sent[1:]] == [
        ("12:00:00Z", "1"),
        ("12:00:59Z", "1"),  # a second is read again: another issue may have it
        ("12:00:59Z", "2"),  # all are of one second
        ("12:00:59Z", "3"),
        ("12:00:59Z", "1"),  # nothing has moved meanwhile
        ("12:00:59Z", "2"),
        ("12:01:29Z", "1"),
    ]


def test_a_look_without_an_end_says_how_far_it_came(wire, monkeypatch):
    monkeypatch.setattr(deadlines, "_result", lambda future, _: future.result())
    wire.answer_token()
    wire.answer(LIST, 200, updated(5, 60), Link=MORE, Date="Fri, 20 Nov 2026 13:00:00 GMT")

    with pytest.raises(Unfinished) as unfinished:
        find(deadline=-1.0)

    assert unfinished.value.until == NOON + timedelta(seconds=59)
    assert wire.lines == [TOKEN, LIST]


@pytest.mark.parametrize("hours", [-3, 3, 48])
def test_nothing_is_missing_by_the_wrong_clock(wire, hours):
    """What was sent before the time that is asked about is in no list."""
    wire.answer_token()
    wire.answer(LIST, 200, [], Date=DATE)
    wire.answer(LIST, 200, [OURS], Date=DATE)
    by = partial(find, now=NOON + timedelta(hours=hours))

    assert said(by) == (OtherTime, OTHER_TIME)
    assert by() == FOUND
    assert "An operator of this Hub has to fix this." in OTHER_TIME


@pytest.mark.parametrize("time", ["soon", None, 7])
def test_a_page_without_times_is_not_understood(wire, time):
    wire.answer_token()
    wire.answer(LIST, 200, [OURS | {"body": "Other", "updated_at": time}], Link=MORE)

    assert said(find) == (Unreachable, "GitHub's response could not be understood.")


def test_after_the_page_with_the_issue_no_other_is_asked_for(wire):
    wire.answer_token()
    wire.answer(LIST, 200, [OURS], Link='<x>; rel="next"')

    assert find() == FOUND
    assert wire.lines == [TOKEN, LIST]


def test_after_the_deadline_no_other_page_is_asked_for(wire):
    wire.answer_token()
    first_page = wire.answer_late(LIST, 200, [], Link='<x>; rel="next"')

    outcome = said(partial(find, deadline=at_once()))
    first_page.let_go()

    assert settled()
    assert outcome == (TimedOut, "GitHub took too long to answer.")
    assert wire.lines == [TOKEN, LIST]


NO_LIST = [
    (200, {}, Unreachable, "GitHub answered 200 when asked for issues."),
    (200, "[{", Unreachable, "GitHub answered 200 when asked for issues."),
    (200, ["text"], Unreachable, "GitHub's response could not be understood."),
    (200, [OURS | {"user": "text"}], Unreachable, "GitHub's response could not be understood."),
    (302, "", Unreachable, "GitHub answered 302 when asked for issues."),
    (500, "", Unreachable, "GitHub answered 500 when asked for issues."),
    (
        403,
        {},
        Blocked,
        MAY_NOT_WRITE,
    ),
    (
        404,
        {},
        Gone,
        "The app can't see acme/docs. Give it access on GitHub, or choose another repository.",
    ),
    (
        410,
        {},
        Blocked,
        "Issues are turned off in acme/docs. Turn them on, then press Try again.",
    ),
    (
        429,
        {},
        Limited,
        "GitHub's rate limit is reached; it asked us to wait 60 seconds.",
    ),
]


@pytest.mark.parametrize(("status", "body", "error", "sentence"), NO_LIST)
def test_where_there_is_no_list_nothing_is_known(wire, status, body, error, sentence):
    wire.answer_token()
    wire.answer(LIST, status, body)

    assert said(find) == (error, sentence)


@pytest.mark.parametrize("fault", NEVER_CONNECTED | LOST)
def test_a_list_that_did_not_arrive_is_asked_for_later(wire, fault):
    wire.answer_token()
    wire.answer(LIST, body=(NEVER_CONNECTED | LOST)[fault])

    assert said(find) == (Unreachable, "GitHub could not be reached.")
    assert wire.lines == [TOKEN, LIST]


def test_a_list_is_asked_for_once_more_with_another_token(wire):
    wire.answer_token(1)
    wire.answer(LIST, 401)
    wire.answer_token(2)
    wire.answer(LIST, 200, [OURS])

    assert find() == FOUND
    assert wire.sent[3].headers["authorization"] == "token token-2"


def test_a_second_401_of_the_list_blocks(wire):
    wire.answer_token(1)
    wire.answer(LIST, 401)
    wire.answer_token(2)
    wire.answer(LIST, 401)

    assert said(find) == (Blocked, "GitHub does not accept the app's token for acme/docs.")


def test_a_hub_that_does_not_know_its_app_asks_nothing(wire, settings):
    settings.HUB_GITHUB_APP_SLUG = settings.HUB_GITHUB_APP_ID = ""

    assert said(find) == (
        Unreachable,
        "The Hub's GitHub App is not configured. An operator of this Hub has to fix this.",
    )


PATCH = "PATCH /repositories/7/issues/3"


def close() -> None:
    github_api.close_issue(DOCS, 3, deadline=soon())


def test_an_issue_is_closed_as_completed(wire):
    wire.answer_token()
    wire.answer(PATCH, 200, MADE)

    close()

    assert wire.sent[-1].json == {"state": "closed", "state_reason": "completed"}


def test_an_issue_is_closed_with_a_new_token_where_the_old_one_is_revoked(wire):
    wire.answer_token()
    wire.answer(PATCH, 401, {"message": "Bad credentials"})
    wire.answer(PATCH, 200, MADE)

    close()

    assert [each.line for each in wire.sent] == [TOKEN, PATCH, TOKEN, PATCH]


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (401, {"message": "Bad credentials"}, Blocked),
        (403, {"message": "Repository was archived so is read-only."}, Blocked),
        (403, {"message": "You have exceeded a secondary rate limit."}, Limited),
        (404, {"message": "Not Found"}, Blocked),
        (410, {"message": "This issue was deleted"}, Blocked),
        (422, {"message": "Validation Failed"}, Refused),
        (429, {"message": "Slow down"}, Limited),
        (500, "", Unreachable),
        (502, "<html>", Unreachable),
    ],
)
def test_an_issue_that_is_not_closed(wire, status, body, error):
    wire.answer_token()
    wire.answer(PATCH, status, body)

    with pytest.raises(error):
        close()


@pytest.mark.parametrize("fault", NEVER_CONNECTED | LOST)
def test_closing_may_be_tried_again_after_any_fault(wire, fault):
    wire.answer_token()
    wire.answer(PATCH, body=(NEVER_CONNECTED | LOST)[fault])

    with pytest.raises(Unreachable):
        close()
