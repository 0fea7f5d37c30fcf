"""Every call of the maintainer's interface asks for a token and for its scope."""

import re
from collections.abc import Iterator

import pytest
from allauth.idp.oidc.models import Token
from django.test import Client
from django.urls import URLPattern
from django.utils import timezone

from hub.urls import urlpatterns
from integrations.models import OneTimeState
from orgs.api.authentication import MaintainerView
from tests import build

pytestmark = pytest.mark.django_db

ANYBODY = {  # what needs no token, for a reason of its own
    "v1/reports",
    "v1/reports/<str:report_id>",
    "v1/pages",
    "v1/integrations/github/callback",
    "v1/webhooks/github",
}


def routes() -> Iterator[URLPattern]:
    return (each for each in urlpatterns if str(each.pattern).startswith("v1/"))


def _is_maintainers(route: URLPattern) -> bool:
    return issubclass(getattr(route.callback, "cls", object), MaintainerView)


def calls() -> Iterator[tuple[str, str]]:
    """Every method and address, with something in the place of what varies."""
    for route in routes():
        if _is_maintainers(route):
            view, path = route.callback.cls, re.sub("<[^>]*>", "x", str(route.pattern))
            for method in view.http_method_names:
                if hasattr(view, method) and method != "options":
                    yield method, f"/{path}"


BEGINS = ("get", "/v1/integrations/github/install")  # it makes a state
OWNERS = {  # what ends something, or closes it to reporters
    ("delete", "/v1/orgs/me/integrations/github"),
    ("delete", "/v1/orgs/me/domains/x"),
    ("patch", "/v1/orgs/me/domains/x"),
    ("delete", "/v1/orgs/me/sites/x"),
    ("patch", "/v1/orgs/me/sites/x"),
}


def scope_of(method: str, path: str) -> str:
    is_reading = method in ("get", "head") and (method, path) != BEGINS
    return "orgs:read" if is_reading else "orgs:write"


CALLS = sorted(calls())


def test_what_needs_no_token_is_known():
    free = {str(each.pattern) for each in routes() if not _is_maintainers(each)}

    assert free == ANYBODY
    assert ("get", "/v1/orgs/me") in CALLS


@pytest.fixture
def alice():
    return build.member(build.organization())


@pytest.mark.parametrize("route", list(routes()), ids=lambda route: str(route.pattern))
def test_allow_lists_the_methods_that_are_answered(alice, route):
    """To a method that none has, and to each that is listed."""
    client = build.api(build.token(alice))
    path = "/" + re.sub("<[^>]*>", "x", str(route.pattern))

    allowed = client.generic("BREW", path)["Allow"].split(", ")

    answered = [client.generic(each, path).status_code for each in allowed]
    others = {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} - set(allowed)
    assert 405 not in answered
    assert {client.generic(each, path).status_code for each in others} == {405}


@pytest.fixture(params=["none", "malformed", "unknown", "expired", "revoked"])
def bad_token(request, alice) -> str:
    value = build.token(alice)
    if request.param == "expired":
        Token.objects.update(expires_at=timezone.now())
    if request.param == "revoked":
        Token.objects.all().delete()
    return {
        "none": "",
        "malformed": "Bearer hub_ x",
        "unknown": f"Bearer {value[:-1]}",
    }.get(request.param, f"Bearer {value}")


@pytest.mark.parametrize(("method", "path"), CALLS)
def test_without_a_good_token_it_is_401(client, bad_token, method, path):
    headers = {"Authorization": bad_token} if bad_token else {}

    answer = getattr(client, method)(path, headers=headers)

    assert answer.status_code == 401
    assert answer["WWW-Authenticate"].startswith("Bearer")
    assert method == "head" or answer.json()["error"] == "unauthorized"


@pytest.mark.parametrize(("method", "path"), CALLS)
def test_no_cache_keeps_what_is_answered_to_a_token(alice, method, path):
    client = build.api(build.token(alice))

    answers = [getattr(each, method)(path) for each in (client, Client())]

    assert [each["Cache-Control"] for each in answers] == ["no-store", "no-store"]


@pytest.mark.parametrize(("method", "path"), CALLS)
def test_the_other_scope_is_not_enough(alice, method, path):
    other = {"orgs:read", "orgs:write"} - {scope_of(method, path)}
    client = build.api(build.token(alice, other))

    answer = getattr(client, method)(path)

    assert answer.status_code == 403
    assert "insufficient_scope" in answer["WWW-Authenticate"]


def test_a_token_that_only_reads_begins_nothing(alice):
    reader = build.api(build.token(alice, ["orgs:read"]))

    answers = [getattr(reader, each)(BEGINS[1]) for each in ("get", "head")]

    assert [each.status_code for each in answers] == [403, 403]
    assert not OneTimeState.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_what_a_member_who_is_no_owner_cannot_do_is_known(code_host):
    """Both have push right at GitHub, so that only the role decides."""
    acme = build.acme(code_host)
    site = build.site(acme, "acme.github.io", "/docs/")
    code_host.grant("bob", "acme/docs", "push")
    people = {"bob": "member", "alice": "owner"}
    clients = {
        login: build.api(
            build.token(build.member(acme, login, role=role, github_id=code_host.account(login).id))
        )
        for login, role in people.items()
    }

    def refused(login: str) -> set[tuple[str, str]]:
        """What is refused to somebody for who they are."""
        found = set()
        for method, path in sorted(CALLS):
            real = path.replace("sites/x", f"sites/{site.pk}").replace("/x", "/docs.acme.com")
            answer = getattr(clients[login], method)(
                real, {"opted_out": False}, content_type="application/json"
            )
            if answer.status_code == 403:
                assert answer.json()["error"] == "not_an_owner"
                found.add((method, path))
        return found

    assert refused("bob") == OWNERS
    assert acme.domains.exists()
    assert acme.sites.exists()
    assert refused("alice") == set()
    assert not acme.domains.exists()
    assert not acme.sites.exists()
