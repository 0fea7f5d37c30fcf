"""Personal tokens: shown once, kept as a hash."""

from datetime import timedelta

import pytest
from allauth.idp.oidc.models import Token
from django.core import serializers
from django.utils import timezone

from orgs.models import PersonalToken
from orgs.people import tokens
from reports import secrets
from tests import build

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice():
    return build.member(build.organization())


def test_a_token_is_long_and_known_by_its_prefix(alice):
    _, value = tokens.issue(alice, "CI", scopes=["orgs:read"])

    assert value.startswith("hub_")
    assert len(value) >= 4 + 43  # 256 bits
    assert secrets.remove(f"It says {value} there.")[1]  # our own door takes it out of a report


def test_its_value_is_nowhere_at_rest(alice):
    personal, value = tokens.issue(alice, "CI", scopes=["orgs:read"])

    stored = serializers.serialize("json", [*Token.objects.all(), *PersonalToken.objects.all()])

    assert value not in stored
    assert value.removeprefix("hub_") not in stored
    assert str(personal) == f"CI (hub_…{value[-4:]})"


def test_it_is_good_for_ninety_days_unless_said_otherwise(alice):
    usual, _ = tokens.issue(alice, "CI", scopes=["orgs:read"])
    short, _ = tokens.issue(alice, "CI", scopes=["orgs:read"], lifetime=timedelta(hours=1))

    days = [each.token.expires_at - timezone.now() for each in (usual, short)]

    assert timedelta(days=89) < days[0] <= timedelta(days=90)
    assert days[1] <= timedelta(hours=1)


@pytest.mark.parametrize("scopes", [[], ["orgs:admin"], ["orgs:read", "openid"]])
def test_a_scope_that_does_not_exist_is_refused(alice, scopes):
    with pytest.raises(ValueError, match="orgs:read"):
        tokens.issue(alice, "CI", scopes=scopes)

    assert not Token.objects.exists()
