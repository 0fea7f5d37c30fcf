"""The page of personal tokens."""

from datetime import timedelta

import pytest
from allauth.idp.oidc.models import Token
from django.utils import timezone

from tests import build

pytestmark = pytest.mark.django_db

PAGE = "/settings/tokens/"
FORM = {"name": "CI", "scopes": ["orgs:read"], "days": "30"}


@pytest.fixture
def alice(client):
    alice = build.member(build.organization())
    client.force_login(alice)
    return alice


def test_a_token_has_the_scopes_and_the_days_that_were_asked_for(client, alice):
    client.post(PAGE, FORM)

    token = Token.objects.get()
    assert token.get_scopes() == ["orgs:read"]
    assert 29 <= (token.expires_at - timezone.now()).days <= 30


@pytest.mark.parametrize(
    "wrong",
    [{"name": ""}, {"name": "a" * 101}, {"name": "a\0"}, {"scopes": []}, {"scopes": ["openid"]},
     {"days": "36500"}, {"days": ""}],
)  # fmt: skip
def test_a_wrong_form_is_shown_again_with_what_was_typed(client, alice, wrong):
    page = client.post(PAGE, FORM | wrong).content.decode()

    assert "<title>Error: Tokens" in page
    assert "errorlist" in page
    assert not Token.objects.exists()


def test_the_page_is_kept_by_no_cache(client, alice):
    assert "no-store" in client.post(PAGE, FORM)["Cache-Control"]


def test_a_name_is_text_and_nothing_else(client, alice):
    client.post(PAGE, FORM | {"name": "<script>alert(1)</script>"})

    assert "<script>" not in client.get(PAGE).content.decode()


def test_a_valid_token_is_listed_however_many_newer_ones_have_expired(client, alice):
    """The attack: who was in a browser for a month has a token for a year, and hides it behind those of a week."""
    client.post(PAGE, FORM | {"name": "For a year", "days": "365"})
    for _ in range(3):
        for _ in range(49):
            build.token(alice)
        weekly = Token.objects.exclude(personal__name="For a year")
        weekly.update(expires_at=timezone.now() - timedelta(days=1))

    assert "For a year" in client.get(PAGE).content.decode()


def test_revoking_asks_and_then_does(client, alice):
    value = build.token(alice)
    revoke = f"{PAGE}{Token.objects.get().pk}/revoke/"

    asked = client.get(revoke)
    assert build.api(value).get("/v1/orgs/me").status_code == 200
    done = client.post(revoke, follow=True)

    assert "Revoke for a test?" in asked.content.decode()
    assert " revoked." in done.content.decode()
    assert build.api(value).get("/v1/orgs/me").status_code == 401


def test_nobody_revokes_or_sees_anothers(client, alice):
    bob = build.member(build.organization("bobs"), "bob")
    value = build.token(bob)
    revoke = f"{PAGE}{Token.objects.get().pk}/revoke/"

    assert client.get(revoke).status_code == 404
    assert client.post(revoke).status_code == 404
    assert f"hub_…{value[-4:]}" not in client.get(PAGE).content.decode()
    assert build.api(value).get("/v1/orgs/me").status_code == 200


@pytest.mark.parametrize("number", ["0", "9" * 18, "9" * 30])
def test_a_token_that_is_none_is_not_found(client, alice, number):
    assert client.post(f"{PAGE}{number}/revoke/").status_code == 404


def test_when_it_was_last_used_is_shown(client, alice):
    value = build.token(alice)
    assert "Never" in client.get(PAGE).content.decode()

    build.api(value).get("/v1/orgs/me")

    assert timezone.now().strftime("%Y-%m-%d") in client.get(PAGE).content.decode()
    assert "Never" not in client.get(PAGE).content.decode()


@pytest.mark.parametrize("path", ["", "tokens/", "tokens/1/revoke/", "account/", "account/delete/"])
def test_who_is_not_signed_in_is_sent_to_do_so(client, path):
    answer = client.get(f"/settings/{path}")

    assert answer["Location"] == f"/login/?next=/settings/{path}"


def test_tokens_without_number_are_not_made(client, alice, monkeypatch):
    monkeypatch.setattr("orgs.people.tokens.MOST", 2)
    for _ in range(2):
        client.post(PAGE, FORM)

    page = client.post(PAGE, FORM | {"name": "one more"}).content.decode()

    assert "Revoke one that you no longer need" in page
    assert 'value="one more"' in page
    assert Token.objects.count() == 2
