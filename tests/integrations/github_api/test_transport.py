"""One request: what all of them carry, where they go, and what becomes of what comes back."""

import time
from functools import partial
from typing import Any

import jwt
import pytest

from core import deadlines, outgoing
from integrations.github_api import Busy, Limited, TimedOut, Unreachable, transport
from tests.conftest import key_pair
from tests.integrations.github_api.conftest import said, soon
from tests.integrations.github_api.faults import LOST, NEVER_CONNECTED

UNREACHED = (Unreachable, "GitHub could not be reached.")
NO_SENSE = (Unreachable, "GitHub's response could not be understood.")
NO_KEY = (Unreachable, "The Hub has no key for GitHub. An operator of this Hub has to fix this.")
FORM = "POST https://github.com/login/oauth/access_token"


def ask(verb: str = "GET", **arguments: Any):
    return transport.ask(None, verb, "/app", **arguments)


def look_up(**parameters: Any):
    return transport.look_up(transport.with_token("token-1"), "/app", **parameters)


def test_what_every_request_carries(wire):
    wire.answer("GET /app")
    wire.answer("GET /app")
    wire.answer("POST /app")

    transport.ask(transport.with_token("token-1"), "GET", "/app", parameters={"page": 2})
    transport.ask(None, "GET", "/app")
    transport.ask(None, "POST", "/app", fields={"title": "é"})

    named, nameless, posted = wire.sent
    for each in wire.sent:
        assert each.headers["accept"] == "application/vnd.github+json"
        assert each.headers["x-github-api-version"] == "2022-11-28"
        assert each.headers["user-agent"] == "docs-feedback-hub"
        assert each.timeout == 5
    assert (named.headers["authorization"], named.query) == ("token token-1", {"page": "2"})
    assert "authorization" not in nameless.headers | posted.headers
    assert (nameless.json, nameless.query) == (None, {})
    assert (posted.json, posted.headers["content-type"]) == ({"title": "é"}, "application/json")


def test_the_app_signs_with_its_key_for_a_few_minutes(wire):
    wire.answer("GET /app")
    before = int(time.time())

    transport.ask(transport.as_app(), "GET", "/app")

    scheme, token = wire.sent[0].headers["authorization"].split()
    claims = jwt.decode(token, key_pair()[1], algorithms=["RS256"], options={"verify_iat": False})
    signed_at = claims["iat"] + 60
    assert (scheme, claims["iss"]) == ("Bearer", "1")
    assert before <= signed_at <= int(time.time())
    assert 0 < claims["exp"] - claims["iat"] <= 600


@pytest.mark.parametrize(
    ("url", "api"),
    [
        ("https://github.com", "https://api.github.com"),
        ("https://github.acme.example", "https://github.acme.example/api/v3"),
        ("http://127.0.0.1:8001", "http://127.0.0.1:8001/api/v3"),
    ],
)
def test_where_the_api_and_the_forms_are(wire, settings, url, api):
    settings.HUB_GITHUB_URL = url
    wire.answer(f"GET {api}/app", body={"slug": "here"})
    wire.answer(f"POST {url}/login/oauth/access_token", body={"error": "none"})

    assert ask().body == {"slug": "here"}
    assert transport.post_form("/login/oauth/access_token", {}).body == {"error": "none"}


def with_literal_line_ends(_) -> str:
    return key_pair()[0].replace("\n", "\\n")


def in_a_file(folder) -> str:
    (folder / "key.pem").write_text(key_pair()[0])
    return str(folder / "key.pem")


def in_a_file_with_literal_line_ends(folder) -> str:
    (folder / "key.pem").write_text(with_literal_line_ends(folder))
    return str(folder / "key.pem")


@pytest.mark.parametrize(
    "written", [with_literal_line_ends, in_a_file, in_a_file_with_literal_line_ends]
)
def test_how_the_key_may_be_given(wire, settings, tmp_path, written):
    settings.HUB_GITHUB_PRIVATE_KEY = written(tmp_path)

    assert transport.private_key() == key_pair()[0]
    assert transport.as_app()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HUB_GITHUB_PRIVATE_KEY", ""),
        ("HUB_GITHUB_PRIVATE_KEY", "/nowhere/key.pem"),
        ("HUB_GITHUB_PRIVATE_KEY", "BEGIN and nothing else"),
        ("HUB_GITHUB_PRIVATE_KEY", key_pair()[1]),
        ("HUB_GITHUB_APP_ID", ""),
    ],
    ids=["none", "no file", "no key", "the public one", "no number"],
)
def test_without_a_key_nothing_is_asked(wire, settings, name, value):
    setattr(settings, name, value)

    assert said(transport.as_app) == NO_KEY


