"""Creating an app from a manifest, as on GitHub."""

import json
import re
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import github
import pytest
import requests

from sandbox import CodeHost
from tests.sandbox.conftest import UNHURRIED

MANIFEST = {
    "name": "Acme Docs",
    "url": "https://hub.example",
    "hook_attributes": {"url": "https://hub.example/hook"},
    "redirect_url": "https://hub.example/created",
    "callback_urls": ["https://hub.example/back"],
    "public": False,
    "default_permissions": {"issues": "write"},
    "default_events": ["issues", "repository"],
}


@pytest.fixture
def host():
    host = CodeHost(app=None)
    host.add_organization("acme")
    for login in ("alice", "bob"):
        host.add_user(login)
    host.add_member("acme", "alice", role="admin")
    host.add_member("acme", "bob")
    with host.serving():
        yield host


class Person:
    """Somebody with a browser who came from another site."""

    def __init__(self, host: CodeHost, login: str) -> None:
        self.url, self.session = host.url, requests.Session()
        self.send("/login", login=login)

    def send(self, path: str, origin: str = "", **fields: str) -> requests.Response:
        headers = {"Origin": origin or self.url}
        url = self.url + path
        return self.session.post(
            url, data=fields, headers=headers, timeout=10, allow_redirects=False
        )

    def ask(self, owner: str = "", **changed) -> requests.Response:
        manifest = json.dumps(MANIFEST | changed)
        path = f"{owner}/settings/apps/new?state=abc"
        return self.send(path, "https://hub.example", manifest=manifest)

    def create(self, owner: str = "", name: str = "Acme Docs", **changed) -> requests.Response:
        manifest = json.dumps(MANIFEST | changed)
        return self.send(f"{owner}/settings/apps", manifest=manifest, name=name, state="abc")


@pytest.fixture
def alice(host) -> Person:
    return Person(host, "alice")


def convert(host: CodeHost, location: str) -> requests.Response:
    [code] = parse_qs(urlsplit(location).query)["code"]
    return requests.post(f"{host.url}/api/v3/app-manifests/{code}/conversions", timeout=10)


def test_the_page_asks_and_creates_nothing(host, alice):
    page = alice.ask("/organizations/acme")

    assert page.status_code == 200
    assert "Create GitHub App for acme" in page.text
    assert "form-action 'self' https://hub.example" in page.headers["Content-Security-Policy"]
    assert host.app.id == 0


def test_who_is_not_signed_in_is_asked_who_they_are(host):
    data = {"manifest": json.dumps(MANIFEST)}
    page = requests.post(f"{host.url}/settings/apps/new?state=abc", data=data, timeout=10)

    assert "Who are you?" in page.text
    assert "/settings/apps/new?state=abc" in page.text


def test_the_keys_are_told_once(host, alice):
    location = alice.create("/organizations/acme").headers["Location"]
    told, again = convert(host, location), convert(host, location)

    assert re.fullmatch(r"https://hub\.example/created\?code=[0-9a-f]{40}&state=abc", location)
    assert (told.status_code, again.status_code) == (201, 404)
    app = told.json()
    assert (app["slug"], app["owner"]["login"]) == ("acme-docs", "acme")
    assert app["html_url"] == f"{host.url}/github-apps/acme-docs"
    assert app["client_secret"] == host.app.client_secret
    assert app["webhook_secret"] == host.app.webhook_secret
    assert app["permissions"] == {"issues": "write", "metadata": "read"}


def test_the_app_works_with_its_keys(host, alice):
    app = convert(host, alice.create("/organizations/acme").headers["Location"]).json()
    repository = host.add_repository("acme", "docs")
    installation = host.add_installation("acme", repositories=[repository])

    auth = github.Auth.AppAuth(app["id"], app["pem"])
    with github.GithubIntegration(
        auth=auth, base_url=f"{host.url}/api/v3", retry=0, **UNHURRIED
    ) as client:
        assert client.get_app().slug == "acme-docs"
        assert client.get_access_token(installation.id).token.startswith("ghs_")


def test_the_code_lasts_an_hour(host, alice):
    location = alice.create().headers["Location"]
    host.clock_offset = timedelta(hours=1)

    assert convert(host, location).status_code == 404


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"url": None}, "wasn&#x27;t supplied"),
        ({"hook_attributes": {"active": False}}, "wasn&#x27;t supplied"),
        ({"redirect_url": "https://x\r\nSet-Cookie: a=b"}, "redirect_url"),
        ({"redirect_url": "javascript:alert(1)"}, "redirect_url"),
        ({"default_events": ["installation"]}, "Default events unsupported: installation"),
        ({"default_events": "issues"}, "default_events is not valid"),
        ({"default_permissions": {}}, "not supported by permissions: issues"),
        ({"default_permissions": {"contents": "write"}}, "not included in the list: contents"),
        ({"callback_urls": ["/back"]}, "callback_urls"),
    ],
)
def test_a_wrong_manifest_is_refused(host, alice, changed, why):
    asked, made = alice.ask(**changed), alice.create(**changed)

    assert (asked.status_code, made.status_code) == (422, 422)
    assert why in asked.text
    assert host.app.id == 0


@pytest.mark.parametrize("manifest", ["", "{", "[]", "[" * 100_000])
def test_what_is_no_manifest_is_refused(alice, manifest):
    assert alice.send("/settings/apps/new", manifest=manifest).status_code == 422


def test_a_name_is_taken_once(host, alice):
    first = alice.create()
    second = alice.create(name="acme docs")
    third = alice.create(name="Other Docs")

    assert (first.status_code, third.status_code) == (302, 302)
    assert second.status_code == 422
    assert "Name has already been taken" in second.text
    assert host.app.slug == "other-docs"
    assert convert(host, first.headers["Location"]).status_code == 404


def test_only_owners_create_apps_of_an_organization(host):
    bob = Person(host, "bob")

    assert bob.ask("/organizations/acme").status_code == 404
    assert bob.create("/organizations/acme").status_code == 404
    assert host.app.id == 0


def test_another_site_cannot_press_the_button(host, alice):
    path = "/settings/apps"
    manifest = json.dumps(MANIFEST)
    answer = alice.send(path, "https://evil.example", manifest=manifest, name="x", state="")

    assert answer.status_code == 403
    assert host.app.id == 0


def test_an_app_can_be_deleted_by_its_owner(host, alice):
    alice.create("/organizations/acme")
    path = "/organizations/acme/settings/apps"

    assert "Acme Docs" in alice.session.get(host.url + path, timeout=10).text
    assert Person(host, "bob").send(f"{path}/delete").status_code == 404
    assert alice.send(f"{path}/delete").status_code == 302
    assert "There is none" in alice.session.get(host.url + path, timeout=10).text


def test_without_an_app_nobody_calls_as_it(host):
    forged = "Bearer e30.e30.e30"
    answers = [
        requests.get(f"{host.url}/api/v3/app", headers={"Authorization": forged}, timeout=10),
        requests.get(f"{host.url}/login/oauth/authorize?client_id=", timeout=10),
        requests.get(f"{host.url}/github-apps//installations/new", timeout=10),
    ]

    assert [each.status_code for each in answers] == [401, 400, 404]


def test_a_private_app_is_for_its_owner_only(host, alice):
    alice.create("/organizations/acme")
    page = alice.session.get(f"{host.url}/github-apps/acme-docs/installations/new", timeout=10)

    assert "<legend>acme</legend>" in page.text
    assert "<legend>alice</legend>" not in page.text
