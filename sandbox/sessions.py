"""Who is using the sandbox's own pages. There are no passwords: anybody may be anybody."""

import re
import secrets
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from .calls import Call
from .credentials import hashed
from .layout import NOTHING, Html, html, joined, page
from .messages import ApiError, Response, redirect
from .records import Account

if TYPE_CHECKING:
    from .host import CodeHost

COOKIE = "sandbox_session"

_LOCAL = re.compile(r"/(?![/\\])[!-~]*")  # a path here, without spaces or line ends


class Session(NamedTuple):
    """Who uses a browser, and whether they have agreed once and for all that the app learns it."""

    user: Account
    has_agreed: bool = False


def viewer(call: Call) -> Account | None:
    """The person who uses this browser; None before they have chosen who they are."""
    session = _session(call)
    return session.user if session else None


def who_has_agreed(call: Call) -> Account | None:
    """The person who uses this browser, if the app need not ask them again; else None."""
    session = _session(call)
    return session.user if session and session.has_agreed else None


def _session(call: Call) -> Session | None:
    try:
        cookie = SimpleCookie(call.request.headers.get("Cookie", "")).get(COOKIE)
    except CookieError:
        return None
    return call.host.sessions.get(hashed(cookie.value)) if cookie else None


def begin(host: "CodeHost", user: Account, *, has_agreed: bool = False) -> dict[str, str]:
    """Sign the person in; returns the headers that set the cookie."""
    token = secrets.token_hex(16)
    host.sessions[hashed(token)] = Session(user, has_agreed)
    return {"Set-Cookie": f"{COOKIE}={token}; Path=/; HttpOnly; SameSite=Lax"}


def person(host: "CodeHost", login: str) -> Account:
    """The person with that login; else 422."""
    user = host.accounts.get(login.lower())
    if user is None or user.type != "User":
        raise ApiError(422, f"There is no person {login} here.")
    return user


def go_on_as(call: Call) -> Response:
    """Be this person, who has agreed to the app before, and go on to the Hub's own sign-in."""
    user = person(call.host, call.args["login"])
    hub = call.host.trial.hub_url if call.host.trial else ""
    target = f"{hub}/login/" if hub else "/"
    return redirect(target, headers=begin(call.host, user, has_agreed=True))


def sign_in_path(call: Call) -> str:
    """The sign-in page that returns to where this call wanted to go."""
    wanted = call.request.path + (f"?{call.request.query}" if call.request.query else "")
    return f"/login?return_to={quote(wanted, safe='')}"


def show_sign_in(call: Call) -> Response:
    """The page to choose who you are."""
    hidden = {"return_to": call.request.params.get("return_to", "/")}
    form = people_form(call.host, "/login", hidden=hidden)
    words = "There are no passwords here: anybody may be anybody."
    content = html("<h1>Who are you?</h1><p>{words}</p>{form}", words=words, form=form)
    return page("Sign in", content, call=call)


def sign_in(call: Call) -> Response:
    """Sign in as the chosen person, and return."""
    sent = call.request.fields
    target = sent.get("return_to", "/")
    user = person(call.host, sent.get("login", ""))
    headers = begin(call.host, user)
    return redirect(target if _LOCAL.fullmatch(target) else "/", headers=headers)


def people_form(
    host: "CodeHost", action: str, *, hidden: dict[str, str], last: Html = NOTHING
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
