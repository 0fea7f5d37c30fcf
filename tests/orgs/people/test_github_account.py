"""Signing in while GitHub is slow, refuses codes, or has too much to do for this Hub."""

import socket
import time
from collections.abc import Callable, Iterator
from threading import Barrier
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from django.test import Client

from core import deadlines
from integrations.setup.installing import CALLBACK
from orgs.models import User
from orgs.people import github_account
from orgs.people.github_account import BUSY, FAILED, UNREACHED, OAuth
from sandbox import Fault
from tests import build
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

TOKEN, PERSON = "/login/oauth/access_token", "/api/v3/user"


@pytest.fixture
def end(client, code_host, settings, monkeypatch) -> Callable[..., str]:
    """Ends a sign-in of alice, or of another, or with a code that GitHub has not given; returns the page they see."""
    code_host.app.callback_urls.append(f"{settings.HUB_BASE_URL}/login/github/callback/")
    app = {"client_id": code_host.app.client_id, "secret": code_host.app.client_secret}
    provider = {**settings.SOCIALACCOUNT_PROVIDERS["github"], "APP": app}
    settings.SOCIALACCOUNT_PROVIDERS = {"github": provider}
    monkeypatch.setattr(OAuth, "access_token_url", code_host.url + TOKEN)
    monkeypatch.setattr(OAuth, "profile_url", code_host.url + PERSON)

    def ended(code: str = "", *, login: str = "alice", address: str = "127.0.0.1") -> str:
        session = client.session
        session["socialaccount_states"] = {"state": ({"process": "login"}, time.time(), "github")}
        session.save()
        asked = f"{code_host.url}/login/oauth/authorize?client_id=client&login={login}"
        back = requests.get(asked, allow_redirects=False, timeout=10).headers["Location"]
        code = code or parse_qs(urlsplit(back).query)["code"][0]
        path = f"/login/github/callback/?code={code}&state=state"
        return client.get(path, follow=True, REMOTE_ADDR=address).content.decode()

    return ended


@pytest.fixture
def no_slot() -> Iterator[None]:
    assert wait_until(lambda: deadlines._slots()._value == deadlines.slots())
    for _ in range(deadlines.slots()):
        deadlines._slots().acquire()
    yield
    for _ in range(deadlines.slots()):
        deadlines._slots().release()


@pytest.mark.parametrize("path", [TOKEN, PERSON])
def test_who_signs_in_while_github_answers_byte_by_byte_waits_until_the_deadline(
    end, code_host, monkeypatch, path
):
    monkeypatch.setattr(github_account, "DEADLINE", 0.5)
    code_host.fail("drip", milliseconds=20, method="*", path=path)

    page = end()

    assert UNREACHED in page
    assert not User.objects.exists()


def test_both_calls_of_a_sign_in_have_one_deadline(end, monkeypatch):
    run, until = deadlines.run, []

    def noted(call: Callable, *, deadline: float) -> object:
        until.append(deadline)
        return run(call, deadline=deadline)

    monkeypatch.setattr(github_account.deadlines, "run", noted)

    end()

    assert User.objects.get().username == "alice"
    assert len(until) == 2
    assert until[0] == until[1]


@pytest.mark.usefixtures("no_slot")
def test_a_sign_in_asks_nothing_while_the_calls_to_github_have_no_room(end, code_host):
    page = end()

    assert BUSY in page
    assert not [each for each in code_host.requests if each.path in (TOKEN, PERSON)]


def test_a_network_whose_codes_github_refuses_asks_it_no_more_for_an_hour(end, code_host):
    pages = [end(f"guess{number}", address=f"198.51.100.{number}") for number in range(7)]
    asked = len([each for each in code_host.requests if each.path == TOKEN])
    here, elsewhere = end(address="198.51.100.9"), end(address="203.0.113.9")

    assert [FAILED in page for page in pages] == [True] * 5 + [False] * 2
    assert asked == 5
    assert "Too many refused sign-ins from your network. Try again in" in here
    assert "<h1>alice</h1>" in elsewhere


def test_an_account_that_signs_in_all_the_time_is_sent_away_and_then_its_network(end, code_host):
    pages = [end(address=f"198.51.100.{number}") for number in range(27)]
    asked = len([each for each in code_host.requests if each.path == TOKEN])
    here = end(login="bob", address="198.51.100.99")
    as_alice, as_bob = end(address="203.0.113.9"), end(login="bob", address="203.0.113.9")

    refused = ["Too many sign-ins of your GitHub account. Try again in" in page for page in pages]
    assert refused == [False] * 20 + [True] * 5 + [False] * 2
    assert asked == 25
    assert "Too many refused sign-ins from your network. Try again in" in here
    assert "Too many sign-ins of your GitHub account. Try again in" in as_alice
    assert "<h1>bob</h1>" in as_bob


def test_codes_of_somebody_elses_installation_keep_nobody_from_signing_in(end, code_host):
    """Any site leads the browsers of those who look at it to the address that ends an installation of its own."""
    eve = build.api(build.token(build.member(build.organization("eve"), "eve")))
    begun = eve.get("/v1/integrations/github/install").json()["install_url"]
    state = parse_qs(urlsplit(begun).query)["state"][0]

    led = [
        Client().get(CALLBACK, {"state": state, "code": f"guess{number}"}).status_code
        for number in range(7)
    ]

    assert led == [400] * 5 + [429] * 2
    assert "<h1>alice</h1>" in end()


