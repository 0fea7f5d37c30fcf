"""The one-time page: who gets it, and what an attacker may try."""

import html
import json
import re

import pytest
from django.db import OperationalError, ProgrammingError
from django.test import Client

from hub.registering import pages
from hub.registering.offer import Offer, OfferQuerySet

pytestmark = pytest.mark.django_db
CREATED = "/setup/github/created/"


@pytest.fixture
def token(code_host) -> str:
    return Offer.objects.begin(name="Acme Docs", organization="acme", is_public=True)


@pytest.fixture
def opened(token, client) -> str:
    """The page, in the browser of `client`."""
    return client.get(f"/setup/github/{token}/").content.decode()


def state_of(page: str) -> str:
    return re.search(r"\?state=([\w-]{43})\"", page)[1]


def answer(client: Client, state: str, code: str = "a1b2"):
    return client.get(CREATED, {"code": code, "state": state})


def test_the_page_has_one_button_and_leads_to_github(token, client, settings):
    response = client.get(f"/setup/github/{token}/")

    page = response.content.decode()
    action = f"{settings.HUB_GITHUB_URL}/organizations/acme/settings/apps/new?state="
    assert f'<form method="post" action="{action}' in page
    assert page.count("<button") == 1
    sent = json.loads(html.unescape(re.search(r'name="manifest" value="([^"]*)"', page)[1]))
    assert sent["redirect_url"] == f"{settings.HUB_BASE_URL}{CREATED}"
    assert response["Referrer-Policy"] == "strict-origin"
    assert "no-store" in response["Cache-Control"]


def test_the_address_stands_nowhere_in_the_page(token, client):
    assert token not in client.get(f"/setup/github/{token}/").content.decode()


@pytest.mark.parametrize(
    "error", [OperationalError("locked"), ProgrammingError("no such table: x"), ZeroDivisionError()]
)
def test_nor_in_the_log_where_the_page_fails(token, monkeypatch, caplog, error):
    def fails(*args):
        raise error

    monkeypatch.setattr(OfferQuerySet, "open", fails)
    client = Client(raise_request_exception=False)

    answer = client.get(f"/setup/github/{token}/")

    assert answer.status_code in (500, 503)
    assert token not in caplog.text
    assert "/setup/github/<str:token>/" in caplog.text


def test_a_token_that_nobody_has_made_leads_nowhere(token, client):
    for guess in ("x", token[:-1], token + "x", token.swapcase(), "%00", "a" * 5000):
        assert client.get(f"/setup/github/{guess}/").status_code == 404

    assert Offer.objects.get().stage == "offered"


def test_the_page_is_for_the_first_browser_only(opened, token, client):
    again = client.get(f"/setup/github/{token}/")
    other = Client().get(f"/setup/github/{token}/")

    assert state_of(again.content.decode()) == state_of(opened)
    assert other.status_code == 404
    assert other.content == Client().get("/setup/github/x/").content


@pytest.mark.parametrize("method", ["head", "put", "delete", "options"])
def test_what_only_looks_does_not_open_it(token, client, method):
    response = getattr(client, method)(f"/setup/github/{token}/")

    assert response.status_code == 404
    assert Offer.objects.get().stage == "offered"


def test_it_ends_after_ten_minutes(token, client, clock):
    clock.advance(minutes=10)

    assert client.get(f"/setup/github/{token}/").status_code == 404


def test_an_open_page_ends_with_them(opened, token, client, clock):
    clock.advance(minutes=10)

    late = answer(client, state_of(opened))
    assert client.get(f"/setup/github/{token}/").status_code == 404
    assert late.status_code == 400
    assert "delete it among" in late.content.decode()
    assert "/organizations/acme/settings/apps" in late.content.decode()


def test_a_hub_with_an_app_has_no_such_page(token, client, settings, django_assert_num_queries):
    settings.HUB_GITHUB_CLIENT_ID = "client"

    with django_assert_num_queries(0):
        assert client.get(f"/setup/github/{token}/").status_code == 404
        assert client.get(CREATED).status_code == 404
        assert client.get(CREATED, {"code": "a1b2"}).status_code == 404


