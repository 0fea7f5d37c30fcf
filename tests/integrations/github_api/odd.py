"""Each call to GitHub with its proper answers, and odd ones in their place."""

import copy
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from integrations import github_api
from integrations.github_api import Person, Reached, RepositoryFacts
from integrations.models import Repository
from integrations.models.dressing import Dressing
from tests.integrations.github_api.conftest import TOKEN

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
DATE = "Fri, 20 Nov 2026 12:00:00 GMT"
MARK = "<!-- hub:abc -->"
HERE, BEFORE = Repository(1, 7, "acme/docs"), Repository(1, 7, "acme/old")
ALICE, ONCE = Person(5, "alice"), Person(5, "alice-once")
THERE = Reached(RepositoryFacts(7, "acme", "docs", False, True, False), "token-1")
DRESSED = Dressing(("docs",), ("alice",), "Bug")

REPOSITORY = {
    "id": 7,
    "name": "docs",
    "owner": {"login": "acme"},
    "private": False,
    "has_issues": True,
    "archived": False,
    "has_pages": False,
    "url": "https://api.github.com/repos/acme/docs",
}
GIVEN = {"token": "token-1", "expires_at": "2099-01-01T00:00:00Z", "repositories": [REPOSITORY]}
OURS = {
    "body": f"Text {MARK}",
    "user": {"login": "docs-feedback-hub[bot]", "type": "Bot"},
    "performed_via_github_app": {"id": 1},
}
ISSUE = {
    **OURS,
    "number": 3,
    "html_url": "https://github.com/acme/docs/issues/3",
    "repository_url": "https://api.github.com/repos/acme/docs",
    "state": "closed",
    "state_reason": "completed",
    "closed_at": "2026-11-20T12:00:00Z",
    "updated_at": "2026-11-20T12:00:00Z",
    "locked": False,
    "labels": [{"name": "docs"}],
    "assignees": [{"login": "alice"}],
    "type": {"name": "Bug"},
}
COMMENT = {**OURS, "id": 9, "html_url": "https://github.com/acme/docs/issues/3#issuecomment-9"}
INSTALLATION = {"id": 1, "account": {"login": "acme"}, "permissions": {"issues": "write"}}
APP = {
    "slug": "hub",
    "client_id": "client",
    "permissions": {"issues": "write"},
    "events": ["issues"],
    "owner": {"login": "acme", "type": "Organization"},
}
REGISTERED = APP | {"id": 1, "client_secret": "not-a-secret", "webhook_secret": "", "pem": "PEM"}
HOOK = {"url": "https://hub.example/", "content_type": "json", "insecure_ssl": "0"}
SENT = {
    "event": "issues",
    "action": "closed",
    "delivered_at": "2026-11-20T12:00:00Z",
    "status_code": 202,
    "status": "OK",
}
RIGHT = {"permission": "write", "user": {"id": 5}}
CODE = "POST https://github.com/login/oauth/access_token"
LEVEL = "GET /repositories/7/collaborators/{}/permission"


class Answer(NamedTuple):
    """What GitHub is asked, and what it answers."""

    line: str
    status: int
    body: Any


class Call(NamedTuple):
    """A call with a deadline, and all the answers that it gets; the last is the one that is made odd."""

    make: Callable[[float], Any]
    answers: list[Answer]


def _of(make: Callable[[float], Any], *answers: tuple[str, int, Any]) -> Call:
    return Call(make, [Answer(*each) for each in answers])


