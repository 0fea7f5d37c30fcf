"""The OAuth server: oauthlib's endpoints for two grants, on allauth's clients and tokens."""

import hashlib
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from allauth.idp.oidc import app_settings
from allauth.idp.oidc.adapter import get_adapter
from allauth.idp.oidc.internal.oauthlib.request_validator import OAuthLibRequestValidator
from allauth.idp.oidc.models import Client, Token
from django.conf import settings
from django.db import DatabaseError, IntegrityError, InterfaceError, transaction
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from oauthlib.common import Request
from oauthlib.oauth2.rfc6749.endpoints import RevocationEndpoint, TokenEndpoint
from oauthlib.oauth2.rfc6749.errors import (
    InvalidClientError,
    InvalidClientIdError,
    InvalidGrantError,
    InvalidRequestError,
    InvalidScopeError,
    UnauthorizedClientError,
)
from oauthlib.oauth2.rfc6749.grant_types import RefreshTokenGrant
from oauthlib.oauth2.rfc6749.tokens import BearerToken
from oauthlib.oauth2.rfc8628.endpoints import DeviceAuthorizationEndpoint
from oauthlib.oauth2.rfc8628.errors import AccessDenied
from oauthlib.oauth2.rfc8628.grant_types import DeviceCodeGrant

from core import client_address, rates
from orgs.models import Terminal, TerminalToken, User
from orgs.people import members
from orgs.people.tokens import PREFIX
from orgs.terminals import codes

LIFETIME = timedelta(days=90)  # of a sign-in, however often its tokens are replaced
MOST = 50  # terminals in which one person is signed in
TOTAL = 20  # times as many sign-ins from all addresses together; bounds what the cache holds
FAMILY = 22  # characters after the prefix that all refresh tokens of one sign-in have in common
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
TRIES = 5  # at a user code that no other sign-in has

Fields = dict[str, str]
Answer = tuple[dict[str, str], Any, int]  # headers, JSON or what becomes JSON, status


def begin(url: str, fields: Fields, network: str) -> Answer:
    """Answer the device authorization endpoint (RFC 8628, 3.1): a code for the device, one for its user.

    `network` is that of the caller, which has a share in what may begin altogether.
    """
    rules = Rules(fields)
    rate = settings.HUB_SIGN_IN_RATE
    total = client_address.with_share(rate, ("terminals",), network, times=TOTAL)
    page = f"{settings.HUB_BASE_URL}/device/"
    endpoint = DeviceAuthorizationEndpoint(
        rules,
        verification_uri=page,
        verification_uri_complete=f"{page}?user_code={{user_code}}",
        expires_in=codes.LIFETIME,
        interval=codes.INTERVAL,
        user_code_generator=get_adapter().generate_user_code,
    )
    for _ in range(TRIES):
        try:
            headers, answer, status = endpoint.create_device_authorization_response(
                url, "POST", urlencode(fields), FORM
            )
        except InvalidClientIdError:
            raise InvalidClientError("There is no such client.") from None
        client, scopes = _asked(fields)
        device, user = answer["device_code"], answer["user_code"]
        rates.check_all(*total)
        if codes.begin(device, user, client_id=client.pk, scopes=scopes):
            return headers, answer, status
    raise codes.CodesAway


def _asked(fields: Fields) -> tuple[Client, list[str]]:
    client = Client.objects.get(pk=fields["client_id"])
    if Client.GrantType.DEVICE_CODE not in client.get_grant_types():
        raise UnauthorizedClientError("This client cannot sign in from a terminal.")
    scopes = sorted({*fields.get("scope", "").split()}) or client.get_default_scopes()
    if not {*scopes} <= {*client.get_scopes()}:
        known = " and ".join(client.get_scopes())
        raise InvalidScopeError(f"The scopes are {known}.")
    return client, scopes


