"""The app that was just registered: its keys, which GitHub tells once."""

from functools import partial

import pytest

from integrations import github_api
from integrations.github_api import BadCode, Limited, RegisteredApp, TimedOut, Unreachable
from tests.integrations.github_api.conftest import at_once, said, settled, soon
from tests.integrations.github_api.faults import LOST, NEVER_CONNECTED

CONVERT = "POST /app-manifests/a-code/conversions"
TOLD = {
    "id": 7,
    "slug": "acme-docs",
    "owner": {"login": "acme"},
    "html_url": "https://github.com/apps/acme-docs",
    "client_id": "Iv23",
    "client_secret": "client-secret",
    "webhook_secret": "webhook-secret",
    "pem": "-----BEGIN RSA PRIVATE KEY-----",
}
APP = RegisteredApp(
    id=7,
    slug="acme-docs",
    owner="acme",
    url="https://github.com/apps/acme-docs",
    client_id="Iv23",
    client_secret="client-secret",
    webhook_secret="webhook-secret",
    private_key="-----BEGIN RSA PRIVATE KEY-----",
)
USED = (BadCode, "GitHub does not accept the code: it was used before, or is over an hour old.")
NO_SENSE = (Unreachable, "GitHub's response could not be understood.")


def registered(code: str = "a-code", deadline: float | None = None) -> RegisteredApp:
    return github_api.registered_app(code, deadline=deadline or soon())


def test_the_keys_are_told_for_the_code_alone(wire):
    wire.answer(CONVERT, 201, TOLD)

    assert registered() == APP

    [sent] = wire.sent
    assert "authorization" not in sent.headers


def test_an_app_keeps_its_secrets_to_itself():
    for secret in ("client-secret", "webhook-secret", "PRIVATE KEY"):
        assert secret not in repr(APP)


def test_a_code_is_one_part_of_the_address(wire):
    wire.answer("POST /app-manifests/..%2F..%2Fuser%3F/conversions", 404)

    assert said(partial(registered, "../../user?")) == USED


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (404, {"message": "Not Found"}, USED),
        (422, {"message": "Validation Failed"}, USED),
        (200, TOLD, (Unreachable, "GitHub answered 200 when asked for the app's keys.")),
        (500, "", (Unreachable, "GitHub answered 500 when asked for the app's keys.")),
        (429, "", (Limited, "GitHub's rate limit is reached; it asked us to wait 60 seconds.")),
        (201, "<html>", NO_SENSE),
        (201, [], NO_SENSE),
        *[(201, TOLD | {name: None}, NO_SENSE) for name in ("id", "slug", "client_id", "pem")],
        (201, TOLD | {"id": "7"}, NO_SENSE),
        (201, TOLD | {"client_secret": ""}, NO_SENSE),
        (201, TOLD | {"owner": "acme"}, NO_SENSE),
    ],
)
def test_an_answer_without_keys(wire, status, body, outcome):
    wire.answer(CONVERT, status, body)

    assert said(registered) == outcome


@pytest.mark.parametrize("missing", ["webhook_secret", "owner", "html_url"])
def test_what_can_be_added_later_may_be_missing(wire, missing):
    wire.answer(CONVERT, 201, {**TOLD, missing: None})

    assert registered().private_key == APP.private_key


@pytest.mark.parametrize("error", [*NEVER_CONNECTED.values(), *LOST.values()], ids=str)
def test_a_connection_that_fails(wire, error):
    wire.answer(CONVERT, body=error)

    assert said(registered) == (Unreachable, "GitHub could not be reached.")


def test_the_deadline_holds(wire):
    late = wire.answer_late(CONVERT, 201, TOLD)

    outcome = said(partial(registered, deadline=at_once()))
    late.let_go()

    assert settled()
    assert outcome == (TimedOut, "GitHub took too long to answer.")
