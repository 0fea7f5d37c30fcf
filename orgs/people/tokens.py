"""Personal tokens: made by a person for a program of theirs, shown once, kept as a hash."""

import secrets
from collections.abc import Iterable
from datetime import timedelta

from allauth.idp.oidc.models import Token
from django.db import transaction
from django.utils import timezone

from orgs.models import PersonalToken, User

PREFIX = "hub_"
READ, WRITE = SCOPES = ("orgs:read", "orgs:write")
LIFETIME = timedelta(days=90)


@transaction.atomic
def issue(
    user: User, name: str, *, scopes: Iterable[str], lifetime: timedelta = LIFETIME
) -> tuple[PersonalToken, str]:
    """A new token, and its value, which is nowhere to be found again.

    Raises `ValueError` for a scope that does not exist, or none.
    """
    scopes = sorted(set(scopes))
    if not scopes or not set(scopes) <= set(SCOPES):
        raise ValueError(f"A token has one or both of {SCOPES}, not {scopes}.")
    value = PREFIX + secrets.token_urlsafe(32)
    token = Token(type=Token.Type.ACCESS_TOKEN, user=user, expires_at=timezone.now() + lifetime)
    token.set_scopes(scopes)
    token.set_value(value)
    token.save()
    return PersonalToken.objects.create(token=token, name=name, ending=value[-4:]), value
