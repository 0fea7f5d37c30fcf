"""What is compared with GitHub."""

from base64 import b64encode
from datetime import timedelta
from threading import BoundedSemaphore

import pytest
import requests

from core import deadlines
from hub.setup import github_app, webhooks
from hub.setup.findings import Level, Question, ask_all
from hub.setup.questions import QUESTIONS
from integrations.github_api import GitHubError
from sandbox.webhooks import Event, Sent
from tests.hub.setup.conftest import levels, said

OK, NOTE, WARNING, PROBLEM = Level
CALLBACKS = (
    "https://hub.example/v1/integrations/github/callback and "
    "https://hub.example/login/github/callback/, in this order"
)


def pem_without_its_first_line(pem: str) -> str:
    return pem.partition("\n")[2]


def in_base64(pem: str) -> str:
    return b64encode(pem.encode()).decode()


def found() -> list:
    return list(github_app.app())


@pytest.mark.parametrize(
    ("url", "is_told"),
    [("http://ghe.invalid", True), ("https://ghe.invalid", False), ("http://localhost:1", False)],
)
def test_secrets_are_not_to_be_read_on_the_way(app, settings, url, is_told):
    settings.HUB_GITHUB_URL = url

    assert ("can be read on the way" in said(found(), PROBLEM)) == is_told


def test_an_app_that_is_as_it_should_be(app, settings):
    settings.HUB_GITHUB_WEBHOOK_SECRET = app.webhook_secret

    assert levels(found()) == {OK, NOTE}
    assert said(found(), NOTE).startswith("GitHub tells nobody the callback URLs.")
    assert f"{app.slug}: {CALLBACKS}" in said(found(), NOTE)
    assert "has the permissions that it needs (issues: write, metadata: read)" in said(found())


@pytest.mark.parametrize(
    ("name", "value", "level", "sentence"),
    [
        ("APP_SLUG", "another", PROBLEM, "GitHub calls the app docs-feedback-hub"),
        ("APP_ID", "docs", PROBLEM, "HUB_GITHUB_APP_ID is docs: set it to the app's number."),
        ("APP_ID", "77", PROBLEM, "GitHub has no app with the id 77. Check"),
        ("CLIENT_ID", "", PROBLEM, "HUB_GITHUB_CLIENT_ID is empty: copy it from the settings page"),
        ("CLIENT_ID", "another", PROBLEM, "HUB_GITHUB_CLIENT_ID is another: the app's is client."),
        ("CLIENT_SECRET", "", PROBLEM, "HUB_GITHUB_CLIENT_SECRET is empty: GitHub shows it once."),
        ("CLIENT_SECRET", "old", PROBLEM, "so nobody can sign in: copy both"),
        ("PRIVATE_KEY", "", PROBLEM, "HUB_GITHUB_PRIVATE_KEY is empty"),
        ("PRIVATE_KEY", "/nowhere.pem", PROBLEM, "neither a PEM key"),
        ("PRIVATE_KEY", "-----BEGIN nonsense", PROBLEM, "neither a PEM key"),
        (
            "WEBHOOK_SECRET",
            "",
            PROBLEM,
            "WEBHOOK_SECRET is empty: GitHub never shows it again. Make",
        ),
        ("WEBHOOK_SECRET", "short", WARNING, "HUB_GITHUB_WEBHOOK_SECRET can be guessed"),
        (
            "URL",
            "http://127.0.0.1:1",
            PROBLEM,
            "GitHub (http://127.0.0.1:1) cannot be reached: connection refused. Start it, or check ",
        ),
    ],
)
def test_settings_that_github_does_not_know(app, settings, name, value, level, sentence):
    setattr(settings, f"HUB_GITHUB_{name}", value)

    assert sentence in said(found(), level)


@pytest.mark.parametrize(
    "written", [pem_without_its_first_line, in_base64], ids=["no first line", "in base64"]
)
def test_a_key_that_is_taken_for_a_path_is_not_quoted(app, settings, written):
    key = settings.HUB_GITHUB_PRIVATE_KEY = written(settings.HUB_GITHUB_PRIVATE_KEY)

    asked = [each for each in QUESTIONS if each.about in ("GitHub App", "Files")]
    about_app, about_files = (answer for _, answer in ask_all(asked))

    assert "HUB_GITHUB_PRIVATE_KEY is neither a PEM key nor the path" in said(about_app, PROBLEM)
    assert key[:30] not in said(about_app) + said(about_files)
    assert "could not be checked" not in said(about_files)


def test_a_code_host_that_is_away_is_one_problem(app, settings):
    settings.HUB_GITHUB_URL = "http://127.0.0.1:1"
    settings.HUB_GITHUB_WEBHOOK_SECRET = app.webhook_secret

    every = [*found(), *webhooks.webhooks()]

    assert [each.level for each in every] == [PROBLEM, NOTE]
    assert every[1].text == "Not checked: GitHub cannot be reached."


