"""Browsers and programs of people: who is signed in, and sends forms as their pages do."""

from typing import Any

import requests
from django.db import connection
from django.test import Client

from orgs.models import Organization, User
from tests import build
from tests.abuse.world import Shipped

TOKEN = "a" * 32  # of forms: any, as long as the cookie has it too


class Browser(requests.Session):
    """The browser of somebody who has signed in; of a visitor without `user`. It follows no redirect."""

    def __init__(self, hub: Shipped, user: User | None = None) -> None:
        super().__init__()
        self.hub = hub
        self.cookies.set("csrf", TOKEN)
        if user:
            self.cookies.set("session", session_of(user))

    def request(self, method: Any, url: Any, *args: Any, **options: Any) -> requests.Response:
        options = {"timeout": 60, **options, "allow_redirects": False}
        address = str(url) if str(url).startswith("http") else f"{self.hub.url}{url}"
        return super().request(method, address, *args, **options)

    def submit(self, path: str, **form: Any) -> requests.Response:
        """Send a form as the page would that has it."""
        sent = {"csrfmiddlewaretoken": TOKEN, **form}
        return self.post(path, sent, headers={"Origin": self.hub.url})


class Program(requests.Session):
    """What calls the API with a token."""

    def __init__(self, hub: Shipped, token: str) -> None:
        super().__init__()
        self.hub = hub
        self.headers["Authorization"] = f"Bearer {token}"

    def call(self, method: str, path: str, body: Any = None) -> requests.Response:
        return self.request(method, f"{self.hub.url}/v1{path}", json=body, timeout=60)


def session_of(user: User) -> str:
    """The cookie of a new session."""
    client = Client()
    client.force_login(user)
    connection.close()
    return client.session.session_key or ""


def member(owner: Organization, login: str = "alice", **more: Any) -> tuple[User, str]:
    """Somebody of the organization, and a token of theirs."""
    user = build.member(owner, login, **more)
    token = build.token(user)
    connection.close()
    return user, token