_TOKEN = (TOKEN, 201, GIVEN)
_LISTED = {"since": NOON, "now": NOON}
CALLS = {
    "a token": _of(
        lambda d: github_api.close_issue(HERE, 3, deadline=d),
        ("PATCH /repositories/7/issues/3", 200, ISSUE),
        _TOKEN,
    ),
    "reached": _of(lambda d: github_api.reached(1, 7, deadline=d), _TOKEN),
    "create_issue": _of(
        lambda d: github_api.create_issue(HERE, "Title", "Body", deadline=d, dressing=DRESSED),
        _TOKEN,
        ("POST /repositories/7/issues", 201, ISSUE),
    ),
    "close_issue": _of(
        lambda d: github_api.close_issue(HERE, 3, deadline=d),
        _TOKEN,
        ("PATCH /repositories/7/issues/3", 200, ISSUE),
    ),
    "read_issue": _of(
        lambda d: github_api.read_issue(HERE, 3, deadline=d),
        _TOKEN,
        ("GET /repositories/7", 200, REPOSITORY),
        ("GET /repositories/7/issues/3", 200, ISSUE),
    ),
    "read_issue, renamed": _of(
        lambda d: github_api.read_issue(BEFORE, 3, deadline=d),
        _TOKEN,
        ("GET /repositories/7/issues/3", 200, ISSUE),
        ("GET /repositories/7", 200, REPOSITORY),
    ),
    "reopen_issue": _of(
        lambda d: github_api.reopen_issue(HERE, 3, deadline=d),
        _TOKEN,
        ("GET /repositories/7", 200, REPOSITORY),
        ("PATCH /repositories/7/issues/3", 200, ISSUE),
    ),
    "find_issue": _of(
        lambda d: github_api.find_issue(HERE, MARK, deadline=d, **_LISTED),
        _TOKEN,
        ("GET /repositories/7/issues", 200, [ISSUE]),
    ),
    "find_issue, not there": _of(
        lambda d: github_api.find_issue(HERE, "no mark", deadline=d, **_LISTED),
        _TOKEN,
        ("GET /repositories/7/issues", 200, [ISSUE]),
    ),
    "changed_issues": _of(
        lambda d: [*github_api.changed_issues(HERE, since=NOON, deadline=d)],
        _TOKEN,
        ("GET /repositories/7/issues", 200, [ISSUE]),
    ),
    "create_comment": _of(
        lambda d: github_api.create_comment(HERE, 3, "Body", deadline=d),
        _TOKEN,
        ("GET /repositories/7/issues/3", 200, ISSUE),
        ("POST /repositories/7/issues/3/comments", 201, COMMENT),
    ),
    "read_comment": _of(
        lambda d: github_api.read_comment(HERE, 3, 9, deadline=d),
        _TOKEN,
        ("GET /repositories/7/issues/3", 200, ISSUE),
        ("GET /repositories/7/issues/comments/9", 200, COMMENT),
    ),
    "edit_comment": _of(
        lambda d: github_api.edit_comment(HERE, 3, 9, "Body", deadline=d),
        _TOKEN,
        ("GET /repositories/7/issues/3", 200, ISSUE),
        ("PATCH /repositories/7/issues/comments/9", 200, COMMENT),
    ),
    "find_comment": _of(
        lambda d: github_api.find_comment(HERE, 3, MARK, deadline=d, **_LISTED),
        _TOKEN,
        ("GET /repositories/7/issues/3", 200, ISSUE),
        ("GET /repositories/7/issues/3/comments", 200, [COMMENT]),
    ),
    "app_facts": _of(lambda d: github_api.app_facts(deadline=d), ("GET /app", 200, APP)),
    "webhook_facts": _of(
        lambda d: github_api.webhook_facts(deadline=d), ("GET /app/hook/config", 200, HOOK)
    ),
    "sent_webhooks": _of(
        lambda d: github_api.sent_webhooks(deadline=d), ("GET /app/hook/deliveries", 200, [SENT])
    ),
    "takes_credentials": _of(
        lambda d: github_api.takes_credentials(deadline=d),
        (CODE, 200, {"error": "bad_verification_code"}),
    ),
    "registered_app": _of(
        lambda d: github_api.registered_app("code", deadline=d),
        ("POST /app-manifests/code/conversions", 201, REGISTERED),
    ),
    "installation": _of(
        lambda d: github_api.installation(1, deadline=d),
        ("GET /app/installations/1", 200, INSTALLATION),
    ),
    "candidate": _of(
        lambda d: github_api.candidate(1, "acme/docs", person=ALICE, deadline=d),
        ("GET /user/5", 200, {"id": 5, "login": "alice"}),
        (LEVEL.format("alice"), 200, RIGHT),
        _TOKEN,
    ),
    "assignable": _of(
        lambda d: github_api.assignable(1, 7, ["alice"], deadline=d),
        _TOKEN,
        ("GET /repositories/7/assignees/alice", 204, {}),
    ),
    "rights": _of(
        lambda d: github_api.rights(THERE, [ALICE], deadline=d),
        ("GET /user/5", 200, {"id": 5, "login": "alice"}),
        (LEVEL.format("alice"), 200, RIGHT),
    ),
    "rights, renamed": _of(
        lambda d: github_api.rights(THERE, [ONCE], deadline=d),
        (LEVEL.format("alice-once"), 404, {"message": "Not Found"}),
        (LEVEL.format("alice"), 200, RIGHT),
        ("GET /user/5", 200, {"id": 5, "login": "alice"}),
    ),
    "pushable": _of(
        lambda d: github_api.pushable(1, person=ALICE, page=1, deadline=d),
        _TOKEN,
        (LEVEL.format("alice"), 200, RIGHT),
        ("GET /installation/repositories", 200, {"total_count": 1, "repositories": [REPOSITORY]}),
    ),
    "person": _of(
        lambda d: github_api.person("alice", installation_id=None, deadline=d),
        ("GET /users/alice", 200, {"id": 5, "login": "alice", "type": "User"}),
    ),
    "visitor": _of(
        lambda d: github_api.visitor("code", redirect_uri="https://hub.example/", deadline=d),
        ("GET /user", 200, {"id": 5, "login": "alice"}),
        (CODE, 200, {"access_token": "token-1"}),
        ("GET /user/installations", 200, {"installations": [INSTALLATION]}),
    ),
    "visitor, who": _of(
        lambda d: github_api.visitor("code", redirect_uri="https://hub.example/", deadline=d),
        (CODE, 200, {"access_token": "token-1"}),
        ("GET /user/installations", 200, {"installations": [INSTALLATION]}),
        ("GET /user", 200, {"id": 5, "login": "alice"}),
    ),
}

