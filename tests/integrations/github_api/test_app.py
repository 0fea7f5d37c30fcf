"""What GitHub knows of the app: what is asked, and how the answer is read."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from integrations import github_api
from integrations.github_api import SentWebhook, Unreachable, WebhookFacts
from tests.integrations.github_api.conftest import soon

APP = {
    "id": 1,
    "slug": "docs",
    "client_id": "Iv1",
    "permissions": {"issues": "write"},
    "events": ["issues"],
}
HOOK = {"url": "https://hub.example/", "content_type": "json", "insecure_ssl": "0"}
SENT = {
    "event": "issues",
    "action": "closed",
    "delivered_at": "2026-11-20T12:00:00Z",
    "status_code": 401,
    "status": "Invalid HTTP Response: 401",
}
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def facts():
    return github_api.app_facts(deadline=soon())


def hook():
    return github_api.webhook_facts(deadline=soon())


def sent():
    return github_api.sent_webhooks(deadline=soon())


def takes():
    return github_api.takes_credentials(deadline=soon())


def test_the_app_with_the_clock_of_github(wire):
    behind = datetime.now(UTC) - timedelta(hours=1)
    wire.answer("GET /app", 200, APP, Date=format_datetime(behind, usegmt=True))

    found = facts()

    assert found[:5] == (
        "docs",
        "Iv1",
        {"issues": "write"},
        {"issues"},
        "https://github.com/settings/apps/docs",
    )
    assert round(found.clock_ahead / timedelta(hours=1), 1) == 1
    assert wire.sent[0].headers["authorization"].startswith("Bearer ")


@pytest.mark.parametrize(
    ("owner", "page"),
    [
        ({"login": "alice", "type": "User"}, "https://github.com/settings/apps/docs"),
        (
            {"login": "acme", "type": "Organization"},
            "https://github.com/organizations/acme/settings/apps/docs",
        ),
    ],
)
def test_where_its_owner_changes_it(wire, owner, page):
    wire.answer("GET /app", 200, APP | {"owner": owner})

    assert facts().settings_page == page


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, WebhookFacts("https://hub.example/", "json", True)),
        ({"insecure_ssl": 1}, WebhookFacts("https://hub.example/", "json", False)),
        ({"insecure_ssl": 0}, WebhookFacts("https://hub.example/", "json", True)),
        ({"url": None}, WebhookFacts("", "json", True)),
    ],
)
def test_where_webhooks_are_sent(wire, fields, expected):
    wire.answer("GET /app/hook/config", 200, HOOK | fields)

    assert hook() == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, SentWebhook("issues closed", NOON, 401, "Invalid HTTP Response: 401")),
        (
            {"action": None, "status_code": 202, "status": "OK"},
            SentWebhook("issues", NOON, 202, "OK"),
        ),
        ({"status_code": None, "status": None}, SentWebhook("issues closed", NOON, 0, "")),
    ],
)
def test_webhooks_that_were_sent(wire, fields, expected):
    wire.answer("GET /app/hook/deliveries", 200, [SENT | fields])

    [found] = sent()

    assert found == expected
    assert found.was_taken == (expected.status == 202)
    assert wire.sent[0].query == {"per_page": "30"}


@pytest.mark.parametrize(
    ("line", "ask"),
    [
        ("GET /app", facts),
        ("GET /app/hook/config", hook),
        ("GET /app/hook/deliveries", sent),
    ],
)
@pytest.mark.parametrize(
    ("status", "body", "sentence"),
    [
        (200, "", "GitHub's response could not be understood."),
        (200, ["no"], "GitHub's response could not be understood."),
        (200, [SENT | {"delivered_at": "today"}], "GitHub's response could not be understood."),
        (404, {}, "GitHub has no app with the id"),
        (502, {}, "GitHub answered 502 when asked for /app"),
        (401, {}, "GitHub does not accept the Hub's key."),
    ],
)
def test_answers_that_tell_nothing(wire, line, ask, status, body, sentence):
    wire.answer(line, status, body)

    with pytest.raises(Unreachable) as error:
        ask()

    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (200, {"error": "bad_verification_code"}, True),
        (200, {"error": "incorrect_client_credentials"}, False),
        (404, {"error": "Not Found"}, False),
    ],
)
def test_whether_the_client_secret_is_right(wire, status, body, expected):
    wire.answer("POST https://github.com/login/oauth/access_token", status, body)

    assert takes() == expected


def test_an_answer_that_says_nothing_about_the_client_secret(wire):
    wire.answer("POST https://github.com/login/oauth/access_token", 502, "")

    with pytest.raises(Unreachable, match="answered 502 when asked about the client secret"):
        takes()
