"""A browser as far as forms go: it keeps cookies, follows redirects and sends what a form holds."""

import re
from collections.abc import Callable
from html.parser import HTMLParser
from urllib.parse import urljoin

import requests


class Browser:
    """At one Hub, whose paths it is given."""

    def __init__(self, hub_url: str) -> None:
        self.url = hub_url
        self._session = requests.Session()

    def open(self, path: str, **options) -> requests.Response:
        return self._session.get(urljoin(self.url, path), timeout=30, **options)

    def send(
        self, page: requests.Response, *, redirects: bool = True, **typed: str | list[str]
    ) -> requests.Response:
        """Sends the page's one form, with what was typed into it and its button's value.

        Of several, the one that leads to the page itself.
        """
        forms = _Forms.read(page.text)
        form = next((each for each in forms if not each.action), forms[0])
        target = urljoin(page.url, form.action)
        headers = {"Origin": urljoin(page.url, "/").rstrip("/"), "Referer": page.url}
        return self._session.post(
            target, form.hidden | typed, headers=headers, timeout=30, allow_redirects=redirects
        )

    def sign_in(self, login: str, path: str = "/login/") -> requests.Response:
        """From the Hub's page by GitHub's page and back."""
        asked = self.send(self.open(path))
        return self.send(asked, login=login)

    def new_token(self, *scopes: str) -> str:
        """The value of a personal token, as the page shows it."""
        form = {"name": "CI", "days": "90", "scopes": list(scopes or ("orgs:read", "orgs:write"))}
        shown = self.send(self.open("/settings/tokens/"), **form)
        return re.search(r"hub_[\w-]{43}", shown.text)[0]

    def calling(self, token: str) -> Callable[..., requests.Response]:
        """Calls of the maintainer's API with this token."""

        def call(method: str, path: str, **body: str) -> requests.Response:
            headers = {"Authorization": f"Bearer {token}"}
            url = f"{self.url}/v1/{path}"
            return requests.request(method, url, json=body or None, headers=headers, timeout=30)

        return call

    @property
    def cookies(self) -> requests.cookies.RequestsCookieJar:
        return self._session.cookies


class _Forms(HTMLParser):
    """The forms of a page: where they lead, and their hidden fields."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[_Form] = []

    @classmethod
    def read(cls, html: str) -> "list[_Form]":
        parser = cls()
        parser.feed(html)
        return parser.forms

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(_Form(values.get("action", "")))
        if tag == "input" and values.get("type") == "hidden":
            self.forms[-1].hidden[values["name"]] = values["value"]


class _Form:
    def __init__(self, action: str) -> None:
        self.action = action
        self.hidden: dict[str, str | list[str]] = {}
