"""`login`, `logout`, and the token of the person who is signed in."""

from __future__ import annotations

import contextlib
import re
import sys
import time
from datetime import datetime, timezone
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple, TypeVar

from . import config, oauth, settings, sign_ins, terminal, words
from .arguments import Arguments
from .client import Client
from .contract import message
from .document import text
from .errors import (
    AuthError,
    DocFeedbackError,
    RateLimited,
    ServerError,
    Unreachable,
    by_hub,
)
from .oauth import Code, Endpoints, Tokens
from .result import Result
from .visible import json_line

SLOW_DOWN_SECONDS = 5.0  # by RFC 8628
MAX_PAUSE_SECONDS = 60.0
EARLY_SECONDS = 60  # so long before its end a token is refreshed

T = TypeVar("T")


class Used(NamedTuple):
    """Which token was used: that of a sign-in (`place` is None), which ends `until`, or of a place."""

    place: Optional[str]
    until: Optional[str] = None

    def line(self) -> str:
        """For people."""
        if self.place is not None:
            return message("token_line", place=self.place)
        if self.until is None:
            return message("signed_in_line")
        return message("signed_in_until_line", time=words.time(self.until))

    def data(self) -> Dict[str, Any]:
        """For programs."""
        return {"token_from": self.place or "sign_in", "signed_in_until": self.until}


def login(arguments: Arguments) -> Result:
    """Sign in at the Hub: a person approves a code in a browser."""
    hub_url = settings.required_hub_url(arguments.get("--hub-url"))
    seconds = settings.timeout()
    endpoints = oauth.discover(hub_url, seconds)
    sign_ins.check_place(hub_url)  # before somebody approves a sign-in that cannot be kept
    try:
        code = oauth.request_code(endpoints, hub_url, seconds)
        _show(code, hub_url, arguments)
        tokens = _wait(endpoints, code, hub_url, seconds)
    except oauth.Refused as refused:
        raise refused.error(hub_url) from None
    try:
        before = sign_ins.replace(hub_url, tokens)
    except DocFeedbackError:  # nobody can use it: a full disk
        _try_to_revoke(endpoints, tokens, hub_url, seconds)
        raise
    if before is not None:
        _try_to_revoke(endpoints, before, hub_url, seconds)
    line, whose, notes = _whose(hub_url, tokens, seconds)
    if settings.has_token_for(hub_url):
        notes.append(message("token_wins"))
    notes += filter(None, [config.remember(hub_url)])
    data = {"hub_url": hub_url, "signed_in": True, **whose, "scope": tokens.scope}
    return Result([line], {**data, "signed_in_until": _time(tokens.ends_at)}, notes)


def logout(arguments: Arguments) -> Result:
    """End the sign-in here and at the Hub, or only here if the Hub cannot be reached."""
    hub_url = settings.required_hub_url(arguments.get("--hub-url"))
    seconds = settings.timeout()
    tokens = sign_ins.take(hub_url)
    if tokens is None:
        data = {"hub_url": hub_url, "signed_out": False, "revoked": False}
        return Result([message("was_not_signed_in", url=hub_url)], data)
    notes = []
    try:
        _revoke(oauth.discover(hub_url, seconds), tokens, hub_url, seconds)
    except DocFeedbackError as error:
        notes = [message("not_revoked", reason=str(error))]
    data = {"hub_url": hub_url, "signed_out": True, "revoked": not notes}
    return Result([message("signed_out", url=hub_url)], data, notes)


def organization(client: Client) -> Tuple[Dict[str, Any], Used]:
    """The organization of the person who is signed in, or to whom the token belongs."""

    def ask(token: str) -> Dict[str, Any]:
        client.token = token
        return client.me()

    found, used = signed_in(settings.required_hub_url(client.hub_url), client.timeout, ask)
    ends_at = text((found["caller"] or {}).get("expires_at"))
    if used.place is None and ends_at:
        used = used._replace(until=re.sub(r"\.[0-9]+", "", ends_at))
    return found, used


def signed_in(hub_url: str, seconds: float, ask: Callable[[str], T]) -> Tuple[T, Used]:
    """What `ask` gives with a token: DOCFEEDBACK_TOKEN, that of the sign-in, or that of the file.

    Where no Hub is set, the sign-in comes first: DOCFEEDBACK_TOKEN may be for another Hub.
    """
    tokens = None if settings.has_token_for(hub_url) else sign_ins.stored(hub_url)
    if tokens is None:
        return _with_a_token(hub_url, ask)
    if tokens.expires_at - EARLY_SECONDS < time.time():
        tokens = sign_ins.refreshed(hub_url, tokens, seconds)
    try:
        answer = ask(settings.token(tokens.access_token, hub_url))
    except AuthError as error:
        if error.status != 401:
            raise
        tokens = sign_ins.refreshed(hub_url, tokens, seconds)
        answer = ask(settings.token(tokens.access_token, hub_url))
    return answer, Used(None, _time(tokens.ends_at))