def create_token(url: str, fields: Fields) -> Answer:
    """Answer the token endpoint (RFC 6749, 3.2; RFC 8628, 3.4)."""
    if "grant_type" not in fields:
        raise InvalidRequestError("The parameter grant_type is missing.")
    rules = Rules(fields)
    grants = {
        Client.GrantType.DEVICE_CODE: DeviceCodeGrant(rules, post_token=[rules.exchange]),
        Client.GrantType.REFRESH_TOKEN: RefreshTokenGrant(rules),
    }
    lifetime = app_settings.ACCESS_TOKEN_EXPIRES_IN
    bearer = BearerToken(rules, _access_token, lifetime, rules.next_refresh_token)
    endpoint = TokenEndpoint(Client.GrantType.REFRESH_TOKEN, bearer, grants)
    try:
        with rules.one_at_a_time():
            return endpoint.create_token_response(url, "POST", urlencode(fields), FORM)
    except IntegrityError:  # the account was deleted meanwhile
        raise InvalidGrantError("This account no longer exists.") from None
    except (DatabaseError, InterfaceError):
        rules.give_back()
        raise


def revoke(url: str, fields: Fields) -> Answer:
    """Answer the revocation endpoint (RFC 7009): either token of a sign-in ends it."""
    endpoint = RevocationEndpoint(Rules(fields))
    return endpoint.create_revocation_response(url, "POST", urlencode(fields), FORM)


