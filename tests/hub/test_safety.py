"""What every answer carries, and what production settings promise."""

import os
import subprocess
import sys
import time

import pytest
from django.conf import settings as configured
from django.contrib.sessions.models import Session
from django.test import Client

from orgs.models import User
from tests import build
from tests.hub_process import ROOT


def policy(answer) -> dict[str, str]:
    """The Content-Security-Policy by directive."""
    parts = answer["Content-Security-Policy"].split("; ")
    return dict(part.partition(" ")[::2] for part in parts)


@pytest.mark.parametrize("path", ["/login/", "/v1/orgs/me", "/v1/nothing", "/nothing/", "/healthz"])
def test_every_answer_is_locked_down(client, path):
    answer = client.get(path)

    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["X-Frame-Options"] == "DENY"
    assert answer["Referrer-Policy"] == "same-origin"
    assert int(answer["Strict-Transport-Security"].removeprefix("max-age=")) >= 31_536_000
    assert policy(answer)["default-src"] == "'none'"
    assert policy(answer)["frame-ancestors"] == "'none'"
    assert "unsafe" not in answer["Content-Security-Policy"]
    assert "*" not in answer["Content-Security-Policy"]


def test_forms_lead_to_the_hub_and_to_github_only(client):
    assert policy(client.get("/login/"))["form-action"] == "'self' https://github.com"


GUARD = "brought.js"


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path", ["/settings/", "/admin/integrations/hold/add/", "/v0/", "/device/"]
)
@pytest.mark.parametrize("site", ["cross-site", "same-site", "same-origin", "none"])
def test_a_page_to_which_another_site_has_led_waits_before_it_can_be_pressed(client, path, site):
    user = build.member(build.organization())
    User.objects.update(is_staff=True, is_superuser=True)
    client.force_login(user)

    page = client.get(path, headers={"Sec-Fetch-Site": site}).content.decode()

    assert (GUARD in page) == (site in ("cross-site", "same-site"))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "waits"), [("/login/", True), ("/report/", True), ("/v0/", False)]
)
def test_what_a_visitor_can_press_waits_and_docs_do_not(client, path, waits):
    page = client.get(path, headers={"Sec-Fetch-Site": "cross-site"}).content.decode()

    assert (GUARD in page) == waits


@pytest.mark.django_db
def test_cookies_are_bound_to_the_host(client, settings):
    settings.HUB_GITHUB_CLIENT_ID = "client"

    answers = [
        client.get("/login/"),
        client.post("/login/github/"),
        client.get("/login/github/callback/"),
    ]

    cookies = {name: cookie for each in answers for name, cookie in each.cookies.items()}
    assert set(cookies) == {"__Host-session", "__Host-csrf", "__Host-messages"}
    for cookie in cookies.values():
        assert (cookie["secure"], cookie["httponly"]) == (True, True)
        assert (cookie["path"], cookie["domain"], cookie["samesite"]) == ("/", "", "Lax")


@pytest.mark.django_db
def test_a_stranger_begins_only_so_many_sign_ins(client, settings):
    settings.HUB_GITHUB_CLIENT_ID = "client"
    settings.HUB_SIGN_IN_RATE = "2/minute"

    answers = [client.post("/login/github/") for _ in range(3)]

    assert [each.status_code for each in answers] == [302, 302, 429]
    assert 0 < int(answers[2]["Retry-After"]) <= 60
    assert "Try again in" in answers[2].content.decode()
    assert client.post("/login/github/", REMOTE_ADDR="192.0.2.1").status_code == 302


@pytest.mark.django_db
@pytest.mark.parametrize("network", ["198.51.100.{}", "2001:db8:7:{}::1"])
def test_a_network_begins_ten_times_as_many_sign_ins(client, settings, network):
    settings.HUB_GITHUB_CLIENT_ID = "client"
    settings.HUB_SIGN_IN_RATE = "1/minute"

    def begin(address: str) -> int:
        return client.post("/login/github/", REMOTE_ADDR=address).status_code

    answers = [begin(network.format(number)) for number in range(1, 13)]

    assert answers == [302] * 10 + [429] * 2
    assert begin("203.0.113.9") == 302


