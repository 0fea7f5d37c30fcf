"""Every endpoint and every form of the Hub, found in its URLs."""

import hashlib
import hmac
import re
from collections.abc import Iterator
from enum import Enum
from functools import cache
from typing import NamedTuple

from django.conf import settings
from django.contrib.admindocs.views import simplify_regex
from django.urls import URLPattern, URLResolver, get_resolver

from tests.hostile.tenants import CSRF, Tenant

VARIABLE = re.compile(r"<(?:\w+:)?(\w+)>")
JSON, FORM = b"application/json", b"application/x-www-form-urlencoded"
WITH_A_BODY = {"POST", "PUT", "PATCH"}
PAGE = ("GET", "POST")
MIDDLEWARE = (
    "healthz",
    "readyz",
    "metrics",
    "static/x.css",
)  # answered before any URL is looked up
NAMES = {  # what a variable stands for, where it is not in every route the same
    "v1/orgs/me/domains/": "domain",
    "settings/claims/": "kit_file",
    "docs": "page",
}


class Who(Enum):
    """As whom a request comes."""

    STRANGER = "a stranger"
    PROGRAM = "a program with a token"
    MEMBER = "a member who is signed in, with a form's token"
    OPERATOR = "an operator who is signed in, with a form's token"
    GITHUB = "GitHub, which signs what it sends"


class Door(NamedTuple):
    """A route as the URLs have it, and one of its methods."""

    route: str
    method: str

    def __str__(self) -> str:
        return f"{self.method} /{self.route}"

    @property
    def takes_a_body(self) -> bool:
        return self.method in WITH_A_BODY

    @property
    def kind(self) -> bytes:
        """The content type that it takes."""
        return JSON if self.route.startswith("v1/") else FORM

    @property
    def has_variables(self) -> bool:
        return VARIABLE.search(self.route) is not None

    @property
    def is_operators(self) -> bool:
        return self.route.startswith("admin/")

    def callers(self) -> list[Who]:
        """Who may come here, from those who are refused to those who are let in."""
        if self.route == "v1/webhooks/github":
            return [Who.STRANGER, Who.GITHUB]
        if self.route.startswith("v1/"):
            return [Who.STRANGER, Who.PROGRAM]
        if self.is_operators:
            return [Who.STRANGER, Who.OPERATOR]
        return [Who.STRANGER, Who.MEMBER]

    def path(self, tenant: Tenant, hostile: bytes | None = None) -> bytes:
        """Its path, with what there is in the place of what varies, or with something hostile."""

        def filled(variable: re.Match[str]) -> str:
            if hostile is not None and variable[1] != "version":
                return hostile.decode("latin-1")
            return tenant.ids[self._means(variable[1])]

        return b"/" + VARIABLE.sub(filled, self.route).encode("latin-1")

    def _means(self, name: str) -> str:
        if name != "name":
            return name
        return next((each for start, each in NAMES.items() if self.route.startswith(start)), "page")


def credentials(who: Who, tenant: Tenant, body: bytes) -> list[tuple[bytes, bytes]]:
    """The headers by which the Hub knows them."""
    if who is Who.STRANGER:
        return []
    if who is Who.PROGRAM:
        return [(b"Authorization", b"Bearer " + tenant.token.encode())]
    if who is Who.GITHUB:
        secret = settings.HUB_GITHUB_WEBHOOK_SECRET.encode()
        signature = b"sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest().encode()
        return [(b"X-Hub-Signature-256", signature), (b"X-GitHub-Event", b"issues")]
    session = tenant.session if who is Who.MEMBER else tenant.operators_session
    cookies = f"session={session}; csrf={CSRF}".encode()
    return [(b"Cookie", cookies), (b"X-CSRFToken", CSRF.encode())]


@cache
def doors() -> list[Door]:
    """All of them; a new one is among them by itself."""
    found = [
        Door(route, method)
        for route, pattern in _routes(get_resolver())
        for method in _methods(pattern)
    ]
    found += [Door(route, method) for route in MIDDLEWARE for method in PAGE]
    return list(dict.fromkeys(found))


def _routes(resolver: URLResolver, before: str = "") -> Iterator[tuple[str, URLPattern]]:
    for each in resolver.url_patterns:
        route = before + _plain(each)
        if isinstance(each, URLResolver):
            yield from _routes(each, route)
        else:
            yield route, each


def _plain(pattern: URLPattern | URLResolver) -> str:
    """Its route; of a regular expression, with its groups as variables."""
    written = str(pattern.pattern)
    return simplify_regex(written).lstrip("/") if written.startswith(("^", "(")) else written


def _methods(pattern: URLPattern) -> tuple[str, ...]:
    view = getattr(pattern.callback, "cls", None)
    if view is None:
        return PAGE
    return tuple(each.upper() for each in view.http_method_names if hasattr(view, each))
