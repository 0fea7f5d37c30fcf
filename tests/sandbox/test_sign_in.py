import base64
import hashlib
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import github
import pytest
import requests

from sandbox.sessions import COOKIE
from tests.sandbox.conftest import CALLBACK

AUTHORIZE = {"client_id": "client", "redirect_uri": CALLBACK, "state": "xyz"}
EXCHANGE = {"client_id": "client", "client_secret": "not-a-secret"}


def location(answer: requests.Response) -> tuple[str, dict[str, str]]:
    """Where a redirect leads, and the parameters that it brings along."""
    assert answer.status_code == 302
    url, _, query = answer.headers["Location"].partition("?")
    return url, {name: values[0] for name, values in parse_qs(query).items()}


@pytest.fixture
def browse(host):
    def request(method: str, path: str, **options: Any) -> requests.Response:
        return requests.request(
            method, host.url + path, timeout=5, allow_redirects=False, **options
        )

    return request


@pytest.fixture
def code(browse):
    """alice's code, through the shortcut."""

    def new_code(**more: str) -> str:
        params = {**AUTHORIZE, "login": "alice", **more}
        return location(browse("GET", "/login/oauth/authorize", params=params))[1]["code"]

    return new_code


@pytest.fixture
def exchange(browse):
    def for_a_token(code: str, **more: str) -> requests.Response:
        sent = {**EXCHANGE, "code": code, **more}
        json = {"Accept": "application/json"}
        return browse("POST", "/login/oauth/access_token", data=sent, headers=json)

    return for_a_token


def test_a_person_picks_who_they_are_and_the_app_learns_it(browse, exchange, connect):
    asked = browse("GET", "/login/oauth/authorize", params=AUTHORIZE)
    agreed = browse("POST", "/login/oauth/authorize", data={**AUTHORIZE, "login": "bob"})
    url, brought = location(agreed)
    token = exchange(brought["code"], redirect_uri=CALLBACK).json()

    assert [f'value="{name}">Sign in as' in asked.text for name in ("alice", "bob", "charlie")] == [
        True
    ] * 3
    assert (url, brought["state"]) == (CALLBACK, "xyz")
    assert (token["token_type"], token["scope"]) == ("bearer", "")
    user = connect(token["access_token"]).get_user()
    assert (user.login, user.name, user.email, user.type) == ("bob", "Bob", None, "User")


def test_the_page_may_send_its_form_to_the_app_and_nowhere_else(browse):
    policy = browse("GET", "/login/oauth/authorize", params=AUTHORIZE).headers[
        "Content-Security-Policy"
    ]

    assert policy.endswith("form-action 'self' http://127.0.0.1:1")


def test_nothing_in_the_address_is_live_on_the_page(browse):
    hostile = {**AUTHORIZE, "state": '"><script>alert(1)</script>'}

    text = browse("GET", "/login/oauth/authorize", params=hostile).text

    assert "<script" not in text
    assert "&quot;&gt;&lt;script&gt;" in text


def test_who_refuses_is_sent_back_without_a_code(browse):
    answer = browse("POST", "/login/oauth/authorize", data={**AUTHORIZE, "cancel": "1"})

    assert location(answer) == (CALLBACK, {"error": "access_denied", "state": "xyz"})


def test_without_an_address_the_first_callback_url_is_taken(host, browse):
    host.app.callback_urls.append("http://127.0.0.1:1/other")
    params = {"client_id": "client", "login": "alice"}

    url, brought = location(browse("GET", "/login/oauth/authorize", params=params))

    assert url == CALLBACK
    assert "state" not in brought


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"client_id": "other"}, 404),
        ({"redirect_uri": "http://127.0.0.1:1/elsewhere"}, 400),
        ({"redirect_uri": "javascript:alert(1)"}, 400),
        ({"login": "mallory"}, 422),
        ({"login": "acme"}, 422),
        ({"login": "docs-feedback[bot]"}, 422),
    ],
)
def test_a_sign_in_that_makes_no_sense_stays_on_the_page(browse, changed, status):
    params = {**AUTHORIZE, "login": "alice", **changed}

    answer = browse("GET", "/login/oauth/authorize", params=params)

    assert answer.status_code == status
    assert "Location" not in answer.headers


def test_a_code_is_good_once(code, exchange):
    once = code()

    first = exchange(once)
    second = exchange(once)

    assert "access_token" in first.json()
    assert (second.status_code, second.json()["error"]) == (200, "bad_verification_code")


def test_a_code_is_good_for_ten_minutes(host, code, exchange):
    old = code()
    host.clock_offset = timedelta(minutes=10)

    assert exchange(old).json()["error"] == "bad_verification_code"


@pytest.mark.parametrize(
    ("changed", "status", "error"),
    [
        ({"client_id": "other"}, 404, "Not Found"),
        ({"client_secret": "wrong"}, 200, "incorrect_client_credentials"),
        ({"code": "wrong"}, 200, "bad_verification_code"),
        ({"redirect_uri": "http://127.0.0.1:1/x"}, 200, "redirect_uri_mismatch"),
    ],
)
def test_an_exchange_that_does_not_fit_is_refused(code, exchange, changed, status, error):
    sent = {"code": code(), **changed}

    answer = exchange(**sent)

    assert (answer.status_code, answer.json()["error"]) == (status, error)
    assert "access_token" not in answer.json()


