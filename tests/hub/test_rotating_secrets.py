"""Each secret is replaced without a stop: the old and the new one are valid in between, the old one not afterwards."""

import hashlib
import hmac
import json
import time
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.messages import get_messages
from django.contrib.messages.storage import default_storage
from django.test import Client

from core import client_address
from hub import settings as hub_settings
from integrations import github_api
from integrations.models import Delivery
from orgs.terminals import codes
from sandbox.oauth import Code
from tests import build
from tests.conftest import key_pair
from tests.orgs.terminals import terminal

pytestmark = pytest.mark.django_db(transaction=True)

OLD, NEW = "the old one, long and random", "the new one, long and random"


class Keys:
    """The Hub's key and the former ones, as three starts of the Hub have them."""

    def __init__(self, settings) -> None:
        self._settings = settings
        self.set(OLD)

    def set(self, key: str, *fallbacks: str) -> None:
        self._settings.SECRET_KEY, self._settings.SECRET_KEY_FALLBACKS = key, list(fallbacks)
        client_address._hashed.cache_clear()


@pytest.fixture
def keys(settings) -> Keys:
    yield Keys(settings)
    client_address._hashed.cache_clear()


def signed_in(person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def is_signed_in(client: Client) -> bool:
    return client.get("/settings/").status_code == 200


def test_people_stay_signed_in_while_the_key_is_replaced(keys):
    person = build.member(build.organization())
    visiting, away = signed_in(person), signed_in(person)

    keys.set(NEW, OLD)
    between = is_signed_in(visiting), is_signed_in(signed_in(person))
    keys.set(NEW)

    assert between == (True, True)
    assert is_signed_in(visiting)
    assert not is_signed_in(away)


def test_where_several_processes_start_one_after_the_other_each_knows_both_keys(keys):
    """The new key comes first as a fallback: what one process signs is valid in the others."""
    person = build.member(build.organization())
    client = signed_in(person)

    seen = []
    for process in [(OLD, NEW), (NEW, OLD), (OLD, NEW), (NEW, OLD), (NEW,)]:
        keys.set(*process)
        seen.append(is_signed_in(client))

    assert all(seen)


def test_messages_and_what_a_sign_in_has_begun_stay_as_well(keys, rf):
    person = build.member(build.organization())
    client = signed_in(person)
    session = client.session
    session["begun"] = "a sign-in"
    session.save()
    answer = Client().get("/login/")
    storage = default_storage(rf.get("/"))
    storage.add(20, "Saved.")
    storage.update(answer)

    def shown() -> tuple[str | None, list[str]]:
        request = rf.get("/")
        request.COOKIES = {name: each.value for name, each in answer.cookies.items()}
        request._messages = default_storage(request)
        return client.session.get("begun"), [str(each) for each in get_messages(request)]

    keys.set(NEW, OLD)
    between = shown()
    keys.set(NEW)

    assert between == ("a sign-in", ["Saved."])
    assert shown() == (None, [])


def test_access_tokens_do_not_depend_on_the_key(keys):
    caller = build.caller("acme")

    keys.set(NEW)

    assert caller.get("/v1/orgs/me").status_code == 200


def test_a_terminal_that_waits_is_found_by_every_process_while_the_key_is_replaced(
    keys, monkeypatch
):
    monkeypatch.setattr(codes, "INTERVAL", 0)
    person = build.member(build.organization())
    waiting = terminal.begin()

    keys.set(OLD, NEW, OLD)
    seen = [terminal.poll(waiting).json()["error"]]
    keys.set(NEW, OLD)
    terminal.answer(person, waiting)
    keys.set(OLD, NEW, OLD)
    tokens = terminal.poll(waiting).json()

    assert seen == ["authorization_pending"]
    assert terminal.me(tokens).status_code == 200


def test_the_sources_of_a_day_stay_the_same_until_the_old_key_is_gone(keys):
    """What an operator holds for a day goes on being held."""
    before = client_address.source("192.0.2.9")

    keys.set(NEW, OLD)
    between = client_address.source("192.0.2.9")
    keys.set(NEW)

    assert between == before
    assert client_address.source("192.0.2.9") != before


def webhook(secret: str) -> int:
    body = json.dumps({"action": "created", "installation": {"id": 1}}).encode()
    signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    headers = {
        "X-GitHub-Event": "ping",
        "X-GitHub-Delivery": "d-1",
        "X-Hub-Signature-256": f"sha256={signature}",
    }
    url = "/v1/webhooks/github"
    return Client().post(url, body, content_type="application/json", headers=headers).status_code


def test_webhooks_are_heard_with_either_secret_in_between(settings):
    settings.HUB_GITHUB_WEBHOOK_SECRET = OLD
    seen = [(webhook(OLD), webhook(NEW))]

    settings.HUB_GITHUB_WEBHOOK_SECRET, settings.HUB_GITHUB_WEBHOOK_SECRET_FALLBACKS = NEW, [OLD]
    seen += [(webhook(OLD), webhook(NEW)), (webhook("another"), webhook(""))]
    settings.HUB_GITHUB_WEBHOOK_SECRET_FALLBACKS = []
    seen += [(webhook(OLD), webhook(NEW))]

    assert seen == [(202, 401), (202, 202), (401, 401), (401, 202)]


@pytest.mark.parametrize(
    ("written", "fallbacks"),
    [("", []), (OLD.replace(",", ""), [OLD.replace(",", "")]), (" a , ,b,", ["a", "b"])],
)
def test_former_secrets_are_listed_with_commas(written, fallbacks):
    assert hub_settings._listed(written) == fallbacks


@pytest.mark.parametrize("fallbacks", [[], [""]])
def test_without_a_secret_no_webhook_is_heard(settings, fallbacks):
    settings.HUB_GITHUB_WEBHOOK_SECRET = ""
    settings.HUB_GITHUB_WEBHOOK_SECRET_FALLBACKS = fallbacks

    assert webhook("") == 401


def another_key() -> tuple[str, str]:
    return key_pair.__wrapped__()


def test_the_key_of_the_app_is_replaced_in_its_file_without_a_restart(
    client, code_host, settings, tmp_path: Path
):
    build.acme(code_host)
    file = tmp_path / "app.pem"
    file.write_text(settings.HUB_GITHUB_PRIVATE_KEY)
    settings.HUB_GITHUB_PRIVATE_KEY, old = str(file), settings.HUB_GITHUB_PRIVATE_KEY
    private, public = another_key()

    def is_sent(with_key: str, number: int) -> bool:
        file.write_text(with_key)
        github_api.forget_tokens()
        build.send(client, build.report(report__summary=f"Gone {number}"))
        return Delivery.objects.latest("pk").status == "sent"

    code_host.app.further_public_keys.append(public)
    between = is_sent(old, 1), is_sent(private, 2)
    code_host.app.public_key_pem = public
    code_host.app.further_public_keys.clear()
    afterwards = is_sent(private, 3), is_sent(old, 4)

    assert between == (True, True)
    assert afterwards == (True, False)


def test_the_secret_for_sign_in_is_replaced(code_host, settings):
    def is_accepted(secret: str) -> bool:
        settings.HUB_GITHUB_CLIENT_SECRET = secret
        until = code_host.now() + timedelta(minutes=10)
        back = "https://hub.example"
        code = code_host.codes.issue(Code(code_host.account("alice"), back, "", until))
        try:
            github_api.visitor(code, redirect_uri=back, deadline=time.monotonic() + 10)
        except github_api.Unreachable:
            return False
        return True

    old = settings.HUB_GITHUB_CLIENT_SECRET
    code_host.app.further_client_secrets.append(NEW)
    between = is_accepted(old), is_accepted(NEW)
    code_host.app.client_secret = NEW
    code_host.app.further_client_secrets.clear()

    assert between == (True, True)
    assert (is_accepted(old), is_accepted(NEW)) == (False, True)
