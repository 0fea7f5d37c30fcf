from collections.abc import Iterator
from urllib.parse import parse_qs

import pytest
import requests

from tests.sandbox.conftest import CALLBACK

NEW = "/github-apps/docs-feedback/installations/new"


class Browser:
    """Keeps cookies, follows no redirect."""

    def __init__(self, url: str, session: requests.Session) -> None:
        self.url, self.session = url, session

    def get(self, path: str) -> requests.Response:
        return self.session.get(self.url + path, allow_redirects=False, timeout=5)

    def post(self, path: str, data: dict) -> requests.Response:
        return self.session.post(self.url + path, data, allow_redirects=False, timeout=5)


@pytest.fixture
def browser(host) -> Iterator[Browser]:
    """alice's browser, and a second organization of hers without the app: initech."""
    host.add_organization("initech")
    host.add_member("initech", "alice", role="admin")
    host.add_repository("initech", "manual")
    host.add_repository("initech", "site")
    with requests.Session() as session:
        session.post(f"{host.url}/login", {"login": "alice"}, timeout=5)
        yield Browser(host.url, session)


def brought(answer: requests.Response, to: str) -> dict[str, str]:
    """What the browser brings along to the address that it was sent to."""
    assert answer.status_code == 302
    url, _, query = answer.headers["Location"].partition("?")
    assert url == to
    return {name: values[0] for name, values in parse_qs(query).items()}


@pytest.mark.parametrize("path", [NEW, "/apps/docs-feedback/installations/new"])
def test_the_page_offers_the_accounts_that_are_theirs(browser, path):
    text = browser.get(f"{path}?state=xyz").text

    assert "Signed in as alice." in text
    assert '<input type="hidden" name="account" value="initech">' in text
    assert '<input type="hidden" name="account" value="alice">' in text
    assert '<a href="/organizations/acme/settings/installations/3001">Configure</a>' in text
    assert '<input type="hidden" name="state" value="xyz">' in text
    assert text.count("initech/manual") == 1
    assert 'value="bob"' not in text


def test_installing_sends_the_browser_to_the_app_with_a_code(host, browser, sign_in, call):
    manual = host.repository("initech/manual")
    form = {"account": "initech", "repository": str(manual.id), "state": "xyz"}

    answer = browser.post(NEW, form)

    params = brought(answer, CALLBACK)
    installation = host.installations[int(params["installation_id"])]
    assert (params["setup_action"], params["state"]) == ("install", "xyz")
    assert installation.repositories == [manual]
    assert installation.permissions == {"issues": "write", "metadata": "read"}
    sent = {"client_id": "client", "client_secret": "not-a-secret", "code": params["code"]}
    token = parse_qs(requests.post(f"{host.url}/login/oauth/access_token", sent, timeout=5).text)[
        "access_token"
    ][0]
    assert call("GET", "/user", token).json()["login"] == "alice"
    listed = call("GET", "/user/installations", token).json()["installations"]
    assert installation.id in [each["id"] for each in listed]


def test_all_repositories_means_future_ones_too(host, browser):
    browser.post(NEW, {"account": "initech", "selection": "all"})

    later = host.add_repository("initech", "later")

    installation = host.installation_on(later.owner)
    assert installation.repositories is None
    assert installation.covers(later)


def test_an_app_that_asks_for_no_code_gets_none(host, browser):
    host.app.asks_for_code = False
    host.app.setup_url = "http://127.0.0.1:1/setup"

    answer = browser.post(NEW, {"account": "initech", "selection": "all", "state": "xyz"})

    params = brought(answer, "http://127.0.0.1:1/setup")
    assert sorted(params) == ["installation_id", "setup_action", "state"]


def test_where_it_is_installed_already_the_app_is_never_called(host, browser):
    answer = browser.post(NEW, {"account": "acme", "selection": "all", "state": "xyz"})
    settings = browser.get(answer.headers["Location"])

    assert answer.headers["Location"] == "/organizations/acme/settings/installations/3001"
    assert len(host.installations) == 1
    assert "<li>acme/docs</li>" in settings.text
    assert CALLBACK not in settings.text


def test_an_app_without_an_address_leaves_the_browser_where_it_is(host, browser):
    host.app.callback_urls.clear()

    answer = browser.post(NEW, {"account": "alice", "selection": "all"})

    assert answer.headers["Location"] == "/settings/installations/3002"


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ({"account": "initech"}, 422),
        ({"account": "initech", "repository": "2001"}, 422),
        ({"account": "bob", "selection": "all"}, 403),
        ({"selection": "all"}, 403),
    ],
)
def test_an_installation_that_makes_no_sense_is_refused(host, browser, form, status):
    answer = browser.post(NEW, form)

    assert answer.status_code == status
    assert len(host.installations) == 1


def test_another_apps_page_is_not_found(browser):
    assert browser.get("/apps/other/installations/new").status_code == 404
    assert browser.post("/apps/other/installations/new", {}).status_code == 404


def test_who_is_not_signed_in_is_asked_first(host):
    for answer in (
        requests.get(host.url + NEW, allow_redirects=False, timeout=5),
        requests.post(host.url + NEW, allow_redirects=False, timeout=5),
    ):
        assert answer.status_code == 302
        assert answer.headers["Location"].startswith("/login?return_to=%2Fgithub-apps%2F")


def test_a_login_in_the_address_signs_in_at_once(host):
    with requests.Session() as session:
        page = session.get(f"{host.url}{NEW}?login=bob", timeout=5)

        assert "Signed in as bob." in page.text
        assert "acme" not in page.text
        assert "Signed in as bob." in session.get(host.url + NEW, timeout=5).text


def test_the_settings_of_an_installation_are_for_owners(host):
    path = "/organizations/acme/settings/installations/3001"
    with requests.Session() as session:
        stranger = session.get(host.url + path, timeout=5)
        session.post(f"{host.url}/login", {"login": "bob"}, timeout=5)
        member = session.get(host.url + path, timeout=5)

    assert "<h1>Who are you?</h1>" in stranger.text
    assert member.status_code == 404
