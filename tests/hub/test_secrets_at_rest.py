"""A copy of the database opens nothing, nor does the log: what is handed out is in neither of them."""

import json
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from django.apps import apps
from django.conf import settings
from django.contrib.sessions.models import Session
from django.core import serializers

from hub.registering.offer import Offer
from tests.conftest import callbacks, new_code_host, settings_for
from tests.hub_process import HubProcess
from tests.orgs.terminals.terminal import CLI, DEVICE
from tests.plain_browser import Browser

pytestmark = pytest.mark.django_db(transaction=True)

TOKEN = re.compile(r"gh[us]_\w{20,}|hub_[\w-]{30,}")  # of GitHub and of the Hub, whoever has it


def everything_stored() -> str:
    """All rows of all tables, and what is in the sessions."""
    rows = [row for model in apps.get_models() for row in model._base_manager.all()]
    sessions = [json.dumps(each.get_decoded()) for each in Session.objects.all()]
    return "\n".join([serializers.serialize("json", rows), *sessions])


def handed_out(hub: HubProcess) -> dict[str, str]:
    """Every kind of secret that a Hub hands out, each used once, by what it is."""
    browser = Browser(hub.url)
    signed_in = browser.sign_in("alice")
    token = browser.new_token()
    at_terminal = from_terminal(hub, browser)
    install = browser.calling(token)("GET", "integrations/github/install").json()
    return {
        "GitHub's code": of_urls("code", *(each.url for each in signed_in.history)),
        "session": browser.cookies["session"],
        "CSRF token": browser.cookies["csrf"],
        "personal token": token,
        **at_terminal,
        "state of an installation": of_urls("state", install["install_url"]).partition(".")[2],
        **of_setting_up(),
    }


def of_urls(name: str, *urls: str) -> str:
    """The first parameter of this name."""
    return next(
        found[name][0] for found in (parse_qs(urlsplit(url).query) for url in urls) if name in found
    )


def from_terminal(hub: HubProcess, browser: Browser) -> dict[str, str]:
    def ask(path: str, **fields: str) -> dict[str, str]:
        return requests.post(hub.url + path, fields | {"client_id": CLI}, timeout=30).json()

    codes = ask("/oauth/device")
    page = browser.open(f"/device/?user_code={codes['user_code']}")
    browser.send(page, answer="approve")
    tokens = ask("/oauth/token", grant_type=DEVICE, device_code=codes["device_code"])
    return {
        name: {**codes, **tokens}[name]
        for name in ("device_code", "user_code", "access_token", "refresh_token")
    }


def of_setting_up() -> dict[str, str]:
    token = Offer.objects.begin(name="Docs", organization="", is_public=True)
    state = Offer.objects.open(token) or ""
    assert Offer.objects.answer(token, state=state, code="a-code-of-a-new-app")
    return {
        "address of setting up": token,
        "state of setting up": state,
        "code of setting up": "a-code-of-a-new-app",
    }


def of_the_operator(given: dict[str, str]) -> dict[str, str]:
    return {
        "key of the Hub": settings.SECRET_KEY,
        "client secret": given["HUB_GITHUB_CLIENT_SECRET"],
        "webhook secret": given["HUB_GITHUB_WEBHOOK_SECRET"],
        "key of the app": given["HUB_GITHUB_PRIVATE_KEY"].split("\n")[1],
        "token of metrics": given["HUB_METRICS_TOKEN"],
    }


@pytest.mark.slow
def test_no_secret_is_in_the_database_or_in_the_log(tmp_path: Path):
    code_host, log = new_code_host(), tmp_path / "log"
    code_host.app.client_secret = "a-client-secret-of-a-test"
    code_host.app.webhook_secret = "a-webhook-secret-of-a-test"
    with code_host.serving():
        given = settings_for(code_host) | {"HUB_METRICS_TOKEN": "a-metrics-token-of-a-test"}
        with HubProcess(log=log, HUB_LOG_LEVEL="debug", **given) as hub:
            code_host.app.callback_urls += callbacks(hub)
            secrets = handed_out(hub) | of_the_operator(given)

    kept = {"database": everything_stored(), "log": log.read_text()}

    seen = [(what, where) for where in kept for what, it in secrets.items() if it in kept[where]]
    assert seen == []
    assert [TOKEN.findall(each) for each in kept.values()] == [[], []]
    assert "github_callback" in kept["log"]
