"""Who may call the maintainer's interface, and how they prove it."""

from datetime import timedelta

import pytest
from allauth.idp.oidc.models import Token
from django.utils import timezone
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory

from core import at_once
from orgs.api.authentication import MaintainerView
from orgs.models import PersonalToken
from tests import build

pytestmark = pytest.mark.django_db


class Whose(MaintainerView):
    """Says whom it was called by."""

    def get(self, request):
        return Response({"organization": self.organization.name, "login": request.user.username})

    post = get


def call(method: str = "get", **headers: str):
    request = getattr(APIRequestFactory(), method)("/", headers=headers)
    answer = Whose.as_view()(request)
    answer.render()
    return answer


def bearer(value: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {value}"}


@pytest.fixture
def alice():
    return build.member(build.organization())


def test_calls_that_failed_are_no_bar(alice, monkeypatch):
    value = bearer(build.token(alice))
    with monkeypatch.context() as broken:
        broken.setattr(Whose, "get", lambda self, request: 1 / 0)
        failed = [call(**value).status_code for _ in range(at_once.MOST + 1)]

    assert {*failed} == {500}
    assert call(**value).status_code == 200


def test_a_token_opens_what_is_its_owners(alice):
    answer = call(**bearer(build.token(alice)))

    assert answer.data == {"organization": "acme", "login": "alice"}


@pytest.mark.parametrize("scheme", ["bearer", "BEARER"])
def test_the_scheme_is_read_in_any_case(alice, scheme):
    assert call(Authorization=f"{scheme} {build.token(alice)}").status_code == 200


@pytest.mark.parametrize(
    "authorization",
    ["", "Bearer", "Bearer ", "Bearer  ", "Bearer hub_", "Bearer a b", "Basic YTpi", "Token x", "Bearer ÿ"],
)  # fmt: skip
def test_what_is_no_token_is_401(authorization):
    answer = call(Authorization=authorization)

    assert answer.status_code == 401
    assert answer.data["error"] == "unauthorized"
    assert answer["WWW-Authenticate"].startswith("Bearer")


def test_an_expired_token_is_401(alice):
    value = build.token(alice)
    Token.objects.update(expires_at=timezone.now())

    assert call(**bearer(value)).status_code == 401


def test_a_revoked_token_is_401(alice):
    value = build.token(alice)
    Token.objects.all().delete()

    assert call(**bearer(value)).status_code == 401


def test_a_token_of_somebody_who_was_shut_out_is_401(alice):
    value = build.token(alice)
    alice.is_active = False
    alice.save()

    assert call(**bearer(value)).status_code == 401


@pytest.mark.parametrize("kind", [kind for kind in Token.Type if kind != Token.Type.ACCESS_TOKEN])
def test_only_an_access_token_opens(alice, kind):
    value = build.token(alice)
    Token.objects.update(type=kind)

    assert call(**bearer(value)).status_code == 401


def test_a_token_in_a_form_or_an_address_opens_nothing(alice):
    value = build.token(alice)
    request = APIRequestFactory().post(f"/?access_token={value}", {"access_token": value})

    assert Whose.as_view()(request).status_code == 401


@pytest.mark.parametrize(
    ("scopes", "method", "status"),
    [
        (["orgs:read"], "get", 200),
        (["orgs:read"], "post", 403),
        (["orgs:write"], "get", 403),
        (["orgs:write"], "post", 200),
    ],
)
def test_reading_and_writing_have_a_scope_each(alice, scopes, method, status):
    answer = call(method, **bearer(build.token(alice, scopes)))

    assert answer.status_code == status
    assert status == 200 or answer.data["error"] == "insufficient_scope"
    assert status == 200 or "orgs:" in answer.data["message"]


def test_who_belongs_to_no_organization_is_told_so(alice):
    value = build.token(alice)
    alice.membership.delete()

    answer = call(**bearer(value))

    assert (answer.status_code, answer.data["error"]) == (403, "no_organization")


def test_a_call_costs_one_query_and_a_note_once_a_minute(alice, django_assert_num_queries):
    value = build.token(alice)

    with django_assert_num_queries(2):
        call(**bearer(value))
    with django_assert_num_queries(1):
        call(**bearer(value))

    noted = PersonalToken.objects.get().last_used_at
    assert timezone.now() - noted < timedelta(minutes=1)


def test_a_later_use_is_noted_too(alice):
    value = build.token(alice)
    call(**bearer(value))
    earlier = timezone.now() - PersonalToken.USE_NOTED_EVERY
    PersonalToken.objects.update(last_used_at=earlier)

    call(**bearer(value))

    assert PersonalToken.objects.get().last_used_at > earlier
