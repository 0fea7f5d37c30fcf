"""The web flow of OAuth: a person agrees, the app gets a code and exchanges it for a token.

https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
`?login=alice` on the authorization URL agrees as alice at once. As on GitHub, who has agreed before is
not asked again: here that is whoever came by `/_sandbox/as/<login>`.
"""

import base64
import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from hmac import compare_digest
from typing import Any
from urllib.parse import urlencode, urlsplit

from .calls import Call
from .credentials import Caller, hashed
from .layout import html, page
from .messages import ApiError, Response, json_response, not_found, redirect
from .records import Account
from .sessions import begin, people_form, person, who_has_agreed

CODE_LIFETIME = timedelta(minutes=10)
TOKEN_LIFETIME = timedelta(days=365)
ERRORS = {
    "incorrect_client_credentials": "The client_id and/or client_secret passed are incorrect.",
    "bad_verification_code": "The code passed is incorrect or expired.",
    "redirect_uri_mismatch": (
        "The redirect_uri MUST match the registered callback URL for this application."
    ),
}


@dataclass(frozen=True)
class Code:
    """A code: whose it is, and what it was issued for."""

    user: Account
    redirect_uri: str
    challenge: str
    expires_at: datetime


class Codes:
    """Issued codes, by hash; each is valid once."""

    def __init__(self) -> None:
        self._codes: dict[str, Code] = {}

    def issue(self, code: Code) -> str:
        """The text of a new code."""
        value = secrets.token_hex(10)
        self._codes[hashed(value)] = code
        return value

    def redeem(self, value: str, *, now: datetime) -> Code | None:
        """The code of this text, which is then used; None if it is not valid."""
        code = self._codes.pop(hashed(value), None)
        return code if code and code.expires_at > now else None


def show_authorization(call: Call) -> Response:
    """The page that asks a person to agree."""
    params = call.request.params
    target = _callback(call, params)
    if agreed := who_has_agreed(call):
        params = {"login": agreed.login, **params}
    if params.get("login"):
        return _agree(call, params, target=target)
    cancel = html('<p><button name="cancel" value="1">Cancel</button></p>')
    form = people_form(call.host, "/login/oauth/authorize", hidden=params, last=cancel)
    content = html(
        "<h1>Sign in to {app}</h1>"
        "<p>It learns who you are, and which repositories you and it share.</p>{form}",
        app=call.host.app.slug,
        form=form,
    )
    return page(
        f"Sign in to {call.host.app.slug}", content, call=call, forms_lead_to=origin(target)
    )


def authorize(call: Call) -> Response:
    """The person has agreed or cancelled."""
    sent = call.request.fields
    return _agree(call, sent, target=_callback(call, sent))


def _callback(call: Call, sent: dict[str, str]) -> str:
    """Where the browser goes with the code: a callback URL of the app, by default the first."""
    app = call.host.app
    if sent.get("client_id") != app.client_id:
        raise not_found()
    target = sent.get("redirect_uri") or next(iter(app.callback_urls), "")
    if target not in app.callback_urls:
        raise ApiError(400, "The redirect_uri is not associated with this application.")
    return target


def _agree(call: Call, sent: dict[str, str], *, target: str) -> Response:
    if "cancel" in sent:
        return redirect(with_query(target, error="access_denied", state=sent.get("state")))
    user = person(call.host, sent.get("login", ""))
    code = new_code(call, user, redirect_uri=target, challenge=sent.get("code_challenge", ""))
    location = with_query(target, code=code, state=sent.get("state"))
    stays = who_has_agreed(call) is user
    return redirect(location, headers={} if stays else begin(call.host, user))


def new_code(call: Call, user: Account, *, redirect_uri: str, challenge: str = "") -> str:
    """A new code for the person, as text."""
    until = call.host.now() + CODE_LIFETIME
    return call.host.codes.issue(Code(user, redirect_uri, challenge, until))


def exchange_code(call: Call) -> Response:
    """`POST /login/oauth/access_token`. GitHub answers most mistakes with 200 and an `error`."""
    sent, app = call.request.params | call.request.fields, call.host.app
    if sent.get("client_id") != app.client_id:
        return _answer(call, {"error": "Not Found"}, status=404)
    secrets = (app.client_secret, *app.further_client_secrets)
    if not any(
        compare_digest(sent.get("client_secret", "").encode(), each.encode()) for each in secrets
    ):
        return _refused(call, "incorrect_client_credentials")
    code = call.host.codes.redeem(sent.get("code", ""), now=call.host.now())
    if code is None or not _proves(sent.get("code_verifier", ""), code.challenge):
        return _refused(call, "bad_verification_code")
    if sent.get("redirect_uri", code.redirect_uri) != code.redirect_uri:
        return _refused(call, "redirect_uri_mismatch")
    until = call.host.now() + TOKEN_LIFETIME
    token = call.host.tokens.mint("ghu_", Caller("user", user=code.user), until=until)
    return _answer(call, {"access_token": token, "token_type": "bearer", "scope": ""})


def _proves(verifier: str, challenge: str) -> bool:
    """PKCE (RFC 7636) with SHA-256, the only method that GitHub has."""
    digest = hashlib.sha256(verifier.encode("utf-8", "replace")).digest()
    return not challenge or base64.urlsafe_b64encode(digest).decode().rstrip("=") == challenge


def _refused(call: Call, error: str) -> Response:
    uri = f"https://docs.github.com/apps/oauth-apps/maintaining-oauth-apps/{error}"
    return _answer(call, {"error": error, "error_description": ERRORS[error], "error_uri": uri})


def _answer(call: Call, values: dict[str, Any], *, status: int = 200) -> Response:
    """As JSON if `Accept` asks for it, else as a form, like GitHub."""
    if "json" in call.request.headers.get("Accept", ""):
        return json_response(values, status=status)
    form = {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"}
    return Response(status, urlencode(values).encode(), form)


def with_query(url: str, **params: str | None) -> str:
    """The URL with these parameters added, without those that are None."""
    added = urlencode({name: value for name, value in params.items() if value is not None})
    return f"{url}{'&' if urlsplit(url).query else '?'}{added}"


def origin(url: str) -> str:
    """The scheme and host of a URL."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