def _with_a_token(hub_url: str, ask: Callable[[str], T]) -> Tuple[T, Used]:
    token, place = settings.environment_token(hub_url), "DOCFEEDBACK_TOKEN"
    if token is None:
        token, place = settings.config_token(hub_url), settings.config_path().name
    if not token:
        settings.refuse_token_of_another(hub_url, "not_signed_in")
        raise AuthError.of("not_signed_in", url=hub_url)
    try:
        return ask(settings.token(token, hub_url)), Used(place)
    except AuthError as error:
        if error.status != 401:
            raise
        sentence = message("wrong_token", place=place, url=hub_url)
        raise AuthError(error.code, sentence, status=401, fields=error.fields) from None


def _whose(
    hub_url: str, tokens: Tokens, seconds: float
) -> Tuple[str, Dict[str, Optional[str]], List[str]]:
    """Whose sign-in it is: for people, for programs, and a note if that is not known.

    A person must see it, because somebody else may have approved the code (RFC 8628, 5.5).
    """
    nobody: Dict[str, Optional[str]] = {"login": None, "organization": None}
    try:
        found = Client(hub_url, tokens.access_token, seconds).me()
    except DocFeedbackError as error:
        note = message("not_asked_whose", reason=str(error))
        return message("signed_in", url=hub_url), nobody, [note]
    if found["caller"] is None:
        return message("signed_in", url=hub_url), nobody, [message("not_said_whose")]
    login, name = found["caller"]["login"], found["name"]
    line = message(
        "signed_in_as", url=hub_url, login=words.name(login), organization=words.name(name or "-")
    )
    return line, {"login": login, "organization": name}, []


def _show(code: Code, hub_url: str, arguments: Arguments) -> None:
    """The code, for which Hub it is and where to enter it, on standard error; as one line of JSON with `--json`."""
    link = code.link or code.address
    if "--json" in arguments.flags:
        event = {
            "event": "code",
            "hub_url": hub_url,
            "user_code": code.user_code,
            "verification_uri": code.address,
            "verification_uri_complete": code.link,
            "expires_in": int(code.seconds),
        }
        terminal.write(sys.stderr, [json_line(event)])
    else:
        lines = [
            message("sign_in_code", url=hub_url, user_code=words.name(code.user_code)),
            message("sign_in_check"),
            message("sign_in_address", address=code.address),
        ]
        if code.link is not None:
            lines.append(message("sign_in_link", address=code.link))
        terminal.write(sys.stderr, lines)
    if "--no-browser" not in arguments.flags and terminal.open_browser(link):
        terminal.write(sys.stderr, [message("browser_opened")])


def _wait(endpoints: Endpoints, code: Code, hub_url: str, seconds: float) -> Tokens:
    """The tokens, once the person has approved.

    A Hub that cannot be reached is asked again, ever more seldom, until the code has expired.
    """
    ends = time.monotonic() + code.seconds
    interval = pause = code.interval
    failure: Optional[DocFeedbackError] = None
    progress = terminal.Progress()
    try:
        while (left := ends - time.monotonic()) > 0:
            minutes, rest = divmod(int(left), 60)
            progress.show(message("waiting", time=f"{minutes}:{rest:02}"))
            time.sleep(min(pause, left))
            try:
                return oauth.redeem(endpoints, code, hub_url, seconds)
            except oauth.Refused as refused:
                interval = pause = _next_interval(refused, interval, hub_url)
                failure = None
            except (Unreachable, ServerError, RateLimited) as error:
                longer = min(2 * pause, max(MAX_PAUSE_SECONDS, interval))
                pause = error.fields.get("retry_after") or longer
                failure = error
    finally:
        progress.clear()
    raise failure or _expired()


def _next_interval(refused: oauth.Refused, interval: float, hub_url: str) -> float:
    """Seconds until the Hub may be asked again. Raises AuthError if that is of no use."""
    if refused.code == "authorization_pending":
        return interval
    if refused.code == "slow_down":
        return interval + SLOW_DOWN_SECONDS
    if refused.code == "access_denied":
        said = refused.description
        sentence = by_hub(said) if said else message("sign_in_denied")
        raise AuthError("sign_in_denied", sentence, status=refused.status)
    if refused.code in ("expired_token", "invalid_grant"):
        raise _expired()
    raise refused


def _expired() -> DocFeedbackError:
    return AuthError("code_expired", message("code_expired"), status=400)


def _try_to_revoke(endpoints: Endpoints, tokens: Tokens, hub_url: str, seconds: float) -> None:
    with contextlib.suppress(DocFeedbackError):  # it ends by itself, too
        _revoke(endpoints, tokens, hub_url, seconds)


def _revoke(endpoints: Endpoints, tokens: Tokens, hub_url: str, seconds: float) -> None:
    if tokens.refresh_token is not None:
        oauth.revoke(endpoints, tokens.refresh_token, "refresh_token", hub_url, seconds)
    oauth.revoke(endpoints, tokens.access_token, "access_token", hub_url, seconds)


def _time(second: Optional[int]) -> Optional[str]:
    """RFC 3339, in UTC, as the Hub writes times; None if there is none."""
    if second is None:
        return None
    return datetime.fromtimestamp(second, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