@pytest.mark.django_db
@pytest.mark.parametrize(
    "is_shared",
    [pytest.param(False, id="process"), pytest.param(True, marks=pytest.mark.slow, id="redis")],
)
def test_who_may_not_sign_in_reads_whose_limit_is_reached(client, settings, request, is_shared):
    if is_shared:
        request.getfixturevalue("redis")
    settings.HUB_GITHUB_CLIENT_ID = "client"
    settings.HUB_SIGN_IN_RATE = "1/minute"

    def begin(number: int) -> str:
        address = f"198.51.100.{number}"
        return client.post("/login/github/", REMOTE_ADDR=address).content.decode()

    pages = [begin(number) for number in (1, 1, *range(2, 11), 11, 1)]

    assert "Too many sign-ins from your address." in pages[1]
    assert all("Too many sign-ins from your network." in page for page in pages[-2:])


@pytest.mark.django_db
@pytest.mark.parametrize(("length", "kept"), [(500, True), (501, False)])
def test_only_a_short_page_is_kept_for_after_a_sign_in(client, settings, length, kept):
    settings.HUB_GITHUB_CLIENT_ID = "client"
    wanted = "/".ljust(length, "x")

    page = client.get("/login/", {"next": wanted}).content.decode()
    client.post("/login/github/", {"next": wanted})
    [(state, *_)] = client.session["socialaccount_states"].values()

    assert (wanted in page, state.get("next") == wanted) == (kept, kept)


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/login/github/", "/login/github/callback/?code=x&state=x"])
def test_other_sites_do_not_use_up_the_sign_ins_of_those_who_look_at_them(client, settings, path):
    settings.HUB_GITHUB_CLIENT_ID = "client"
    settings.HUB_SIGN_IN_RATE = "1/minute"

    answers = [client.get(path) for _ in range(3)]

    assert {each.status_code for each in answers} == {302}
    assert client.post("/login/github/").status_code == 302
    assert client.post("/login/github/").status_code == 429


def end(client: Client, words: str = "code=x", address: str = "127.0.0.1") -> int:
    """End a sign-in that the client has begun; the status."""
    session = client.session
    session["socialaccount_states"] = {"state": ({}, time.time(), "github")}
    session.save()
    path = f"/login/github/callback/?{words}&state=state"
    return client.get(path, REMOTE_ADDR=address).status_code


@pytest.mark.django_db(transaction=True)
def test_a_browser_ends_only_so_many_sign_ins_that_it_has_begun(client, settings, code_host):
    """Also those of one state in the same moment, of which each asks GitHub."""
    settings.HUB_SIGN_IN_RATE = "2/minute"

    assert [end(client) for _ in range(3)] == [302, 302, 429]
    assert client.get("/login/github/callback/?code=x&state=other").status_code == 302


@pytest.mark.django_db(transaction=True)
def test_one_network_does_not_use_up_what_github_answers_for_all_sign_ins(
    client, settings, code_host
):
    """GitHub counts the app's questions for tokens, whoever causes them."""
    settings.HUB_SIGN_IN_RATE = "1000/minute"
    code_host.fail("500", method="*", path="/login/oauth/access_token", times=122)
    neighbors = [f"198.51.100.{number}" for number in range(121)]

    assert [end(client, address=each) for each in neighbors] == [302] * 120 + [429]
    assert end(client, address="203.0.113.9") == 302


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("words", ["error=access_denied", "x=1", "error=access_denied&code=x"])
def test_sign_ins_that_were_canceled_use_up_nobodys(client, settings, code_host, words):
    """GitHub is not asked."""
    settings.HUB_SIGN_IN_RATE = "1/minute"

    assert [end(client, words) for _ in range(3)] == [302] * 3
    assert not code_host.requests
    assert end(client) == 302
    assert end(client) == 429


@pytest.mark.django_db
def test_a_callback_that_was_never_begun_writes_nothing(client):
    answer = client.get("/login/github/callback/?code=x&state=x", follow=True)

    assert "Please sign in again" in answer.content.decode()
    assert not Session.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("query", ["", "code=x&state=x", "error=access_denied", "error=x&state=x"])
