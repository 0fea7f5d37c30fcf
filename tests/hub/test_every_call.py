"""Every call of the maintainer's interface asks for a token and for its scope."""

import re
from collections.abc import Iterator

import pytest
from allauth.idp.oidc.models import Token
from django.test import Client
from django.urls import URLPattern
from django.utils import timezone

from hub.urls import urlpatterns
from orgs.api import MaintainerView
from tests import build

pytestmark = pytest.mark.django_db

ANYBODY = {  # what needs no token, for a reason of its own
    "v1/reports",
    "v1/reports/<str:report_id>",
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


CALLS = sorted(calls())


def test_what_needs_no_token_is_known():
    free = {str(each.pattern) for each in routes() if not _is_maintainers(each)}

    assert free == ANYBODY
    assert ("get", "/v1/orgs/me") in CALLS


@pytest.fixture
def alice():
    return build.member(build.organization())


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
    other = "orgs:write" if method in ("get", "head") else "orgs:read"
    client = build.api(build.token(alice, [other]))

    answer = getattr(client, method)(path)

    assert answer.status_code == 403
    assert "insufficient_scope" in answer["WWW-Authenticate"]
