"""Sign-in over HTTP: the Hub's production server, the sandbox code host, a browser's cookies and forms."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from allauth.socialaccount.models import SocialAccount, SocialToken
from django.core import serializers

from core import at_once
from integrations.models import Integration
from orgs.models import Membership, Organization, User
from sandbox import CodeHost, Fault
from tests import build
from tests.conftest import new_code_host, settings_for
from tests.hub_process import HubProcess
from tests.plain_browser import Browser


@pytest.fixture(scope="module")
def code_host() -> Iterator[CodeHost]:
    host = new_code_host()
    with host.serving():
        yield host


@pytest.fixture(scope="module")
def hub(django_db_setup, code_host) -> Iterator[HubProcess]:
    """One process for all tests here: between them, only the database is emptied."""
    with HubProcess(**settings_for(code_host)) as process:
        code_host.app.callback_urls.append(f"{process.url}/login/github/callback/")
        yield process


@pytest.fixture
def browser(hub: HubProcess, transactional_db) -> Browser:
    return Browser(hub.url)


def authorization(browser: Browser, path: str = "/login/") -> requests.Response:
    """GitHub's page, as the Hub's form leads there."""
    return browser.send(browser.open(path))


def test_a_first_sign_in_makes_an_organization_with_its_owner(browser, code_host):
    answer = browser.sign_in("alice")

    assert answer.url == f"{browser.url}/settings/"
    assert "<h1>alice</h1>" in answer.text
    owner = Membership.objects.get()
    assert (owner.github_id, owner.login) == (code_host.account("alice").id, "alice")


def test_the_first_page_says_what_stops_the_reports(browser, code_host):
    owner = build.acme(code_host)
    build.member(owner, github_id=code_host.account("alice").id)
    Integration.objects.update(problem="acme/docs is archived.")
    Membership.objects.update(user=None)
    User.objects.all().delete()

    asked = authorization(browser, "/login/?next=/settings/claims/")
    answer = browser.send(asked, login="alice")

    said = "Nothing is being sent to acme/docs. acme/docs is archived."
    assert answer.url == f"{browser.url}/settings/claims/"
    assert said in answer.text
    assert said not in browser.open("/settings/claims/").text


def test_only_identity_is_asked_for_and_nothing_else_is_kept(browser, code_host):
    asked = parse_qs(urlsplit(authorization(browser).url).query)
    browser.sign_in("alice")

    assert asked["scope"] == ["read:user"]
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["redirect_uri"] == [f"{browser.url}/login/github/callback/"]
    assert {each.path for each in code_host.requests if "/api/" in each.path} == {"/api/v3/user"}
    assert not SocialToken.objects.exists()
    kept = serializers.serialize("json", [*User.objects.all(), *SocialAccount.objects.all()])
    assert "alice@example.com" not in kept
    assert "Alice" not in kept


def test_the_address_cannot_widen_what_is_asked_for(browser):
    page = browser.open("/login/")
    page.url = f"{browser.url}/login/"
    text = page.text.replace("/login/github/", "/login/github/?scope=repo&amp;process=connect")
    page._content = text.encode()

    asked = parse_qs(urlsplit(browser.send(page).url).query)

    assert asked["scope"] == ["read:user"]


def test_a_second_sign_in_finds_what_is_there(browser, hub):
    browser.sign_in("alice")

    Browser(hub.url).sign_in("alice")

    assert User.objects.count() == Organization.objects.count() == 1


def test_who_was_invited_joins(browser, code_host):
    acme = build.organization()
    bob = code_host.account("bob").id
    Membership.objects.create(organization=acme, github_id=bob, login="bob", role="member")

    answer = browser.sign_in("bob")

    assert "<h1>acme</h1>" in answer.text
    assert "<summary>bob</summary>" in answer.text
    assert Organization.objects.count() == 1


def test_a_new_login_of_the_same_account_is_the_same_person(browser, hub, code_host):
    browser.sign_in("charlie")
    renamed = code_host.accounts["carol"] = code_host.accounts.pop("charlie")
    renamed.login = "carol"

    answer = Browser(hub.url).sign_in("carol")

    assert "<h1>charlie</h1>" in answer.text
    assert "<summary>carol</summary>" in answer.text


def test_a_login_belongs_to_who_had_it_on_github_last(browser, hub, code_host):
    """Operators find accounts by it: whoever is called so now, and whoever was, are two people."""
    browser.sign_in("bob")
    code_host.rename_account("bob", "robert")
    code_host.add_user("bob")

    answer = Browser(hub.url).sign_in("bob")
    former, now = User.objects.order_by("pk").values_list("username", flat=True)

    assert "<summary>bob</summary>" in answer.text
    assert now == "bob"
    assert re.fullmatch(r"bob, formerly \(\d+\)", former)

    again = Browser(hub.url).sign_in("robert")
    assert "<summary>robert</summary>" in again.text
    assert User.objects.count() == 2


def test_a_login_belongs_to_one_account_in_whatever_case(browser, hub, code_host):
    code_host.add_user("dora")
    browser.sign_in("dora")
    code_host.rename_account("dora", "dorothea")
    code_host.add_user("Dora")

    Browser(hub.url).sign_in("Dora")
    former, now = User.objects.order_by("pk").values_list("username", flat=True)

    assert (former[:14], now) == ("Dora, formerly", "Dora")


def test_the_page_that_asked_for_it_is_the_page_that_comes(browser):
    asked = browser.open("/settings/tokens/")
    answer = browser.send(browser.send(asked), login="alice")

    assert asked.url == f"{browser.url}/login/?next=/settings/tokens/"
    assert answer.url == f"{browser.url}/settings/tokens/"


@pytest.mark.parametrize(
    "elsewhere",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example/",
        "javascript:1",
        "http://localhost:1/",
    ],
)
def test_no_other_host_comes_after_a_sign_in(browser, elsewhere):
    answer = browser.sign_in("alice", f"/login/?next={elsewhere}")

    assert answer.url == f"{browser.url}/settings/"


def test_who_cancels_is_told_so(browser):
    answer = browser.send(authorization(browser), cancel="1")

    assert answer.url == f"{browser.url}/login/"
    assert "You cancelled on GitHub" in answer.text


def test_a_callback_begun_elsewhere_signs_nobody_in(browser, hub):
    page = authorization(browser)
    state = parse_qs(urlsplit(page.url).query)["state"][0]

    victim = Browser(hub.url)
    answer = victim.open(f"/login/github/callback/?code=0123456789&state={state}")

    assert "started in another browser" in answer.text
    assert victim.open("/settings/").url.startswith(f"{browser.url}/login/")


def test_a_callback_is_good_once(browser):
    answer = browser.sign_in("alice")
    callback = next(each.url for each in answer.history if "/callback/" in each.url)
    browser.send(browser.open("/logout/"))

    again = browser.open(callback)

    assert again.url == f"{browser.url}/login/"
    assert "sign in again" in again.text


def test_a_code_that_github_does_not_know_signs_nobody_in(browser):
    state = parse_qs(urlsplit(authorization(browser).url).query)["state"][0]

    answer = browser.open(f"/login/github/callback/?code=unknown&state={state}")

    assert "could not confirm who you are" in answer.text


TOKEN, PERSON = "/login/oauth/access_token", "/api/v3/user"
UNKNOWN, UNREACHED = "could not confirm who you are", "The Hub could not reach GitHub"


@pytest.mark.parametrize(
    ("fault", "where", "sentence"),
    [
        ("502", TOKEN, UNKNOWN),
        (Fault(status=200, body={}), TOKEN, UNKNOWN),
        (Fault(status=200, body="<html>"), TOKEN, UNKNOWN),
        ("401", PERSON, UNKNOWN),
        ("500", PERSON, UNKNOWN),
        (Fault(without=("id",)), PERSON, UNKNOWN),
        (Fault(without=("login",)), PERSON, UNKNOWN),
        (Fault(status=200, body="<html>"), PERSON, UNKNOWN),
        *((broken, TOKEN, UNREACHED) for broken in ("refuse", "truncated", "reset_mid_answer")),
        *((broken, PERSON, UNREACHED) for broken in ("refuse", "truncated", "reset_mid_answer")),
    ],
)
def test_where_github_is_broken_nobody_is_signed_in_and_it_is_said(
    browser, code_host, fault, where, sentence
):
    page = authorization(browser)
    code_host.fail(fault, method="*", path=where)

    answer = browser.send(page, login="alice")

    assert sentence in answer.text
    assert not User.objects.exists()


def test_two_first_sign_ins_at_once_make_one_organization(hub, transactional_db):
    windows = [Browser(hub.url) for _ in range(at_once.MOST)]
    pages = [authorization(each) for each in windows]

    with ThreadPoolExecutor(len(windows)) as pool:
        answers = list(
            pool.map(
                lambda each: each[0].send(each[1], login="alice"), zip(windows, pages, strict=True)
            )
        )

    assert {each.status_code for each in answers} == {200}
    words = ("<h1>alice</h1>", "signing in in another window")
    assert all(any(each in answer.text for each in words) for answer in answers)
    assert User.objects.count() == Organization.objects.count() == Membership.objects.count() == 1


def test_signing_out_asks_and_then_does(browser):
    browser.sign_in("alice")

    asked = browser.open("/logout/")
    still = browser.open("/settings/")
    out = browser.send(asked)

    assert "Sign out?" in asked.text
    assert still.url == f"{browser.url}/settings/"
    assert out.url == f"{browser.url}/login/"
    assert browser.open("/settings/").url.startswith(f"{browser.url}/login/")


def test_a_form_of_another_site_is_refused(browser):
    browser.sign_in("alice")

    answer = requests.post(
        f"{browser.url}/logout/",
        cookies=browser.cookies,
        headers={"Origin": "https://evil.example"},
        timeout=10,
    )

    assert answer.status_code == 403
    assert browser.open("/settings/").url == f"{browser.url}/settings/"


@pytest.mark.parametrize(
    "path",
    ["signup/", "login/email/", "password/reset/", "password/change/", "3rdparty/", "3rdparty/signup/",
     "accounts/login/", "identity/o/device", "identity/o/authorize"],
)  # fmt: skip
def test_there_is_no_other_door(client, path):
    assert client.get(f"/{path}").status_code == 404


def test_a_password_signs_nobody_in(client, db):
    alice = User(username="alice")
    alice.set_password("correct")
    alice.save()

    client.post("/login/", {"login": "alice", "username": "alice", "password": "correct"})

    assert client.get("/settings/").status_code == 302


def test_a_token_made_in_the_browser_opens_the_interface(browser):
    browser.sign_in("alice")

    value = browser.new_token()

    shown_again = browser.open("/settings/tokens/").text
    assert value not in shown_again
    assert f"hub_…{value[-4:]}" in shown_again
    assert re.search(r"Read, Change", shown_again)
