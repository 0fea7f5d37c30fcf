"""Every answer has the id of its request, and every request is one line of the log."""

import asyncio
import io
import json
import logging
import re
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import pytest
from django.conf import settings
from django.urls import clear_url_caches, path

from core.watching import metrics
from core.watching.current import REPORTS, SETTINGS
from hub import urls
from hub.logs import JSONLines
from hub.server import bodies
from hub.server.bridge import Bridge
from hub.server.noted import AT_ONCE, OF_CHANGES, OF_OTHERS, Listing
from hub.wsgi import application
from integrations.models import Delivery
from orgs.people import tokens
from tests import build
from tests.hub.server.test_bridge import Answer, Echo, Request

MADE = re.compile(rb"[0-9a-f]{16}")
ID = b"x-request-id"
FORM = "application/x-www-form-urlencoded"


@pytest.fixture
def log(monkeypatch) -> io.StringIO:
    """What goes to stderr."""
    stderr = next(h for h in logging.getLogger().handlers if isinstance(h.formatter, JSONLines))
    monkeypatch.setattr(stderr, "stream", io.StringIO())
    return stderr.stream


def lines(log: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.getvalue().splitlines()]


def ask(
    path: str, body: bytes = b"", method: str = "GET", app=application, **headers: str
) -> Answer:
    """One request as the server hands it over, on a thread of the Hub."""
    return ask_of(Bridge(app, threads=1), path, body, method, **headers)


def ask_of(
    bridge: Bridge, path: str, body: bytes = b"", method: str = "GET", **headers: str
) -> Answer:
    async def conversation() -> Answer:
        named = {"host": "hub.example"}
        if body or method == "POST":
            named |= {"content_length": str(len(body)), "content_type": "application/json"}
        request = Request(bridge, path, method=method, **named | headers)
        await request.send(body)
        return await request.answer()

    return asyncio.run(conversation())


def send(**changed: Any) -> Answer:
    return ask("/v1/reports", json.dumps(build.report(**changed)).encode(), "POST")


def crash(request):
    raise ZeroDivisionError


@pytest.fixture
def crashing(monkeypatch) -> Iterator[None]:
    """A page that fails, at /crash/."""
    monkeypatch.setattr(
        urls, "urlpatterns", [path("crash/", crash, name="crash"), *urls.urlpatterns]
    )
    clear_url_caches()
    yield
    clear_url_caches()


@pytest.mark.parametrize("where", ["/healthz", "/nowhere", "/v1/nowhere", "/static/no.css"])
def test_every_answer_has_an_id_of_its_own(where):
    first, second = ask(where), ask(where)

    assert MADE.fullmatch(first.headers[ID])
    assert first.headers[ID] != second.headers[ID]


def test_what_the_server_refuses_by_itself_has_an_id_too(monkeypatch, log):
    monkeypatch.setattr(bodies, "BODY_TIMEOUT", 0.01)

    async def silent() -> Answer:
        return await Request(Bridge(Echo(), threads=1), content_length="500").answer()

    answers = [
        ask("/v1/reports", b"x" * 200_000, "POST"),
        ask("/", cookie="x" * 5000),
        ask("/", content_type="text/plain; charset=utf-7"),
        asyncio.run(silent()),
    ]

    assert [each.status for each in answers] == [413, 431, 415, 408]
    ids = [each.headers[ID].decode() for each in answers]
    assert all(MADE.fullmatch(each.encode()) for each in ids)
    assert [(each["request"], each["status"]) for each in lines(log)] == list(
        zip(ids, [413, 431, 415, 408], strict=True)
    )
    assert [each["outcome"] for each in lines(log)] == [
        "payload_too_large", "headers_too_large", "unsupported_media_type", "request_timeout"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("proxies", "given", "taken"),
    [
        (0, "from-a-stranger", False),
        (1, "from-the-proxy-1", True),
        (1, "a" * 64, True),
        (1, "a" * 65, False),
        (1, "two lines", False),
        (1, "é", False),
        (1, "", False),
    ],
)
def test_an_id_is_taken_from_a_trusted_proxy_only(settings, proxies, given, taken):
    settings.HUB_TRUSTED_PROXIES = proxies

    found = ask("/healthz", x_request_id=given).headers[ID]

    assert (found == given.encode("latin-1")) is taken
    assert taken or MADE.fullmatch(found)