@pytest.mark.parametrize("token", ["", None, 7, ["token-1"]])
def test_what_is_no_token_is_not_sent(token):
    assert said(partial(transport.with_token, token)) == (
        Unreachable,
        "GitHub answered without a token when asked for one.",
    )


@pytest.mark.parametrize("fault", NEVER_CONNECTED | LOST)
def test_a_broken_connection_is_told_and_nothing_is_asked_twice(wire, fault):
    wire.answer("GET /app", body=(NEVER_CONNECTED | LOST)[fault])

    assert said(ask) == UNREACHED
    assert wire.lines == ["GET /app"]


@pytest.mark.parametrize("fault", NEVER_CONNECTED | LOST)
def test_whether_a_byte_was_sent(fault):
    assert transport.never_connected((NEVER_CONNECTED | LOST)[fault]) == (fault in NEVER_CONNECTED)


def test_an_error_without_a_cause_may_have_sent_something():
    assert not transport.never_connected(transport.requests.ConnectionError())
    assert not transport.never_connected(ValueError("of PyGithub"))


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 422, 429, 500, 502, 503, 504])
@pytest.mark.parametrize("verb", ["GET", "POST"])
def test_whatever_the_status_is_nothing_is_asked_twice(wire, verb, status):
    wire.answer(f"{verb} /app", status, {"message": "No"}, Retry_After="0")

    answer = ask(verb)

    assert (answer.status, answer.message) == (status, "No")
    assert answer.headers["retry-after"] == "0"
    assert wire.lines == [f"{verb} /app"]


@pytest.mark.parametrize("status", [302, 303, 304, 307, 308])
def test_a_redirect_is_an_answer_like_any_other(wire, status):
    wire.answer("GET /app", status, "", Location="https://api.github.com/elsewhere")

    assert ask().status == status
    assert wire.lines == ["GET /app"]


def test_what_has_moved_for_good_is_asked_for_there(wire):
    wire.answer("GET /app", 301, "", Location="https://api.github.com/elsewhere")
    wire.answer("GET /elsewhere", 200, {"slug": "here"})

    assert ask().body == {"slug": "here"}


def test_what_is_asked_for_at_another_place_is_the_same(wire):
    wire.answer("GET /app", 301, "", Location="/elsewhere")
    wire.answer("GET /app", 301, "", Location="/elsewhere?state=all&page=2")
    wire.answer("GET /elsewhere")

    ask(parameters={"state": "all", "page": 2})
    ask(parameters={"state": "all", "page": 2})

    there = [each.query for each in wire.sent if each.line == "GET /elsewhere"]
    assert there == [{"state": "all", "page": "2"}] * 2


@pytest.mark.parametrize("verb", ["GET", "POST"])
def test_a_loop_of_redirects_is_left_after_one(wire, verb):
    wire.answer(f"{verb} /app", 301, "", Location="https://api.github.com/elsewhere")
    wire.answer(f"{verb} /elsewhere", 301, "", Location="https://api.github.com/app")

    assert ask(verb).status == 301
    assert wire.lines == [f"{verb} /app", f"{verb} /elsewhere"]


def test_what_github_is_still_preparing_is_not_waited_for(wire):
    wire.answer("GET /app", 202, {})

    assert ask().status == 202
    assert wire.lines == ["GET /app"]


@pytest.mark.parametrize(
    "location",
    [
        "https://evil.example/app",
        "https://api.github.com:8443/app",
        "http://api.github.com/app",
        "https://api.github.com/app",
    ],
    ids=["another host", "another port", "without TLS", "to itself"],
)
def test_a_redirect_that_leads_nowhere(wire, location):
    wire.answer("GET /app", 301, "", Location=location)

    assert said(ask) == NO_SENSE
    assert wire.lines == ["GET /app"]


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ('{"slug": "docs"}', {"slug": "docs"}),
        ("[1]", [1]),
        ('{"slug": "do', None),
        ("<html>Unicorn!</html>", None),
        ("null", None),
        ("", None),
        ("[" * 100_000, None),
    ],
    ids=["object", "list", "truncated", "page", "null", "nothing", "deep"],
)
def test_what_is_no_json_is_none(wire, text, body):
    wire.answer("GET /app", body=text)
    wire.answer(FORM, body=text)

    assert ask().body == body
    assert transport.post_form("/login/oauth/access_token", {}).body == body


@pytest.mark.parametrize("charset", ["latin-1", "idna", "none", "utf-16"])
def test_json_is_utf_8_whatever_it_is_said_to_be(wire, charset):
    wire.answer(
        "GET /app", body='{"slug": "é"}', Content_Type=f"application/json; charset={charset}"
    )
    wire.answer(FORM, body='{"slug": "é"}', Content_Type=f"application/json; charset={charset}")

    assert ask().body == {"slug": "é"}
    assert transport.post_form("/login/oauth/access_token", {}).body == {"slug": "é"}