@pytest.mark.usefixtures("redis")
def test_with_redis_each_process_lets_one_more_code_be_refused(end):
    pages = [end(f"guess{number}") for number in range(7)]

    assert [FAILED in page for page in pages] == [True] * 6 + [False]


@pytest.mark.parametrize(
    "fault",
    ["502", "truncated", Fault(status=200, body={}), Fault(status=200, body="<html>")],
    ids=["unavailable", "cut", "empty", "page"],
)
def test_where_github_is_broken_no_network_is_kept_from_signing_in(end, code_host, fault):
    code_host.fail(fault, method="*", path=TOKEN, times=6)

    *failed, last = [end() for _ in range(7)]

    assert all(FAILED in page or UNREACHED in page for page in failed)
    assert "<h1>alice</h1>" in last


@pytest.mark.parametrize("error", ["unverified_user_email", "redirect_uri_mismatch"])
def test_a_refusal_that_is_not_of_the_code_keeps_no_network_from_signing_in(end, code_host, error):
    """Somebody without a verified address tries again, or an operator who sets the app up."""
    answer = f"error={error}&error_description=It+is+no+bad_verification_code."
    code_host.fail(Fault(status=200, body=answer), method="*", path=TOKEN, times=6)

    pages = [end() for _ in range(7)]

    assert [FAILED in page for page in pages] == [True] * 6 + [False]
    assert "<h1>alice</h1>" in pages[-1]


def test_a_network_whose_codes_are_for_something_else_all_the_time_asks_github_no_more(
    end, code_host
):
    """As those that GitHub gives for setting up the app: they are no guesses, and as many as somebody wants."""
    answer = "error=redirect_uri_mismatch&error_description=x"
    code_host.fail(Fault(status=200, body=answer), method="*", path=TOKEN, times=12)

    pages = [end(address=f"198.51.100.{number}") for number in range(12)]
    asked = len([each for each in code_host.requests if each.path == TOKEN])

    assert [FAILED in page for page in pages] == [True] * 10 + [False] * 2
    assert asked == 10
    assert "Too many refused sign-ins from your network. Try again in" in pages[-1]


def test_a_wrong_secret_of_the_hub_keeps_no_network_from_signing_in(end, code_host):
    secret, code_host.app.client_secret = code_host.app.client_secret, "another"
    pages = [end() for _ in range(6)]
    code_host.app.client_secret = secret

    assert all(FAILED in page for page in pages)
    assert "<h1>alice</h1>" in end()


def test_both_hosts_of_a_sign_in_are_looked_up_at_once(end, code_host, monkeypatch):
    """A silent first resolver takes five seconds for each, and a sign-in has ten."""
    look_up, both = socket.getaddrinfo, Barrier(2)

    def slow(host, port, *which, **named):
        if host != "127.0.0.1":
            both.wait(10)
        return look_up("127.0.0.1", port, *which, **named)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    web = code_host.url.replace("127.0.0.1", "localhost")
    api = code_host.url.replace("127.0.0.1", "127.0.0.2")
    monkeypatch.setattr(OAuth, "access_token_url", web + TOKEN)
    monkeypatch.setattr(OAuth, "profile_url", api + PERSON)

    assert "<h1>alice</h1>" in end()


@pytest.fixture
def another_host(code_host) -> str:
    """The same machine by another name: what goes there is seen in `code_host.requests`."""
    return code_host.url.replace("127.0.0.1", "localhost") + "/elsewhere"


@pytest.mark.parametrize("path", [TOKEN, PERSON])
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_of_github_is_not_followed(end, code_host, another_host, path, status):
    moved = Fault(status=status, headers={"Location": another_host})
    code_host.fail(moved, method="*", path=path)

    page = end()

    assert FAILED in page
    assert not [each for each in code_host.requests if each.path == "/elsewhere"]


DEEP, DIGITS = "[" * 100_000, "1" * 5000
TOKENS = ["7", '"access_token"', '{"access_token": 7}', '{"access_token": "\\ud800"}', DEEP, DIGITS]
PEOPLE = [
    "7",
    '{"id": true, "login": "alice"}',
    '{"id": -1, "login": "alice"}',
    '{"id": 9223372036854775808, "login": "alice"}',
    '{"id": 5, "login": ""}',
    '{"id": 5, "login": "al\\u202eice"}',
    '{"id": 5, "login": "al\\u0000ice"}',
    '{"id": 5, "login": "\\ud800"}',
    f'{{"id": 5, "login": "{"a" * 256}"}}',
    DEEP,
    DIGITS,
]


@pytest.mark.parametrize(
    ("path", "body"), [(TOKEN, each) for each in TOKENS] + [(PERSON, each) for each in PEOPLE]
)
def test_whatever_github_answers_nobody_is_signed_in_by_it(end, code_host, path, body):
    as_json = {"Content-Type": "application/json"}
    code_host.fail(Fault(status=200, headers=as_json, body=body), method="*", path=path)

    page = end()

    assert FAILED in page
    assert not User.objects.exists()


def test_when_the_token_ends_does_not_matter(end, code_host):
    body = '{"access_token": "' + "x" * 9 + '", "expires_in": "soon"}'
    as_json = {"Content-Type": "application/json"}
    code_host.fail(Fault(status=200, headers=as_json, body=body), method="*", path=TOKEN)
    me = Fault(status=200, headers=as_json, body='{"id": 5, "login": "alice"}')
    code_host.fail(me, method="*", path=PERSON)

    assert "<h1>alice</h1>" in end()