def test_another_browser_than_the_one_that_opened_it_gets_no_answer_in(opened):
    other = Client()

    response = answer(other, state_of(opened))

    assert other.get(CREATED).status_code == 404
    assert response.status_code == 400
    assert "delete it among" in response.content.decode()
    assert "acme" not in response.content.decode()
    assert Offer.objects.get().code == ""


@pytest.mark.parametrize("state", ["", "wrong", "x" * 43, "é", "\x00"])
def test_an_attackers_code_is_not_taken(opened, client, state):
    response = answer(client, state, code="attackers")

    assert response.status_code == 400
    assert "does not belong to the page" in response.content.decode()
    assert Offer.objects.get().stage == "opened"


@pytest.mark.parametrize("code", ["", "../../user", "a b", "a\r\nX: y", "a/b", "x" * 201, "é"])
def test_a_code_that_is_none_is_not_taken(opened, client, code):
    response = answer(client, state_of(opened), code=code)

    assert response.status_code == 400
    assert Offer.objects.get().code == ""


def test_the_answer_counts_once(opened, client, token):
    first = answer(client, state_of(opened), code="first")
    second = answer(client, state_of(opened), code="second")

    assert (first.status_code, first["Location"]) == (302, CREATED)
    assert second.status_code == 400
    assert Offer.objects.take_code(token) == "first"
    assert Offer.objects.take_code(token) is None
    assert answer(client, state_of(opened), code="third").status_code == 400
    assert client.get(f"/setup/github/{token}/").status_code == 404


def test_a_cookie_of_ones_own_making_is_not_believed(opened, token):
    forger = Client()
    forger.cookies[pages.COOKIE] = f"{token}.{state_of(opened)}:1:forged"

    assert answer(forger, state_of(opened)).status_code == 400
    assert forger.get(CREATED).status_code == 404
    assert Offer.objects.get().code == ""


def test_a_cookie_of_an_earlier_offer_gets_no_answer_in(opened, client):
    Offer.objects.begin(name="Another", organization="", is_public=True)

    response = answer(client, state_of(opened))

    assert response.status_code == 400
    assert Offer.objects.get().code == ""


def test_the_cookie_is_for_this_host_and_for_no_script(token, client):
    client.get(f"/setup/github/{token}/")

    cookie = client.cookies["__Host-setup"]
    assert (cookie["httponly"], cookie["secure"], cookie["samesite"]) == (True, True, "Lax")
    assert (cookie["path"], cookie["max-age"]) == ("/", 3600)


def test_what_an_operator_typed_is_text_in_the_page(code_host, client, settings):
    settings.HUB_BASE_URL = 'https://hub.example"><script>'
    name = "\"'><script>alert(1)</script>&"
    token = Offer.objects.begin(name=name, organization='a"b', is_public=True)

    page = client.get(f"/setup/github/{token}/").content.decode()

    assert "<script>" not in page.replace('<script src="', "")
    sent = json.loads(html.unescape(re.search(r'name="manifest" value="([^"]*)"', page)[1]))
    assert (sent["name"], sent["url"]) == (name, settings.HUB_BASE_URL)
    assert "/organizations/a%22b/settings/apps/new" in page


@pytest.mark.parametrize(
    ("stage", "ahead", "words", "reloads"),
    [
        ("opened", 0, "Waiting for GitHub", False),
        ("answered", 0, "GitHub has created the app", True),
        ("answered", 10, "The command no longer waits", False),
        ("failed", 0, "could not be saved", False),
        ("done", 10, "The app is created", False),
    ],
)
def test_the_page_says_how_far_it_is(opened, client, clock, stage, ahead, words, reloads):
    Offer.objects.update(stage=stage)
    clock.advance(minutes=ahead)

    page = client.get(CREATED).content.decode()

    assert words in page
    assert ('http-equiv="refresh"' in page) is reloads


def test_where_the_button_leads_is_allowed_by_the_policy(opened, client, token):
    policy = client.get(f"/setup/github/{token}/")["Content-Security-Policy"]

    assert "form-action 'self' https://github.com" in policy  # as the settings were at start
