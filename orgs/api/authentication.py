"""What all calls of the maintainers' API share: a bearer token, its scope, an organization."""

from collections.abc import Collection
from contextlib import ExitStack
from typing import Any

from allauth.idp.oidc.models import Token
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.http.response import HttpResponseBase
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.cors import OneOrigin
from core.errors import ApiError
from core.watching import current
from orgs.models import Membership, Organization, Terminal
from orgs.people import counted, tokens

INVALID = {"WWW-Authenticate": 'Bearer error="invalid_token"'}


class Unauthorized(ApiError):
    """401: there is no valid access token."""

    status_code = 401
    default_code = "unauthorized"
    default_detail = "Send a valid access token: `Authorization: Bearer <token>`."


class InsufficientScope(ApiError):
    """403: the token lacks the scope."""

    status_code = 403
    default_code = "insufficient_scope"


class NoOrganization(ApiError):
    """403: the person does not belong to an organization."""

    status_code = 403
    default_code = "no_organization"
    default_detail = f"You do not belong to an organization. Sign in at {settings.HUB_BASE_URL}/login/ to get one."


class BearerToken(BaseAuthentication):
    """Accepts a personal token, or one from the device flow, in the header only (RFC 6750).

    `request.auth` is the token. Raises `Unauthorized` if there is no valid one.
    """

    def authenticate(self, request: Request) -> tuple[AbstractBaseUser, Token]:
        """The user and the token of the request; notes when the token was used."""
        token = _good_token(_bearer(request))
        if used := getattr(token, "personal", None) or terminal_of(token):
            used.note_use()
        return token.user, token


def _bearer(request: Request) -> str:
    scheme, _, value = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not value:
        raise Unauthorized(headers={"WWW-Authenticate": "Bearer"})
    return value


def _good_token(value: str) -> Token:
    """The token, if it is neither expired nor revoked, with all that a call needs, in one query."""
    known = Token.objects.select_related("personal", "user__membership__organization")
    token = known.lookup(Token.Type.ACCESS_TOKEN, value)
    if token is None or token.user is None or not token.user.is_active:
        raise Unauthorized(headers=INVALID)
    return token


def terminal_of(token: Token) -> Terminal | None:
    """The terminal that has it; None for a personal token, which costs no query more.

    Raises `Unauthorized` if it has been signed out since the token was found.
    """
    link = None if getattr(token, "personal", None) else getattr(token, "of_terminal", None)
    try:
        return link and link.terminal
    except Terminal.DoesNotExist:
        raise Unauthorized(headers=INVALID) from None


class HasScope(BasePermission):
    """Whether the token has the scope that the call needs. Raises `InsufficientScope`."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """True, or it has raised."""
        scope = tokens.READ if request.method in view.reading else tokens.WRITE  # type: ignore[attr-defined]
        if scope not in request.auth.get_scopes():  # type: ignore[union-attr]
            challenge = f'Bearer error="insufficient_scope", scope="{scope}"'
            raise InsufficientScope(
                f"This needs a token with the scope {scope}.",
                headers={"WWW-Authenticate": challenge},
            )
        return True


class MaintainerView(OneOrigin):
    """The base class of all calls of the maintainers' API.

    Sets `self.membership` of the caller and `self.organization` before the method runs. The methods in
    `reading` need the scope `orgs:read`, all others `orgs:write`. Each person has a limit on calls
    in progress, and a rate of changes.
    """

    authentication_classes = [BearerToken]
    permission_classes = [HasScope]
    reading: Collection[str] = SAFE_METHODS
    membership: Membership
    organization: Organization

    def dispatch(self, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Count the call as in progress until it is answered."""
        with ExitStack() as self._until_answered:
            return super().dispatch(*args, **kwargs)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check the token, its scope and the limit before the method runs."""
        super().initial(request, *args, **kwargs)
        self.membership = _membership(request)
        self.organization = self.membership.organization
        current.note(organization=self.organization.pk)
        self._until_answered.enter_context(counted.in_progress(self.membership, counted.TOKEN))
        if request.method not in self.reading:
            counted.check_change(self.membership, counted.TOKEN)

    def finalize_response(self, *args: Any, **kwargs: Any) -> Response:
        """Forbid caching: the response is for this token only."""
        response = super().finalize_response(*args, **kwargs)
        response["Cache-Control"] = "no-store"
        return response


def _membership(request: Request) -> Membership:
    try:
        return request.user.membership  # type: ignore[union-attr]
    except Membership.DoesNotExist:
        raise NoOrganization from None
