import socket
import time
from typing import Any

import github
import pytest
import requests

from sandbox import Fault, Wire

NO_ANSWER = requests.exceptions.ConnectionError
BROKEN_OFF = requests.exceptions.ChunkedEncodingError
TOO_LATE = requests.exceptions.ReadTimeout
LIMITED = github.RateLimitExceededException


@pytest.fixture
def docs(connect, token):
    return connect(token, timeout=1).get_repo("acme/docs")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "details", "seen", "issues"),
    [
        ("refuse", {}, NO_ANSWER, 0),
        ("refuse", {"created": True}, NO_ANSWER, 1),
        ("hang", {"seconds": 30}, TOO_LATE, 0),
        ("hang", {"seconds": 30, "created": True}, TOO_LATE, 1),
        ("slow", {"seconds": 30}, TOO_LATE, 1),
    ],
)
def test_an_answer_that_does_not_arrive(host, docs, kind, details, seen, issues):
    host.fail(kind, **details)

    with pytest.raises(seen):
        docs.create_issue("Title")

    assert len(host.issues("acme/docs")) == issues


@pytest.mark.parametrize(
    ("kind", "cause"), [("truncated", "more expected"), ("reset_mid_answer", "reset by peer")]
)
def test_an_answer_that_breaks_off(host, docs, kind, cause):
    host.fail(kind)

    with pytest.raises((BROKEN_OFF, NO_ANSWER), match=cause):
        docs.create_issue("Title")

    assert len(host.issues("acme/docs")) == 1


@pytest.mark.parametrize(
    ("kind", "details", "status", "issues"),
    [
        ("401", {}, 401, 0),
        ("403_archived", {}, 403, 0),
        ("404", {}, 404, 0),
        ("410", {}, 410, 0),
        ("403_abuse", {}, 403, 0),
        ("422", {}, 422, 0),
        ("422_too_quickly", {}, 422, 0),
        ("500", {}, 500, 0),
        ("500", {"created": True}, 500, 1),
        ("502", {}, 502, 0),
        ("502", {"created": True}, 502, 1),
        ("502_after_creating", {}, 502, 1),
        ("503", {}, 503, 0),
        ("answer", {"status": 451, "body": {"message": "No"}, "created": True}, 451, 1),
    ],
)
def test_an_answer_that_says_no(host, docs, kind, details, status, issues):
    host.fail(kind, **details)

    with pytest.raises(github.GithubException) as refused:
        docs.create_issue("Title")

    assert refused.value.status == status
    assert len(host.issues("acme/docs")) == issues


@pytest.mark.parametrize("value", [120, "1e9", "abc", "Wed, 21 Oct 2026 07:28:00 GMT"])
@pytest.mark.parametrize(("kind", "status"), [("403_retry_after", 403), ("429", 429)])
def test_a_limit_that_says_when_to_come_back(host, docs, kind, status, value):
    host.fail(kind, value=value)

    with pytest.raises(github.GithubException) as refused:
        docs.create_issue("Title")

    assert refused.value.status == status
    assert dict(refused.value.headers or {})["retry-after"] == str(value)
    assert refused.value.data["message"].startswith("You have exceeded a secondary rate limit.")


def test_a_limit_with_nothing_left(host, docs):
    host.fail("remaining_0", reset_in=600)

    with pytest.raises(LIMITED) as refused:
        docs.create_issue("Title")

    headers = dict(refused.value.headers or {})
    assert headers["x-ratelimit-remaining"] == "0"
    assert int(headers["x-ratelimit-reset"]) - time.time() == pytest.approx(600, abs=120)


def test_a_slow_answer_is_a_proper_one(host, docs):
    host.fail("slow", seconds=0.2)

    issue = docs.create_issue("Title")

    assert issue.number == 1


def test_an_answer_without_a_number(host, docs):
    host.fail("no_number")

    issue = docs.create_issue("Title")

    assert issue.number is None
    assert len(host.issues("acme/docs")) == 1


def test_pygithub_repeats_a_post_where_a_301_leads(host, docs):
    host.fail("301")

    issue = docs.create_issue("Title")

    assert issue.number == 1
    assert [each.path for each in host.requests[-2:]] == [
        "/api/v3/repos/acme/docs/issues",
        "/api/v3/repositories/2001/issues",
    ]


@pytest.mark.parametrize("kind", ["307", "308"])
def test_pygithub_takes_other_redirects_for_an_issue_without_a_number(host, docs, kind):
    host.fail(kind)

    issue = docs.create_issue("Title")

    assert issue.number is None
    assert host.issues("acme/docs") == []


def test_a_redirect_leads_where_it_is_told_to(host, call, token):
    host.fail("308", location="https://example.com/elsewhere")

    answer = call("POST", "/repos/acme/docs/issues", token, json={"title": "Title"})

    assert answer.headers["Location"] == "https://example.com/elsewhere"


