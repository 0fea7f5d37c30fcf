"""Who is using the sandbox's own pages. There are no passwords: anybody may be anybody."""

import secrets
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import quote

from .calls import Call
from .credentials import hashed
from .layout import Html, html, joined, page
from .messages import ApiError, Response, redirect
from .records import Account

if TYPE_CHECKING:
    from .host import CodeHost

COOKIE = "sandbox_session"


def viewer(call: Call) -> Account | None:
    """The person who uses this browser; None before they have chosen who they are."""
    try:
        cookie = SimpleCookie(call.request.headers.get("Cookie", "")).get(COOKIE)
    except CookieError:
        return None
    return call.host.sessions.get(hashed(cookie.value)) if cookie else None


def begin(host: "CodeHost", user: Account) -> dict[str, str]:
    """Sign the person in; returns the headers that set the cookie."""
    token = secrets.token_hex(16)
    host.sessions[hashed(token)] = user
    return {"Set-Cookie": f"{COOKIE}={token}; Path=/; HttpOnly; SameSite=Lax"}


def person(host: "CodeHost", login: str) -> Account:
    """The person with that login; else 422."""
    user = host.accounts.get(login.lower())
    if user is None or user.type != "User":
        raise ApiError(422, f"There is no person {login} here.")
    return user


def sign_in_path(call: Call) -> str:
    """The sign-in page that returns to where this call wanted to go."""
    wanted = call.request.path + (f"?{call.request.query}" if call.request.query else "")
    return f"/login?return_to={quote(wanted, safe='')}"


def show_sign_in(call: Call) -> Response:
    """The page to choose who you are."""
    hidden = {"return_to": call.request.params.get("return_to", "/")}
    form = people_form(call.host, "/login", hidden=hidden)
    return page("Sign in", html("<h1>Who are you?</h1>{form}", form=form))


def sign_in(call: Call) -> Response:
    """Sign in as the chosen person, and return."""
    sent = call.request.fields
    target = sent.get("return_to", "/")
    if not target.startswith("/") or target.startswith(("//", "/\\")):
        target = "/"
    user = person(call.host, sent.get("login", ""))
    return redirect(target, headers=begin(call.host, user))


NOTHING_MORE = Html()


def people_form(
    host: "CodeHost", action: str, *, hidden: dict[str, str], last: Html = NOTHING_MORE
) -> Html:
    """A form with one button per person, the given hidden fields, and something at its end."""
    inputs = [
        html('<input type="hidden" name="{name}" value="{value}">', name=name, value=value)
        for name, value in hidden.items()
    ]
    buttons = [
        html('<p><button name="login" value="{login}">Sign in as {login}</button></p>', login=login)
        for login in (each.login for each in host.accounts.values() if each.type == "User")
    ]
    return html(
        '<form method="post" action="{action}">{inputs}{buttons}{last}</form>',
        action=action,
        inputs=joined(inputs),
        buttons=joined(buttons),
        last=last,
    )