@pytest.mark.django_db(transaction=True)
def test_a_report_is_a_line_and_the_step_of_its_delivery_another(code_host, log):
    owner = build.acme(code_host)

    answer = send()
    again = send()

    report = json.loads(answer.body)["id"]
    first, second, third = lines(log)
    assert first | {"time": 0, "ms": 0} == {
        "time": 0, "level": "info", "logger": "integrations.delivery.steps", "message": "delivery",
        "request": answer.headers[ID].decode(), "report": report, "organization": owner.pk, "attempt": 1,
        "outcome": "sent", "ms": 0,
    }  # fmt: skip
    assert second | {"time": 0, "ms": 0} == {
        "time": 0, "level": "info", "logger": "hub.requests", "message": "request",
        "request": answer.headers[ID].decode(), "method": "POST", "route": "reports",
        "organization": owner.pk, "report": report, "status": 201, "outcome": "new", "ms": 0,
    }  # fmt: skip
    assert (third["report"], third["outcome"]) == (report, "duplicate")
    assert third["request"] == again.headers[ID].decode()


@pytest.mark.django_db(transaction=True)
def test_a_held_delivery_names_its_cause(code_host, log):
    build.acme(code_host)
    code_host.archive("acme/docs")

    send()

    step = lines(log)[0]
    assert (step["outcome"], step["cause"]) == ("held", "integration")
    assert Delivery.objects.get().status == "held"


@pytest.mark.django_db(transaction=True)
def test_a_call_of_a_maintainer_names_the_organization_and_the_report(code_host, log):
    owner = build.acme(code_host)
    report = json.loads(send().body)["id"]
    token = build.token(build.member(owner), [tokens.READ])

    ask(f"/v1/orgs/me/reports/{report}", authorization=f"Bearer {token}")

    line = lines(log)[-1]
    assert (line["route"], line["organization"], line["report"]) == (
        "received-report",
        owner.pk,
        report,
    )


@pytest.mark.django_db(transaction=True)
def test_the_log_has_no_text_of_a_stranger(code_host, log):
    build.acme(code_host)
    secret = "hunter2"

    send(report__summary=f"It is {secret}", report__details=secret * 20)
    ask(f"/nowhere/{secret}?token={secret}", authorization=f"Bearer {secret}", referer=secret)
    ask(f"/v1/reports/{secret}", method=secret.upper())
    ask("/report/", f"summary={secret}".encode(), "POST")

    assert len(lines(log)) >= 5
    assert secret not in log.getvalue().lower()
    assert "192.0.2." not in log.getvalue()


def test_a_flood_of_refusals_is_lines_of_bounded_length(log):
    for _ in range(20):
        ask("/" + "x" * 5000, x_request_id="y" * 5000)

    assert max(map(len, log.getvalue().splitlines())) < 300


@pytest.mark.django_db(transaction=True)
def test_the_traceback_of_an_error_has_the_id_of_its_request(crashing, log):
    answer = ask("/crash/", x_forwarded_for="198.51.100.1")

    error, request = [each for each in lines(log) if each["level"] != "warning"]
    assert answer.status == 500
    assert "ZeroDivisionError" in error["traceback"]
    assert error["request"] == request["request"] == answer.headers[ID].decode()
    assert (request["route"], request["outcome"]) == ("crash", "failed")


@pytest.mark.django_db(transaction=True)
def test_an_internal_error_of_the_api_names_the_id(monkeypatch, log):
    monkeypatch.setattr("reports.intake.page", lambda *_: 1 / 0)

    answer = send()

    assert (answer.status, answer.error) == (500, "internal_error")
    assert json.loads(answer.body)["request_id"] == answer.headers[ID].decode()
    assert {each["request"] for each in lines(log)} == {answer.headers[ID].decode()}


def a_flood(listing: Listing, changed: str, status: int, *, since: float, seconds: int) -> int:
    """How many of a thousand requests a second have a line."""
    times = [since + number / 1000 for number in range(seconds * 1000)]
    return sum(listing.take(changed, status, now) for now in times)