def test_an_answer_that_is_too_large_is_as_good_as_none(wire, monkeypatch):
    monkeypatch.setattr(outgoing, "LARGEST", 1000)
    wire.answer("GET /app", body="1" * 1001)
    wire.answer(FORM, body="1" * 1001)

    assert said(ask) == UNREACHED
    assert said(partial(transport.post_form, "/login/oauth/access_token", {})) == UNREACHED


def test_what_is_looked_up(wire):
    wire.answer("GET /app", 200, {"slug": "docs"})

    assert look_up(page=1) == {"slug": "docs"}
    assert wire.sent[0].query == {"page": "1"}
    assert wire.sent[0].headers["authorization"] == "token token-1"


def test_what_is_not_there_is_none(wire):
    wire.answer("GET /app", 404, {"message": "Not Found"})

    assert look_up() is None


@pytest.mark.parametrize(
    ("status", "body", "headers", "error", "sentence"),
    [
        (200, "", {}, Unreachable, "GitHub answered 200 without the requested data."),
        (200, '{"id": 7', {}, Unreachable, "GitHub answered 200 without the requested data."),
        (301, "", {}, Unreachable, "GitHub answered 301 without the requested data."),
        (401, {}, {}, Unreachable, "GitHub answered 401 without the requested data."),
        (403, {}, {}, Unreachable, "GitHub answered 403 without the requested data."),
        (410, {}, {}, Unreachable, "GitHub answered 410 without the requested data."),
        (503, "", {}, Unreachable, "GitHub answered 503 without the requested data."),
        (
            429,
            {},
            {"Retry_After": "7"},
            Limited,
            "GitHub's rate limit is reached; it asked us to wait 7 seconds.",
        ),
        (
            403,
            {"message": "API rate limit exceeded"},
            {},
            Limited,
            "GitHub's rate limit is reached; it asked us to wait 60 seconds.",
        ),
    ],
)
def test_what_cannot_be_looked_up_now(wire, status, body, headers, error, sentence):
    wire.answer("GET /app", status, body, **headers)

    assert said(look_up) == (error, sentence)


def test_a_form_goes_to_the_web_address(wire):
    wire.answer(FORM, 200, {"access_token": "token-1"}, X_Of_GitHub="1")

    answer = transport.post_form("/login/oauth/access_token", {"code": "a&b"})

    sent = wire.sent[0]
    assert (sent.form, sent.json, sent.timeout) == ({"code": "a&b"}, None, 5)
    assert sent.headers["accept"] == "application/json"
    assert sent.headers["user-agent"] == "docs-feedback-hub"
    assert "authorization" not in sent.headers
    assert (answer.status, answer.body) == (200, {"access_token": "token-1"})
    assert answer.headers["x-of-github"] == "1"


def test_a_form_is_not_sent_on(wire):
    wire.answer(FORM, 307, "", Location="https://evil.example/")

    assert transport.post_form("/login/oauth/access_token", {"code": "secret"}).status == 307
    assert len(wire.lines) == 1


@pytest.mark.parametrize("fault", NEVER_CONNECTED | LOST)
def test_a_form_that_does_not_arrive(wire, fault):
    wire.answer(FORM, body=(NEVER_CONNECTED | LOST)[fault])

    assert said(partial(transport.post_form, "/login/oauth/access_token", {})) == UNREACHED
    assert len(wire.lines) == 1


def bounded_by(deadline: float):
    return transport.bounded_by(lambda: 7, deadline=deadline)


def all_bounded_by(deadline: float):
    return transport.all_bounded_by([lambda: 7] * 6, deadline=deadline)


def test_calls_give_back_what_they_return():
    assert bounded_by(soon()) == 7
    assert all_bounded_by(soon()) == [7] * 6


@pytest.mark.parametrize("call", [bounded_by, all_bounded_by])
def test_where_all_slots_are_taken_nothing_is_started(call):
    taken = [deadlines._slots().acquire(blocking=False) for _ in range(deadlines.slots())]
    outcome = said(partial(call, soon()))
    for _ in taken:
        deadlines._slots().release()

    assert all(taken)
    assert outcome == (Busy, "Too many calls to GitHub are in progress.")


def test_at_the_deadline_the_caller_leaves(wire):
    answers = [wire.answer_late("GET /app"), wire.answer_late("GET /user")]
    one = partial(transport.ask, None, "GET", "/app")
    all_of = [partial(transport.ask, None, "GET", "/user")]

    outcomes = [
        said(partial(transport.bounded_by, one, deadline=time.monotonic() + 0.05)),
        said(partial(transport.all_bounded_by, all_of, deadline=time.monotonic() + 0.05)),
    ]
    for each in answers:
        each.let_go()

    assert outcomes == [(TimedOut, "GitHub took too long to answer.")] * 2