@pytest.mark.parametrize(
    ("cause", "why"),
    [
        (requests.ReadTimeout("late"), "it took too long to answer"),
        (requests.ConnectionError("Reset."), "reset"),
        (requests.ConnectionError(), "no connection."),
    ],
)
def test_why_github_is_away(cause, why):
    error = GitHubError("GitHub could not be reached.")
    error.__cause__ = cause

    assert f"GitHub (https://api.github.com) cannot be reached: {why}" in github_app.away(error)


def test_a_key_that_is_refused_is_the_operators_to_fix(app, settings, code_host):
    code_host.fail("401", method="GET", path="/api/v3/app")

    assert said(found(), PROBLEM) == (
        "GitHub does not accept the Hub's key. Check HUB_GITHUB_APP_ID and HUB_GITHUB_PRIVATE_KEY."
    )


def test_a_hub_with_one_thread_asks_one_after_the_other(app, monkeypatch):
    room = BoundedSemaphore(1)
    monkeypatch.setattr(deadlines, "_slots", lambda: room)
    asked = [Question("app", github_app.app), Question("webhooks", webhooks.webhooks)]

    found = [each for _, findings in ask_all(asked) for each in findings]

    assert PROBLEM not in levels(found)


def test_without_any_setting_one_sentence_leads_to_the_command(settings):
    [only] = found()

    assert only.level == PROBLEM
    assert "run `manage.py setup_github`" in only.text


def test_permissions_that_are_missing_and_too_many(app):
    app.permissions = {"metadata": "read", "issues": "read", "contents": "write"}

    assert "The app lacks permissions: issues: write." in said(found(), PROBLEM)
    assert "permissions that the Hub never uses: contents." in said(found(), WARNING)


def test_an_event_that_is_not_subscribed_to(app):
    app.events = ("issues", "repository")

    assert "The app is not subscribed to: Installation target." in said(found(), WARNING)


def test_a_clock_that_is_a_little_off_is_a_warning(app, code_host):
    code_host.clock_offset = timedelta(seconds=-20)

    assert "clock is +2" in said(found(), WARNING)  # seconds; GitHub tells them whole


def test_a_clock_that_is_far_off_is_why_the_key_is_refused(app, code_host):
    code_host.clock_offset = timedelta(hours=1)

    assert "clock is -60 minutes off GitHub's" in said(found(), PROBLEM)


def test_a_key_may_have_its_line_ends_written_out(app, settings):
    settings.HUB_GITHUB_PRIVATE_KEY = settings.HUB_GITHUB_PRIVATE_KEY.replace("\n", "\\n")

    assert "GitHub knows the app docs-feedback-hub" in said(found(), OK)


def test_webhooks_that_are_sent_here(app):
    assert levels(webhooks.webhooks()) == {OK, NOTE}
    assert "GitHub sends webhooks to https://hub.example/v1/webhooks/github." in said(
        webhooks.webhooks()
    )


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("webhook_url", "", "GitHub sends no webhooks: make them active"),
        (
            "webhook_url",
            "https://old.example/",
            "GitHub sends webhooks to https://old.example/: set",
        ),
        ("webhook_content_type", "form", "GitHub sends webhooks as form: choose JSON"),
        ("webhook_checks_certificate", False, "turn SSL verification on"),
    ],
)
def test_webhooks_that_are_sent_elsewhere(app, name, value, sentence):
    setattr(app, name, value)

    assert sentence in said(webhooks.webhooks(), PROBLEM)


@pytest.mark.parametrize(
    ("statuses", "level", "sentence"),
    [
        ([202, 202], OK, "The last 2 webhooks arrived, the latest just now."),
        ([401, 202], WARNING, "1 of the last 2 did not: issues closed, just now, with 401"),
        (
            [202, 401],
            PROBLEM,
            "with 401 (Invalid HTTP Response: 401). Set HUB_GITHUB_WEBHOOK_SECRET",
        ),
        ([202, 503], WARNING, "the log of the Hub says why. GitHub sends it again"),
        ([None], WARNING, "with no answer (ConnectionRefusedError). If the Hub was running, let"),
        ([202, None, 502, 502], PROBLEM, "with 502 (Invalid HTTP Response: 502)."),
    ],
)
def test_what_became_of_the_last_webhooks(app, code_host, statuses, level, sentence):
    for number, status in enumerate(statuses):
        event = Event("issues", {"action": "closed"}, str(number))
        why = "" if status else "ConnectionRefusedError"
        code_host._sent.append(Sent(event, status, why, at=code_host.now()))

    assert sentence in said(webhooks.webhooks(), level)


def test_webhooks_without_an_app_are_not_asked_about(settings):
    assert levels(webhooks.webhooks()) == {NOTE}