def test_no_link_has_the_hub_ask_for_a_sign_in_of_who_is_signed_in(client, query):
    client.force_login(build.member(build.organization()))

    answer = client.get(f"/login/github/callback/?{query}", follow=True)

    assert answer.redirect_chain[-1] == ("/settings/", 302)
    assert not list(answer.context["messages"])


@pytest.mark.django_db
def test_a_report_from_a_browser_with_a_session_needs_no_form_token():
    client = Client(enforce_csrf_checks=True)
    client.force_login(build.member(build.organization()))

    answer = build.send(client, Origin="https://docs.acme.com")

    assert answer.status_code == 201
    assert "Vary" not in answer
    assert not answer.cookies


ON_ITS_OWN_AND_BESIDE_OTHERS = [
    {"DATABASE_URL": "sqlite://:memory:"},
    {
        "DATABASE_URL": "postgresql://hub@127.0.0.1:1/hub",
        "REDIS_URL": "redis://127.0.0.1:1/0",
        "HUB_FORWARDING": "queue",
        "HUB_PROCESSES": "2",
        "HUB_TRUSTED_PROXIES": "1",
        "HUB_CONTACT": "operator@example.com",
    },
]


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    hub = {name: value for name, value in os.environ.items() if not name.startswith("HUB_")}
    production = {"HUB_SECRET_KEY": configured.SECRET_KEY, "DJANGO_SETTINGS_MODULE": "hub.settings"}
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env=hub | production | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("given", ON_ITS_OWN_AND_BESIDE_OTHERS, ids=["sqlite", "postgresql"])
def test_production_settings_pass_the_deployment_check(given):
    """With the settings of docs/v0/how-to/run-in-production.md; no service has to answer for it."""
    ended = run(
        *("manage.py", "check", "--deploy", "--fail-level", "WARNING"),
        HUB_BASE_URL="https://hub.example",
        **given,
    )

    assert ended.returncode == 0, ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("base_url", "expected"),
    [
        ("http://localhost:8000", "session False 0"),
        ("https://hub.example", "__Host-session True 31536000"),
    ],
)
def test_what_needs_https_follows_the_hubs_address(base_url, expected):
    wanted = (
        "from hub.settings import *;"
        "print(SESSION_COOKIE_NAME, SESSION_COOKIE_SECURE, SECURE_HSTS_SECONDS)"
    )

    assert run("-c", wanted, HUB_BASE_URL=base_url).stdout.strip() == expected


@pytest.mark.slow
def test_github_com_is_not_asked_like_an_enterprise_host():
    wanted = (
        "import django; django.setup();"
        "from orgs.people.github_account import OAuth; print(OAuth.authorize_url, OAuth.profile_url)"
    )

    public = run("-c", wanted)
    enterprise = run("-c", wanted, HUB_GITHUB_URL="https://ghe.example")

    assert public.stdout.split() == [
        "https://github.com/login/oauth/authorize",
        "https://api.github.com/user",
    ]
    assert enterprise.stdout.split() == [
        "https://ghe.example/login/oauth/authorize",
        "https://ghe.example/api/v3/user",
    ]


WRITE = """
import os, pathlib, sys

os.umask(0o022)
import django

django.setup()
from django.db import connection

with connection.cursor() as cursor:
    cursor.execute("CREATE TABLE IF NOT EXISTS x (y)")
    cursor.execute("INSERT INTO x VALUES (1)")
    for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
        print(path.name, oct(path.stat().st_mode & 0o777))
"""


@pytest.mark.slow
@pytest.mark.parametrize("before", [[], ["hub.sqlite3", "hub.sqlite3-wal", "hub.sqlite3-shm"]])
def test_nobody_else_on_the_machine_reads_the_database(tmp_path, before):
    for name in before:
        (tmp_path / name).touch(mode=0o644)
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "hub.settings",
        "DATABASE_URL": f"sqlite:///{tmp_path}/hub.sqlite3",
        "HUB_SECRET_KEY": "x",
    }

    ended = subprocess.run(
        [sys.executable, "-c", WRITE, str(tmp_path)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    names = ("hub.sqlite3", "hub.sqlite3-shm", "hub.sqlite3-wal")
    assert ended.stdout.splitlines() == [f"{name} 0o600" for name in names]