@pytest.mark.parametrize(("verifier", "proved"), [("v" * 43, True), ("w" * 43, False), ("", False)])
def test_a_code_with_a_challenge_wants_its_verifier(code, exchange, verifier, proved):
    digest = hashlib.sha256(b"v" * 43).digest()
    challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
    challenged = code(code_challenge=challenge, code_challenge_method="S256")

    answer = exchange(challenged, code_verifier=verifier).json()

    assert ("access_token" in answer) is proved


def test_the_token_comes_as_a_form_unless_json_is_wanted(browse, code):
    as_form = browse("POST", "/login/oauth/access_token", data={**EXCHANGE, "code": code()})
    from_json = browse(
        "POST",
        "/login/oauth/access_token",
        json={**EXCHANGE, "code": code()},
        headers={"Accept": "application/json"},
    )

    assert as_form.headers["Content-Type"].startswith("application/x-www-form-urlencoded")
    assert parse_qs(as_form.text)["token_type"] == ["bearer"]
    assert from_json.json()["token_type"] == "bearer"


def test_a_person_has_one_verified_address(call, sign_in):
    (email,) = call("GET", "/user/emails", sign_in("alice")).json()

    assert (email["email"], email["primary"], email["verified"]) == (
        "alice@example.com",
        True,
        True,
    )


@pytest.mark.parametrize(("login", "found"), [("alice", [3001]), ("bob", [3001]), ("charlie", [])])
def test_a_person_sees_the_installations_that_are_theirs(connect, sign_in, login, found):
    installations = connect(sign_in(login)).get_user().get_installations()

    assert [each.id for each in installations] == found


@pytest.mark.parametrize(
    ("login", "rights"),
    [
        ("alice", {"docs": "admin", "secret": "admin"}),
        ("bob", {"docs": "push", "secret": "pull"}),
        ("charlie", {"secret": "triage"}),
    ],
)
def test_a_person_sees_their_rights_in_each_repository(host, call, sign_in, login, rights):
    host.grant("bob", "acme/docs", "push")
    host.grant("charlie", "acme/secret", "triage")

    answer = call("GET", "/user/installations/3001/repositories", sign_in(login)).json()

    highest = {
        each["name"]: next(right for right, granted in each["permissions"].items() if granted)
        for each in answer["repositories"]
    }
    assert highest == rights
    assert answer["total_count"] == len(rights)


def test_a_person_reads_a_repository_with_their_rights(host, connect, sign_in):
    host.grant("bob", "acme/secret", "push")

    repository = connect(sign_in("bob")).get_repo("acme/secret")

    assert (repository.permissions.push, repository.permissions.admin) == (True, False)
    with pytest.raises(github.UnknownObjectException):
        connect(sign_in("charlie")).get_repo("acme/secret")


def test_a_persons_token_reaches_no_further_than_the_app(host, call, installation, sign_in):
    token = sign_in("alice")
    host.suspend(installation)

    assert call("GET", "/repos/acme/secret", token).status_code == 404
    opened = call("POST", "/repos/acme/docs/issues", token, json={"title": "Title"})
    assert opened.status_code == 403


@pytest.mark.parametrize("path", ["/user", "/user/emails", "/user/installations"])
def test_only_people_have_a_user(call, token, path):
    assert call("GET", path).status_code == 401
    assert call("GET", path, token).status_code == 403


def test_a_stranger_finds_no_installation(call, sign_in):
    token = sign_in("charlie")

    assert call("GET", "/user/installations/3001/repositories", token).status_code == 404
    assert call("GET", "/user/installations/99/repositories", token).status_code == 404


@pytest.mark.parametrize(
    "elsewhere",
    [
        "//example.com",
        "https://example.com",
        "/\\example.com",
        "/\t/example.com",
        "/\n/example.com",
        "/acme\r\nSet-Cookie: a=b",
        "/acme\nSet-Cookie: a=b",
        "/acme\r\n\r\n<p>mine",
        "/acme\n",
        "/acme docs",
        "/acm\u00e9",
        "",
    ],
)
def test_signing_in_leads_to_nothing_but_a_path_here(browse, elsewhere):
    """The attack: an address with line ends, which splits the response."""
    answer = browse("POST", "/login", data={"login": "alice", "return_to": elsewhere})

    assert answer.headers["Location"] == "/"
    assert answer.headers["Set-Cookie"].startswith(f"{COOKIE}=")
    assert "mine" not in answer.text


@pytest.mark.parametrize("here", ["/", "/acme/docs", "/acme?a=%0d%0a&b=/\\#c"])
def test_signing_in_leads_to_any_path_here(browse, here):
    answer = browse("POST", "/login", data={"login": "alice", "return_to": here})

    assert answer.headers["Location"] == here


def test_signing_in_leads_back_to_the_page_that_asked(browse):
    wanted = browse("GET", "/github-apps/docs-feedback/installations/new?state=a%26b")
    sign_in_page = urlsplit(wanted.headers["Location"])
    return_to = parse_qs(sign_in_page.query)["return_to"][0]

    shown = browse("GET", wanted.headers["Location"])

    assert sign_in_page.path == "/login"
    assert return_to == "/github-apps/docs-feedback/installations/new?state=a%26b"
    assert 'value="/github-apps/docs-feedback/installations/new?state=a%26b"' in shown.text