STATUSES = [
    *(200, 201, 202, 204, 301, 302, 304, 307, 308, 400, 401, 403, 404, 409, 410, 422, 429),
    *(451, 500, 502, 503, 504, 520),
]
BODIES = [
    "<html>",
    "{}",
    '{"message": "\\ud800\\u0000\\u202e", "errors": [null, 7, [], {"field": {}, "value": {}}]}',
]
VALUES = [None, [], {}, "", "\ud800", "a\u0000b", "x" * 999, -1, 2**63, 1.5, float("inf"), True]
TIMES = ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59", "2026-11-20T12:00:00"]
HEADERS = [
    {"Date": "Mon, 01 Jan 0001 00:00:00 GMT"},
    {"Date": "Fri, 31 Dec 9999 23:59:59 GMT"},
    {"Retry-After": "-1"},
    {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "4290000000"},
    {"X-RateLimit-Remaining": "²", "X-RateLimit-Reset": "NaN"},
    {"Link": '<>; rel="next"'},
]


def answers(proper: Answer) -> Iterator[tuple[int, str, dict[str, str]]]:
    """Status, body and headers of each odd answer in place of the proper one."""
    for status in STATUSES:
        yield from ((status, body, {}) for body in BODIES)
    for headers in HEADERS:
        yield from ((status, json.dumps(proper.body), headers) for status in (proper.status, 403))
    for path in _paths(proper.body):
        changed = [*VALUES, *(TIMES if str(path[-1]).endswith("_at") else [])]
        yield from ((proper.status, json.dumps(_with(proper.body, path, to)), {}) for to in changed)
        yield proper.status, json.dumps(_without(proper.body, path)), {}


def _paths(body: Any, here: tuple = ()) -> Iterator[tuple]:
    """Where there is a value in the JSON, at any depth."""
    inner = body.items() if isinstance(body, dict) else enumerate(body)
    for key, value in inner:
        yield (*here, key)
        if isinstance(value, dict | list):
            yield from _paths(value, (*here, key))


def _with(body: Any, path: tuple, value: Any) -> Any:
    changed = there = copy.deepcopy(body)
    for key in path[:-1]:
        there = there[key]
    there[path[-1]] = value
    return changed


def _without(body: Any, path: tuple) -> Any:
    changed = there = copy.deepcopy(body)
    for key in path[:-1]:
        there = there[key]
    del there[path[-1]]
    return changed
