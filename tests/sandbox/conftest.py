"""A code host with acme/docs (public) and acme/secret (private), and clients of it.

alice owns acme, bob is a member, charlie is a stranger. The app is installed on both repositories.
"""

from collections.abc import Callable, Iterator
from typing import Any

import github
import pytest
import requests

from sandbox import App, CodeHost, Installation
from tests.conftest import key_pair

CALLBACK = "http://127.0.0.1:1/callback"
UNHURRIED: dict[str, Any] = {"seconds_between_requests": None, "seconds_between_writes": None}


@pytest.fixture
def app() -> App:
    return App(
        id=7,
        slug="docs-feedback",
        client_id="client",
        client_secret="not-a-secret",
        webhook_secret="not-a-secret-either",
        public_key_pem=key_pair()[1],
        callback_urls=[CALLBACK],
    )


@pytest.fixture
def host(app: App) -> Iterator[CodeHost]:
    host = CodeHost(app=app)
    host.add_organization("acme")
    for login in ("alice", "bob", "charlie"):
        host.add_user(login)
    host.add_member("acme", "alice", role="admin")
    host.add_member("acme", "bob")
    docs = host.add_repository("acme", "docs")
    secret = host.add_repository("acme", "secret", private=True)
    host.add_installation("acme", repositories=[docs, secret])
    with host.serving():
        yield host


@pytest.fixture
def installation(host: CodeHost) -> Installation:
    return next(iter(host.installations.values()))


@pytest.fixture
def as_app(host: CodeHost) -> Iterator[github.GithubIntegration]:
    """PyGithub with the app's own key."""
    auth = github.Auth.AppAuth(host.app.id, key_pair()[0])
    with github.GithubIntegration(
        auth=auth, base_url=f"{host.url}/api/v3", retry=0, **UNHURRIED
    ) as client:
        yield client


@pytest.fixture
def connect(host: CodeHost) -> Iterator[Callable[..., github.Github]]:
    """Makes PyGithub clients with a token, or without any."""
    clients = []

    def client(token: str | None = None, **options: Any) -> github.Github:
        auth = github.Auth.Token(token) if token else None
        made = github.Github(
            auth=auth, base_url=f"{host.url}/api/v3", retry=0, **{**UNHURRIED, **options}
        )
        clients.append(made)
        return made

    yield client
    for each in clients:
        each.close()


@pytest.fixture
def token(as_app: github.GithubIntegration, installation: Installation) -> str:
    """An installation's token with all that the installation has."""
    return as_app.get_access_token(installation.id).token


@pytest.fixture
def as_installation(connect: Callable[..., github.Github], token: str) -> github.Github:
    return connect(token)


@pytest.fixture
def call(host: CodeHost) -> Callable[..., requests.Response]:
    """One raw request to the API, where a status, a header or a redirect is the point."""

    def request(method: str, path: str, token: str = "", **options: Any) -> requests.Response:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return requests.request(
            method,
            f"{host.url}/api/v3{path}",
            headers=headers,
            timeout=10,
            allow_redirects=False,
            **options,
        )

    return request


@pytest.fixture
def sign_in(host: CodeHost) -> Callable[[str], str]:
    """A person's token, by way of the whole web flow."""

    def user_token(login: str) -> str:
        authorize = f"{host.url}/login/oauth/authorize?client_id=client&login={login}"
        answer = requests.get(authorize, allow_redirects=False, timeout=10)
        code = answer.headers["Location"].split("code=")[1]
        sent = {"client_id": "client", "client_secret": "not-a-secret", "code": code}
        json = {"Accept": "application/json"}
        url = f"{host.url}/login/oauth/access_token"
        return requests.post(url, data=sent, headers=json, timeout=10).json()["access_token"]

    return user_token
