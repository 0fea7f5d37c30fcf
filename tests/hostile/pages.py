"""The forms and the lists of the Hub, as its pages have them."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import parse_qsl, urljoin, urlsplit

import requests

from tests.hostile.doors import Who, credentials, doors
from tests.hostile.tenants import CSRF, Tenant

ID = re.compile(r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b|\d+")


UNSEEN = {  # what programs send, and what GitHub sends browsers back with
    ("POST", "/oauth/device"): {
        "client_id": ["docfeedback-cli"],
        "scope": ["orgs:read orgs:write"],
    },
    ("POST", "/oauth/token"): {
        "client_id": ["docfeedback-cli"],
        "grant_type": ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
        "device_code": ["x"],
        "refresh_token": ["x"],
    },
    ("POST", "/oauth/revoke"): {
        "client_id": ["docfeedback-cli"],
        "token": ["x"],
        "token_type_hint": ["refresh_token", "access_token"],
    },
    ("GET", "/login/github/callback/"): {"code": ["x"], "state": ["x"], "error": ["access_denied"]},
    ("GET", "/v1/integrations/github/callback"): {
        "code": ["x"],
        "state": ["x"],
        "installation_id": ["1"],
        "setup_action": ["install", "update", "request"],
    },
    ("GET", "/setup/github/created/"): {"code": ["x"], "state": ["x"]},
    ("GET", "/login/"): {"next": ["/settings/"]},
    ("GET", "/device/"): {"user_code": ["BCDF-GHJK"]},
}


class Form(NamedTuple):
    """A form, or the query of a list: where it leads, by which method, and what its fields offer."""

    path: str
    method: str
    fields: dict[str, list[str]]
    who: Who

    def __str__(self) -> str:
        return f"the form to {self.method} {self.path}"


def forms(url: str, tenant: Tenant, *, operators: bool) -> list[Form]:
    """All forms and all queries of the pages of the Hub at `url`, one of each kind."""
    found: dict[object, Form] = {
        place: Form(place[1], place[0], fields, Who.MEMBER) for place, fields in UNSEEN.items()
    }
    for door in doors():
        is_page = door.method == "GET" and not door.route.startswith("v1/")
        if is_page and (operators or not door.is_operators):
            who = door.callers()[-1]
            for form in _on(url, door.path(tenant).decode(), who, tenant):
                kind = (ID.sub("", form.path), form.method, *sorted(form.fields))
                found.setdefault(kind, form)
    return list(found.values())


def _on(url: str, path: str, who: Who, tenant: Tenant) -> Iterator[Form]:
    headers = {name.decode(): value.decode() for name, value in credentials(who, tenant, b"")}
    answer = requests.get(f"{url}{path}", headers=headers, timeout=30, allow_redirects=False)
    if not answer.headers.get("Content-Type", "").startswith("text/html"):
        return
    reader = _Reader()
    reader.feed(answer.text)
    for action, method, fields in reader.forms:
        target = urljoin(answer.url, action or path)
        if target.startswith(url) and fields:
            yield Form(_path(target, method), method, fields, who)
    for address, fields in reader.queries.items():
        yield Form(urlsplit(urljoin(answer.url, address or path)).path, "GET", fields, who)


def _path(url: str, method: str) -> str:
    """Of a form that is posted, also the query that its action has."""
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}" if parts.query and method == "POST" else parts.path


class _Reader(HTMLParser):
    """Reads the forms of a page, and the queries of its links by the page that they lead to."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[tuple[str, str, dict[str, list[str]]]] = []
        self.queries: dict[str, dict[str, list[str]]] = {}
        self._select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "form":
            method = values.get("method", "get").upper()
            self.forms.append((values.get("action", ""), method, {}))
        elif tag == "a":
            self._note_query(values.get("href", ""))
        elif tag in ("input", "textarea", "button") and values.get("name"):
            self._offer(values["name"], values.get("value", "on"))
        elif tag == "select":
            self._select = values.get("name", "")
        elif tag == "option" and self._select:
            self._offer(self._select, values.get("value", ""))

    def _offer(self, name: str, value: str) -> None:
        if self.forms:
            fields = self.forms[-1][2]
            fields.setdefault(name, []).append(CSRF if name == "csrfmiddlewaretoken" else value)

    def _note_query(self, href: str) -> None:
        parts = urlsplit(href)
        if parts.query and not parts.netloc:
            fields = self.queries.setdefault(parts.path, {})
            for name, value in parse_qsl(parts.query, keep_blank_values=True):
                fields.setdefault(name, []).append(value)
