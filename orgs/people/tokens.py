"""Personal tokens: made by a person for a program, shown once, stored as a hash."""

import secrets
from collections.abc import Iterable
from datetime import timedelta

from allauth.idp.oidc.models import Token
from django.db import transaction
from django.utils import timezone

from core.errors import ApiError
from orgs.models import PersonalToken, Terminal, User

PREFIX = "hub_"
READ, WRITE = SCOPES = ("orgs:read", "orgs:write")
NAMES = {READ: "Read", WRITE: "Change"}
ALLOWS = {
    READ: "see the settings, the claims and the reports",
    WRITE: "change the settings and claims; retry, discard and erase reports",
}
LIFETIME = timedelta(days=90)
MOST = 50  # valid ones of one person


class TooManyTokens(ApiError):
    """409: the person has as many valid tokens as one may have."""

    status_code = 409
    default_code = "too_many_tokens"
    default_detail = f"You have {MOST} valid tokens. Revoke one that you no longer need."


@transaction.atomic
def issue(
    user: User, name: str, *, scopes: Iterable[str], lifetime: timedelta = LIFETIME
) -> tuple[PersonalToken, str]:
    """A new token and its value, which is not stored anywhere.

    Raises `ValueError` for an unknown scope or none, and `TooManyTokens`.
    """
    scopes = sorted(set(scopes))
    if not scopes or not set(scopes) <= set(SCOPES):
        raise ValueError(f"A token has one or both of {SCOPES}, not {scopes}.")
    _lock(user)
    valid = PersonalToken.objects.filter(token__user=user, token__expires_at__gt=timezone.now())
    if valid[MOST - 1 : MOST].exists():
        raise TooManyTokens
    value = PREFIX + secrets.token_urlsafe(32)
    token = Token(type=Token.Type.ACCESS_TOKEN, user=user, expires_at=timezone.now() + lifetime)
    token.set_scopes(scopes)
    token.set_value(value)
    token.save()
    return PersonalToken.objects.create(token=token, name=name, ending=value[-4:]), value


@transaction.atomic
def revoke_all(user: User) -> None:
    """Revoke all tokens of a person, also one that is being made, and sign their terminals out.

    The terminals go first, since replacing a terminal's tokens locks it before the account.
    """
    Terminal.objects.filter(user=user).sign_out()
    _lock(user)
    Token.objects.filter(user=user).delete()


def _lock(user: User) -> None:
    list(User.objects.select_for_update(no_key=True).filter(pk=user.pk).values_list("pk"))
