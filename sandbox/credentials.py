"""Who is calling: the app by its signed JWT, an installation or a person by a token, or nobody.

https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app
"""

import hashlib
import json
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from jwt import PyJWS, PyJWTError

from .messages import ApiError, Request
from .records import Account, App, Installation, Repository, has_all
from .state import State

Kind = Literal["none", "app", "installation", "user"]
LONGEST_JWT = timedelta(minutes=10)


@dataclass(frozen=True)
class Caller:
    """`repository_ids` and `permissions` are the limits of an installation's token."""

    kind: Kind = "none"
    installation: Installation | None = None
    user: Account | None = None
    repository_ids: frozenset[int] | None = None
    permissions: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """How GitHub names the caller in rate limit errors."""
        if self.installation:
            return f"installation ID {self.installation.id}"
        if self.user:
            return f"user ID {self.user.id}"
        return "app" if self.kind == "app" else "127.0.0.1"

    def sees(self, state: State, repository: Repository) -> bool:
        """Whether the caller may read the repository."""
        return not repository.private or self.reaches(state, repository)

    def reaches(self, state: State, repository: Repository) -> bool:
        """Whether the caller has access to the repository beyond its being public."""
        if self.installation:
            within = self.repository_ids is None or repository.id in self.repository_ids
            return within and self.installation.covers(repository)
        if self.user:
            has_role = repository.role_of(self.user.login) is not None
            return has_role and state.installation_for(repository) is not None
        return False

    def may(self, state: State, repository: Repository, **wanted: str) -> bool:
        """Whether the caller has all these permissions there, such as `issues="write"`."""
        if not repository.private and set(wanted.values()) == {"read"}:
            return True
        if self.installation:
            return has_all(self.permissions, wanted) and self.reaches(state, repository)
        installation = state.installation_for(repository)
        if self.user and installation and self.sees(state, repository):
            return has_all(installation.permissions, wanted)
        return False


NOBODY = Caller()


class Tokens:
    """Issued tokens, by their SHA-256; the tokens themselves are not kept."""

    def __init__(self) -> None:
        self._callers: dict[str, tuple[Caller, datetime]] = {}

    def mint(self, prefix: str, caller: Caller, *, until: datetime) -> str:
        """A new token for a caller, valid until then."""
        token = prefix + secrets.token_hex(18)
        self._callers[hashed(token)] = (caller, until)
        return token

    def find(self, token: str, *, now: datetime) -> Caller | None:
        """The caller of a valid token; None for any other."""
        caller, until = self._callers.get(hashed(token), (None, now))
        return caller if until > now else None

    def revoke(self, installation: Installation) -> None:
        """Revoke all tokens of an installation."""
        self._callers = {
            key: (caller, until)
            for key, (caller, until) in self._callers.items()
            if caller.installation is not installation
        }


def hashed(secret: str) -> str:
    """The SHA-256 of a secret, in hex."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def identify(request: Request, *, state: State, tokens: Tokens) -> Caller:
    """The caller in the `Authorization` header; raises the error that GitHub gives for a bad one."""
    header = request.headers.get("Authorization")
    if not header:
        return NOBODY
    scheme, _, value = header.partition(" ")
    if scheme.lower() == "bearer" and value.count(".") == 2:
        check_jwt(value, app=state.app, now=state.now())
        return Caller("app")
    caller = tokens.find(value, now=state.now()) if scheme.lower() in ("bearer", "token") else None
    if caller is None:
        raise ApiError(401, "Bad credentials")
    if caller.installation and caller.installation.suspended_at:
        raise ApiError(403, "This installation has been suspended")
    return caller


def check_jwt(token: str, *, app: App, now: datetime) -> None:
    """Verify the app's RS256 JWT by the code host's clock, not this machine's."""
    seconds = now.timestamp()
    claims = _decoded(token, app)
    issued, expires = claims.get("iat"), claims.get("exp")
    if not isinstance(issued, int) or issued > seconds:
        raise ApiError(
            401,
            "'Issued at' claim ('iat') must be an Integer representing the time that the assertion "
            "was issued",
        )
    if not isinstance(expires, int) or expires <= seconds:
        raise ApiError(
            401,
            "'Expiration time' claim ('exp') must be a numeric value representing the future time "
            "at which the assertion expires",
        )
    if expires > seconds + LONGEST_JWT.total_seconds():
        raise ApiError(401, "'Expiration time' claim ('exp') is too far in the future")


def _decoded(token: str, app: App) -> dict[str, Any]:
    for key in (app.public_key_pem, *app.further_public_keys):
        with suppress(PyJWTError, ValueError):
            claims = json.loads(PyJWS().decode(token, key, algorithms=["RS256"]))
            break
    else:
        raise ApiError(401, "A JSON web token could not be decoded")
    issuer = claims.get("iss")
    if issuer is None:
        raise ApiError(401, "Missing 'issuer' claim ('iss') in assertion")
    if str(issuer) not in (str(app.id), app.client_id):
        raise ApiError(404, "Integration not found")
    return claims