@pytest.mark.parametrize(
    ("changed", "status"),
    [("", 204), ("", 302), ("", 404), (REPORTS, 429), (SETTINGS, 503)],
)
def test_what_anybody_can_send_without_end_does_not_fill_the_log(changed, status):
    listing = Listing()

    assert a_flood(listing, changed, status, since=1000, seconds=60) <= AT_ONCE + 60 * OF_OTHERS + 1


def test_a_flood_leaves_the_lines_of_reports_and_of_errors(log):
    listing = Listing()
    for changed in ("", SETTINGS):
        a_flood(listing, changed, 200, since=1000, seconds=3)

    for changed in ("", SETTINGS):
        assert not all(listing.take(changed, 200, 1003) for _ in range(3))
    assert listing.take(REPORTS, 201, 1003)
    assert a_flood(listing, "", 500, since=1003, seconds=3) == 3000


@pytest.mark.parametrize("changed", [REPORTS, SETTINGS])
def test_what_changes_something_does_not_fill_the_log_either(changed):
    listing = Listing()

    assert a_flood(listing, changed, 200, since=1000, seconds=60) <= AT_ONCE + 60 * OF_CHANGES + 1


@pytest.fixture
def changed(monkeypatch) -> list[str]:
    """What each request has changed, in the order of their answers."""
    found: list[str] = []

    def take(_: Listing, what: str, *__: Any) -> bool:
        found.append(what)
        return True

    monkeypatch.setattr(Listing, "take", take)
    return found


@pytest.mark.django_db(transaction=True)
def test_a_report_is_no_line_that_others_can_take(changed):
    send()

    assert changed == [REPORTS]


@pytest.mark.django_db(transaction=True)
def test_what_a_member_changes_is_no_line_that_a_visitor_can_take(changed):
    token = f"Bearer {build.token(build.member(build.organization()))}"
    for sent in (token, "Bearer of nobody"):
        ask("/v1/orgs/me/domains", b'{"domain": "acme.dev"}', "POST", authorization=sent)
    ask("/v1/orgs/me", authorization=token)

    assert changed == [SETTINGS, "", ""]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", ["/logout/", "/connect/", "/settings/account/delete/"])
def test_the_form_of_a_visitor_changes_nothing(changed, path):
    """An attack: with such forms, which no limit stops, the lines of others' reports were kept out of the log."""
    same = "a" * 32
    named = {"cookie": f"{settings.CSRF_COOKIE_NAME}={same}", "x_csrftoken": same}
    named |= {"referer": "https://hub.example/", "content_type": FORM}

    answer = ask(path, method="POST", **named)

    assert answer.status in (200, 302)
    assert changed == [""]


def test_a_line_a_minute_says_how_many_have_none(log):
    listing = Listing()
    listed = a_flood(listing, "", 404, since=1000, seconds=2)

    for now in (1002, 1070, 1071):
        listing.tell(now)

    said = [(line["level"], line["message"]) for line in lines(log)]
    begun = "There are too many requests at once: from now on, not all are listed"
    words = f"{2000 - listed} requests were not listed: there were too many at once"
    assert said == [("warning", begun), ("warning", words)]


def test_a_request_without_a_line_is_answered_and_counted_as_any(log):
    listing = Listing()
    a_flood(listing, "", 404, since=perf_counter(), seconds=2)
    before = log.getvalue()
    bridge = Bridge(application, threads=1)
    bridge._listing = listing

    answer = ask_of(bridge, "/nowhere")

    assert answer.status == 404
    assert MADE.fullmatch(answer.headers[ID])
    assert log.getvalue() == before


def test_probes_and_static_files_are_not_in_the_log(log):
    for each in ("/healthz", "/static/look.css", "/static/no.css"):
        ask(each)

    assert not log.getvalue()


def test_how_many_requests_fail_is_counted_without_what_machines_ask_for(monkeypatch):
    """An attack: who asks for `/healthz` often makes the part that fails as small as they like."""
    counted = []
    monkeypatch.setattr(metrics.answers, "up", counted.append)

    for where in ("/healthz", "/readyz", "/metrics", "/static/no.css", "/nowhere"):
        ask(where)

    assert counted == ["404"]
