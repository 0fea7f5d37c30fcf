"""How a Hub signs a program in: the OAuth device flow (RFC 8628), refreshing (6749) and revoking (7009)."""

from __future__ import annotations

import re
import time
from typing import Any, Dict, NamedTuple, Optional, Tuple
from urllib.parse import urlencode

from . import hub, settings, visible, web, words
from .contract import message
from .document import text
from .errors import AuthError, DocFeedbackError, ServerError
from .web import ACCEPT

PATH = "/.well-known/openid-configuration"
CLIENT_ID = "docfeedback-cli"
SCOPE = "orgs:read"  # all that our commands need
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
USER_CODE = re.compile(r"[\x21-\x7e]{1,64}")
LINK = re.compile(  # a browser is opened with it: RFC 3986, but for what a shell would run
    r"(?:[A-Za-z0-9._~:/?#\[\]@!&*+,;=-]|%[0-9A-Fa-f]{2}){1,2048}"
)
DEFAULT_INTERVAL = 5.0  # seconds, by RFC 8628
MIN_INTERVAL = 1.0
MAX_CODE_SECONDS = 3600.0
MAX_TOKEN_SECONDS = 10 * 365 * 24 * 3600.0
DEFAULT_TOKEN_SECONDS = 3600.0


class Refused(Exception):
    """The Hub's answer is an OAuth error, such as `access_denied`; `description` is for people."""

    def __init__(self, code: str, description: Optional[str], status: int) -> None:
        super().__init__(code)
        self.code = code
        self.description = description
        self.status = status

    def error(self, hub_url: str) -> DocFeedbackError:
        """What a person is told."""
        reason = visible.quoted(self.description or self.code)
        sentence = message("sign_in_refused", url=hub_url, reason=reason)
        return AuthError("sign_in_refused", sentence, status=self.status)


class Endpoints(NamedTuple):
    """Where to ask, all on the Hub's own origin; `revocation` is None if the Hub has none."""

    device: str
    token: str
    revocation: Optional[str]


class Code(NamedTuple):
    """What the person enters (`user_code`) and where; `link` is the address with the code in it.

    It is valid for `seconds`, and the Hub may be asked every `interval` seconds.
    """

    device_code: str
    user_code: str
    address: str
    link: Optional[str]
    seconds: float
    interval: float


class Tokens(NamedTuple):
    """A sign-in; times are seconds since 1970, and `ends_at` is None if the Hub does not say."""

    access_token: str
    expires_at: int
    refresh_token: Optional[str]
    ends_at: Optional[int]
    scope: Optional[str]


def discover(hub_url: str, seconds: float) -> Endpoints:
    """What the Hub says about itself. Raises ServerError if it signs nobody in, or names another server."""
    settings.refuse_insecure(hub_url)
    answer = hub.exchange(web.Request("GET", hub_url + PATH, ACCEPT), seconds, hub_url)
    found = answer.json()
    if answer.status not in (200, 404, 405, 410):
        raise hub.refusal(answer, hub_url)
    named = found if answer.status == 200 and isinstance(found, dict) else {}
    device, token = named.get("device_authorization_endpoint"), named.get("token_endpoint")
    if not isinstance(device, str) or not isinstance(token, str):
        raise ServerError.of("no_device_flow", url=hub_url)
    revocation = text(named.get("revocation_endpoint"))
    for url in filter(None, (device, token, revocation)):
        _refuse_foreign(url, hub_url)
    return Endpoints(device, token, revocation)


def request_code(endpoints: Endpoints, hub_url: str, seconds: float) -> Code:
    """A new code for a person to enter. Raises Refused, or an error of `docfeedback.errors`."""
    form = {"client_id": CLIENT_ID, "scope": SCOPE}
    answer, body = _post(endpoints.device, form, hub_url, seconds, again=True)
    device_code, user_code = text(body.get("device_code")), text(body.get("user_code"))
    address, link = text(body.get("verification_uri")), text(body.get("verification_uri_complete"))
    links = [url for url in (address, link) if url]
    if (
        not settings.TOKEN.fullmatch(device_code or "")
        or not USER_CODE.fullmatch(user_code or "")
        or not address
        or not all(LINK.fullmatch(url) for url in links)
    ):
        raise hub.unlike_a_hub(answer, hub_url)
    for url in links:
        _refuse_foreign(url, hub_url)
    return Code(
        device_code or "",
        user_code or "",
        address,
        link,
        min(_seconds(body.get("expires_in")) or MAX_CODE_SECONDS, MAX_CODE_SECONDS),
        max(_seconds(body.get("interval")) or DEFAULT_INTERVAL, MIN_INTERVAL),
    )