class Rules(OAuthLibRequestValidator):
    """allauth's rules and those of terminals, for one request with these fields."""

    def __init__(self, fields: Fields) -> None:
        super().__init__()
        self._fields = fields
        self._terminal: Terminal | None = None  # whose token is replaced
        self._exchanged: codes.Exchanged | None = None  # for one that signs in

    def exchange(self, request: Request) -> None:
        """Take the person and the scopes that a device code was approved for."""
        if "device_code" not in self._fields:
            raise InvalidRequestError("The parameter device_code is missing.")
        code, client_id = self._fields["device_code"], request.client.pk
        self._exchanged = codes.exchange(code, client_id=client_id)
        request.approval, request.scopes = self._exchanged.approval, self._exchanged.scopes

    def give_back(self) -> None:
        """Let the device ask again, because nothing could be saved."""
        if self._exchanged:
            code, client_id = self._fields["device_code"], self._fields["client_id"]
            codes.give_back(code, self._exchanged, client_id=client_id)

    @contextmanager
    def one_at_a_time(self) -> Iterator[None]:
        """Lock the terminal whose refresh token this is; strangers' tokens open no transaction."""
        family = _family_of(self._fields.get("refresh_token", ""))
        refreshes = self._fields["grant_type"] == Client.GrantType.REFRESH_TOKEN
        if not refreshes or not Terminal.objects.filter(family=family).exists():
            yield
            return
        with transaction.atomic():
            locked = Terminal.objects.select_for_update()
            self._terminal = locked.filter(family=family).first()
            yield

    def validate_refresh_token(
        self, refresh_token: str, client: Client, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        """Whether it is the terminal's latest. An earlier one signs the terminal out: it was copied.

        Raises `InvalidGrantError` if not, with a sentence for the person.
        """
        if self._terminal is None:
            raise InvalidGrantError(SIGNED_OUT)
        if super().validate_refresh_token(refresh_token, client, request, *args, **kwargs):
            return True
        if self._terminal.tokens.filter(token__hash=_hashed(refresh_token)).exists():
            raise InvalidGrantError(ENDED)
        Terminal.objects.filter(pk=self._terminal.pk).sign_out()
        raise InvalidGrantError(USED_AGAIN)

    def next_refresh_token(self, request: Request) -> str:
        """A new value, which begins as the one before."""
        old = request.refresh_token if self._terminal else None
        family = _family(old) if old else secrets.token_urlsafe(16)
        return f"{PREFIX}{family}{secrets.token_urlsafe(32)}"

    @transaction.atomic
    def save_bearer_token(self, token: dict, request: Request, *args: Any, **kwargs: Any) -> None:
        """Save both tokens with their terminal, and for no longer than it is signed in."""
        terminal = self._terminal or self._sign_in(token, request)
        left = max(0, int((terminal.ends_at - timezone.now()).total_seconds()))
        token["expires_in"] = min(token["expires_in"], left)
        super().save_bearer_token(token, request, *args, **kwargs)
        _end_all_but_the_last(terminal)
        refresh = Token.objects.by_value(token["refresh_token"])
        refresh.update(expires_at=terminal.ends_at, scopes="\n".join(terminal.scopes))
        both = [_hashed(token["access_token"]), _hashed(token["refresh_token"])]
        TerminalToken.objects.bulk_create(
            TerminalToken(token=each, terminal=terminal)
            for each in Token.objects.filter(hash__in=both)
        )
        token["refresh_expires_in"] = left

    def _sign_in(self, token: dict, request: Request) -> Terminal:
        request.user = _who_approved(request.approval)
        return Terminal.objects.create(
            user=request.user,
            client=request.client.name,
            family=_family_of(token["refresh_token"]),
            scopes=request.scopes,
            ends_at=timezone.now() + LIFETIME,
        )

    def revoke_token(
        self, token: str, token_type_hint: str, request: Request, *args: Any, **kwargs: Any
    ) -> None:
        """Sign out the terminal that it belongs to; a personal token belongs to none."""
        links = TerminalToken.objects.filter(token__client=request.client)
        by_access = links.filter(token__hash=_hashed(token))
        by_refresh = links.filter(terminal__family=_family_of(token))
        terminals = [
            each.values_list("terminal", flat=True)[:1] for each in (by_access, by_refresh)
        ]
        if found := {pk for each in terminals for pk in each}:  # strangers wait for no lock
            Terminal.objects.filter(pk__in=found).sign_out()


SIGNED_OUT = "This terminal is signed out. Sign in again."
ENDED = "This sign-in has ended. Sign in again."
USED_AGAIN = (
    "This refresh token was used before, so somebody may have copied it: the terminal is signed out. "
    "Sign in again."
)
TOO_MANY = f"You are signed in in {MOST} terminals. Sign one of them out in the settings."


def room_for(user: User) -> bool:
    """Whether the person can sign in in one more terminal."""
    signed_in = Terminal.objects.filter(user=user, ends_at__gt=timezone.now())
    return not signed_in[MOST - 1 : MOST].exists()


def approval_of(person: User, organization: str) -> codes.Approval:
    """The approval of somebody who is signed in: it ends where all their sessions are ended."""
    return codes.Approval(person.pk, organization, _sessions_of(person))


def _sessions_of(person: User) -> str:
    """What changes where all sessions of a person are ended, and not where the Hub's key is replaced."""
    return hashlib.sha256(person.password.encode()).hexdigest()


def _who_approved(approval: codes.Approval) -> User:
    """The person, who belongs to the organization at least until this transaction ends."""
    members.lock(approval.organization)
    people = User.objects.filter(is_active=True, membership__organization=approval.organization)
    person = people.filter(pk=approval.user).first()
    if person is None:
        raise AccessDenied("Who approved it has left the organization, or is deactivated.")
    if not constant_time_compare(_sessions_of(person), approval.session):
        raise AccessDenied("Who approved it has signed out everywhere since.")
    if not room_for(person):
        raise AccessDenied(TOO_MANY)
    return person


def _end_all_but_the_last(terminal: Terminal) -> None:
    """End its access tokens before the last, which another process may still use."""
    access = Token.objects.filter(of_terminal__terminal=terminal, type=Token.Type.ACCESS_TOKEN)
    ended = list(access.order_by("-pk").values_list("pk", flat=True)[1:])
    Token.objects.filter(pk__in=ended).delete()


def _access_token(request: Request) -> str:
    return PREFIX + secrets.token_urlsafe(32)


def _family(refresh_token: str) -> str:
    return refresh_token.removeprefix(PREFIX)[:FAMILY]


def _family_of(refresh_token: str) -> str:
    """How its family is stored."""
    return hashlib.sha256(_family(refresh_token).encode()).hexdigest()


def _hashed(value: str) -> str:
    return get_adapter().hash_token(value)