@pytest.mark.parametrize(
    ("milliseconds", "begun"), [(3_600_000, b"H"), (1, b"HTTP/1.1 201")], ids=["slow", "quick"]
)
def test_a_drip_comes_byte_by_byte(host, token, milliseconds, begun):
    host.fail("drip", milliseconds=milliseconds)
    body = b'{"title": "Title"}'
    head = (
        "POST /api/v3/repos/acme/docs/issues HTTP/1.1\r\nHost: localhost\r\nUser-Agent: test\r\n"
        f"Authorization: Bearer {token}\r\nContent-Length: {len(body)}\r\n\r\n"
    )

    with socket.create_connection(("127.0.0.1", int(host.url.rpartition(":")[2]))) as client:
        client.sendall(head.encode() + body)
        came = client.recv(65536)
        while len(came) < len(begun):
            came += client.recv(1)

    assert came.startswith(begun)
    assert milliseconds == 1 or came == begun
    assert len(host.issues("acme/docs")) == 1


def test_a_fault_strikes_as_often_as_it_was_asked_to(host, docs):
    host.fail("500", times=2)

    for _ in range(2):
        with pytest.raises(github.GithubException):
            docs.create_issue("Title")

    assert docs.create_issue("Title").number == 1
    assert host.faults.waiting() == []


def test_faults_strike_in_the_order_in_which_they_were_armed(host, call, token):
    host.fail("404")
    host.fail("410")

    answers = [call("POST", "/repos/acme/docs/issues", token) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [404, 410]


def test_a_fault_strikes_what_it_is_aimed_at_and_nothing_else(host, call, docs, as_app):
    host.fail("500", path="token")
    host.fail("500", method="GET", path="issues")
    host.fail("500", method="*", path="/api/v3/repositories/*")

    with pytest.raises(github.GithubException):
        as_app.get_access_token(3001)
    issue = docs.create_issue("Title")

    assert issue.number == 1
    assert call("GET", "/repos/acme/docs/issues").status_code == 500
    assert call("GET", "/repositories/2001").status_code == 500
    assert call("GET", "/repositories/2001").status_code == 200


def test_a_fault_can_be_made_to_measure(host, call, token):
    host.fail(Fault(status=503, body="<p>Later</p>", headers={"X-Reason": "test"}, delay=0.01))
    host.fail(Fault(wire=Wire.HALF, created=True))

    answer = call("POST", "/repos/acme/docs/issues", token, json={"title": "Title"})

    assert (answer.status_code, answer.text) == (503, "<p>Later</p>")
    assert answer.headers["X-Reason"] == "test"
    with pytest.raises(BROKEN_OFF):
        call("POST", "/repos/acme/docs/issues", token, json={"title": "Title"})


@pytest.mark.parametrize(
    ("kind", "details", "problem"),
    [
        ("boom", {}, "There is no fault 'boom'; there are refuse, hang,"),
        ("slow", {"minutes": 5}, "The fault 'slow' does not take that:"),
        ("slow", {"seconds": "long"}, "could not convert"),
        ("500", {"times": 0}, "at least one request, not 0"),
        (
            "500",
            {"path": "issue"},
            "'issue' is none of issues, comments, comment, token, and no pattern",
        ),
    ],
)
def test_a_fault_that_makes_no_sense_is_refused(host, kind, details, problem):
    with pytest.raises(ValueError, match=problem):
        host.fail(kind, **details)


def test_faults_are_armed_and_cleared_over_http(host, call, token):
    url = f"{host.url}/_sandbox/faults"
    armed: dict[str, Any] = {"kind": "answer", "status": 451, "times": 3, "body": {"message": "No"}}

    first = requests.post(url, json=armed, timeout=5)
    struck = call("POST", "/repos/acme/docs/issues", token, json={"title": "Title"})
    cleared = requests.delete(url, timeout=5)
    after = call("POST", "/repos/acme/docs/issues", token, json={"title": "Title"})

    assert first.status_code == 201
    assert (struck.status_code, struck.json()) == (451, {"message": "No"})
    assert cleared.status_code == 204
    assert after.status_code == 201
    assert [each.fault for each in host.requests[-4:]] == [None, "answer", None, None]


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"json": {"kind": "boom"}}, 422),
        ({"json": {}}, 422),
        ({"json": {"kind": "500", "color": "red"}}, 422),
        ({"data": {"kind": "500"}}, 415),
        ({"data": "{", "headers": {"Content-Type": "application/json"}}, 400),
    ],
)
def test_a_fault_that_cannot_be_read_is_refused_over_http(host, sent, status):
    answer = requests.post(f"{host.url}/_sandbox/faults", timeout=5, **sent)

    assert answer.status_code == status
    assert answer.json()["message"]
    assert host.faults.waiting() == []
