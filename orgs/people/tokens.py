"""Personal tokens: made by a person for a program of theirs, shown once, kept as a hash."""

import secrets
from collections.abc import Iterable
from datetime import timedelta

from allauth.idp.oidc.models import Token
from django.db import transaction
from django.utils import timezone

from core.errors import ApiError
from orgs.models import PersonalToken, User

PREFIX = "hub_"
READ, WRITE = SCOPES = ("orgs:read", "orgs:write")
LIFETIME = timedelta(days=90)
MOST = 50  # valid ones of one person


class TooManyTokens(ApiError):
    status_code = 409
    default_code = "too_many_tokens"
    default_detail = f"You have {MOST} valid tokens. Revoke one that you do not need any more."


@transaction.atomic
def issue(
    user: User, name: str, *, scopes: Iterable[str], lifetime: timedelta = LIFETIME
) -> tuple[PersonalToken, str]:
    """A new token, and its value, which is nowhere to be found again.

    Raises `ValueError` for a scope that does not exist, or none, and `TooMany`.
    """
    scopes = sorted(set(scopes))
    if not scopes or not set(scopes) <= set(SCOPES):
        raise ValueError(f"A token has one or both of {SCOPES}, not {scopes}.")
    valid = PersonalToken.objects.filter(token__user=user, token__expires_at__gt=timezone.now())
    if valid[MOST - 1 : MOST].exists():
        raise TooManyTokens
    value = PREFIX + secrets.token_urlsafe(32)
    token = Token(type=Token.Type.ACCESS_TOKEN, user=user, expires_at=timezone.now() + lifetime)
    token.set_scopes(scopes)
    token.set_value(value)
    token.save()
    return PersonalToken.objects.create(token=token, name=name, ending=value[-4:]), value