def redeem(endpoints: Endpoints, code: Code, hub_url: str, seconds: float) -> Tokens:
    """The tokens, once the person has approved. Raises Refused until then."""
    form = {"grant_type": DEVICE_GRANT, "device_code": code.device_code, "client_id": CLIENT_ID}
    answer, body = _post(endpoints.token, form, hub_url, seconds)
    return _tokens(answer, body, hub_url, None)


def refresh(endpoints: Endpoints, refresh_token: str, hub_url: str, seconds: float) -> Tokens:
    """New tokens; the old ones are spent, so this is never tried a second time. Raises Refused."""
    form = {
        "grant_type": "refresh_token",
        "refresh_token": refresh_token,
        "client_id": CLIENT_ID,
    }
    answer, body = _post(endpoints.token, form, hub_url, seconds)
    return _tokens(answer, body, hub_url, refresh_token)


def revoke(endpoints: Endpoints, token: str, kind: str, hub_url: str, seconds: float) -> None:
    """Make the token (`kind`: access_token, refresh_token) worthless at the Hub."""
    if endpoints.revocation is None:
        raise ServerError.of("no_device_flow", url=hub_url)
    form = {"token": token, "token_type_hint": kind, "client_id": CLIENT_ID}
    request = _form(endpoints.revocation, form)
    answer = hub.exchange(request, seconds, hub_url)
    if answer.status != 200:  # the body is of no interest
        raise hub.refusal(answer, hub_url)


def _post(
    url: str, form: Dict[str, str], hub_url: str, seconds: float, *, again: bool = False
) -> Tuple[web.Answer, Dict[str, Any]]:
    """The response and its JSON object. Raises Refused if that is an OAuth error."""
    answer = hub.exchange(_form(url, form), seconds, hub_url, again=again)
    body = answer.json()
    if not isinstance(body, dict):
        raise hub.refusal(answer, hub_url)
    if answer.status in (400, 401, 403) and isinstance(body.get("error"), str):
        raise Refused(body["error"], text(body.get("error_description")), answer.status)
    if answer.status != 200:
        raise hub.refusal(answer, hub_url)
    return answer, body


def _form(url: str, form: Dict[str, str]) -> web.Request:
    headers = {**ACCEPT, "Content-Type": "application/x-www-form-urlencoded"}
    return web.Request("POST", url, headers, urlencode(form).encode())


def _tokens(
    answer: web.Answer, body: Dict[str, Any], hub_url: str, refresh_token: Optional[str]
) -> Tokens:
    access_token, kind = text(body.get("access_token")), text(body.get("token_type"))
    new_refresh_token = text(body.get("refresh_token")) or refresh_token
    if (
        not settings.TOKEN.fullmatch(access_token or "")
        or not settings.TOKEN.fullmatch(new_refresh_token or "none")
        or (kind or "").lower() != "bearer"
    ):
        raise hub.unlike_a_hub(answer, hub_url)
    now = time.time()
    lasts = _seconds(body.get("expires_in")) or DEFAULT_TOKEN_SECONDS
    ends = _seconds(body.get("refresh_expires_in"))
    return Tokens(
        access_token or "",
        int(now + min(lasts, MAX_TOKEN_SECONDS)),
        new_refresh_token,
        int(now + min(ends, MAX_TOKEN_SECONDS)) if ends else None,
        text(body.get("scope")),
    )


def _refuse_foreign(url: str, hub_url: str) -> None:
    """Raise ServerError unless the URL is on the Hub's own scheme, host and port."""
    other = settings.origin(url)
    if other is None or other != settings.origin(hub_url):
        raise ServerError.of("foreign_endpoint", url=hub_url, other=other or words.quote(url))


def _seconds(value: Any) -> Optional[float]:
    """The value if it is a number above 0, else None."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and value > 0 else None
