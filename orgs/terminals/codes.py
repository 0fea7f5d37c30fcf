"""Sign-ins from terminals that wait for a person, by the two codes of RFC 8628, in the shared cache.

allauth's own store reads, changes and writes one entry, so an approval can be lost to a poll at the same
time, and two processes can exchange one code. Here each step adds or deletes one entry, which is atomic.
Codes are stored as keyed hashes.

| entry | is there |
|---|---|
| `device/…` | until the device code is exchanged: what was asked for |
| `user/…` | until the user code expires: which device code it belongs to |
| `answer/…` | once a person has approved or denied it |
| `poll/…` | for a few seconds after the device has asked |
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, NamedTuple

from allauth.core.internal.cryptokit import normalize_user_code
from django.core.cache import cache
from django.utils.crypto import salted_hmac
from oauthlib.oauth2.rfc6749.errors import InvalidGrantError
from oauthlib.oauth2.rfc8628.errors import (
    AccessDenied,
    AuthorizationPendingError,
    ExpiredTokenError,
    SlowDownError,
)

from core import keys
from core.errors import ApiError
from core.rates import REDIS_PAUSE, RedisAway

LIFETIME = 600  # seconds
INTERVAL = 5  # seconds between two polls of one device
REMEMBERED = 60  # seconds after the end, in which a device is told that its code has expired


class CodesAway(ApiError):
    """503: the store of the codes cannot be reached."""

    status_code = 503
    default_code = "unavailable"
    default_detail = "Sign-in from a terminal is temporarily unavailable. Please try again."


class WrongCode(ApiError):
    """400: no sign-in waits for this code."""

    status_code = 400
    default_code = "wrong_code"
    default_detail = (
        "No terminal waits with this code. Check what the terminal shows. A code expires after "
        f"{LIFETIME // 60} minutes: sign in again there to get another one."
    )


class UsedCode(ApiError):
    """400: the code was approved or denied before."""

    status_code = 400
    default_code = "used_code"
    default_detail = "This code was already used. Sign in again in the terminal to get another one."


class Waiting(NamedTuple):
    """A sign-in that waits: which client asks, for which scopes, and until when (seconds since 1970)."""

    device: str  # the hash of its device code
    user_code: str  # as the terminal shows it
    client_id: str
    scopes: list[str]
    until: float

    @property
    def began_at(self) -> datetime:
        """When the terminal asked."""
        return datetime.fromtimestamp(self.until - LIFETIME, UTC)


class Approval(NamedTuple):
    """Who approved it, the organization that the person acted for, and what ends with all sessions of that time."""

    user: int
    organization: str
    session: str = ""


class Exchanged(NamedTuple):
    """What a device code was exchanged for."""

    approval: Approval
    scopes: list[str]
    until: float


def begin(device_code: str, user_code: str, *, client_id: str, scopes: list[str]) -> bool:
    """Let a sign-in wait for a person. False if another one waits with this user code."""
    device = _hashed("device", device_code)
    asked = {"client_id": client_id, "scopes": scopes, "until": time.time() + LIFETIME}
    with _reachable():
        cache.set(f"device/{device}", asked, LIFETIME + REMEMBERED)
        return cache.add(_key_of(user_code), device, LIFETIME)


def waiting(user_code: str) -> Waiting:
    """The sign-in that waits with the code that a person typed. Raises `WrongCode`, `UsedCode`."""
    with _reachable():
        device = cache.get(_key_of(user_code))
        answered = device and cache.get(f"answer/{device}") is not None  # a denial is empty
        asked = device and cache.get(f"device/{device}")
    if answered:
        raise UsedCode
    if not asked or asked["until"] <= time.time():
        raise WrongCode
    plain = normalize_user_code(user_code).upper()
    return Waiting(device=device, user_code=f"{plain[:4]}-{plain[4:]}", **asked)


def approve(sign_in: Waiting, approval: Approval) -> None:
    """Let the terminal sign in as this person. Raises `UsedCode` if the code was answered before."""
    _answer(sign_in, [*approval])


def deny(sign_in: Waiting) -> None:
    """Refuse it. Raises `UsedCode` if the code was answered before."""
    _answer(sign_in, [])


def _answer(sign_in: Waiting, approval: list[Any]) -> None:
    with _reachable():
        first = cache.add(f"answer/{sign_in.device}", approval, LIFETIME + REMEMBERED)
    if not first:
        raise UsedCode


def exchange(device_code: str, *, client_id: str) -> Exchanged:
    """Who approved it, and the scopes: once, for the device that polls.

    Raises `SlowDownError`, `AuthorizationPendingError`, `AccessDenied`, `ExpiredTokenError`,
    `InvalidGrantError`.
    """
    device = _hashed("device", device_code)
    with _reachable():
        asked = cache.get(f"device/{device}")
        if not asked or asked["client_id"] != client_id:
            raise InvalidGrantError("This device code is unknown, or was already used.")
        if asked["until"] <= time.time():
            raise ExpiredTokenError("The code has expired. Begin again.")
        if not cache.add(f"poll/{device}", 1, INTERVAL):
            raise SlowDownError(f"Ask at most every {INTERVAL} seconds.")
        given = cache.get(f"answer/{device}")
        if given is None:
            raise AuthorizationPendingError("Nobody has approved it yet.")
        if not given:
            raise AccessDenied("The sign-in was denied.")
        if not cache.delete(f"device/{device}"):
            raise InvalidGrantError("This device code was already used.")
    return Exchanged(Approval(*given), asked["scopes"], asked["until"])


def give_back(device_code: str, exchanged: Exchanged, *, client_id: str) -> None:
    """Let a device code be exchanged again, because nothing could be saved."""
    asked = {"client_id": client_id, "scopes": exchanged.scopes, "until": exchanged.until}
    with _reachable():
        cache.add(f"device/{_hashed('device', device_code)}", asked, LIFETIME + REMEMBERED)


def _key_of(user_code: str) -> str:
    return f"user/{_hashed('user', normalize_user_code(user_code))}"


def _hashed(kind: str, code: str) -> str:
    """Keyed: a user code is short enough to be guessed from a plain hash."""
    return salted_hmac(f"{kind} code", code, secret=keys.lasting(), algorithm="sha256").hexdigest()


@contextmanager
def _reachable() -> Iterator[None]:
    try:
        yield
    except RedisAway as error:
        raise CodesAway(headers={"Retry-After": str(round(REDIS_PAUSE))}) from error
