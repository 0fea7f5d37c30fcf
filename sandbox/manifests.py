"""Creating an app from a manifest: a page asks, the app is created, and its keys are told once.

https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
As on GitHub the manifest may be sent from any site. The sandbox holds one app: a new one takes the
place of the one there was.
"""

import json
import re
import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from . import github_json
from .calls import Call
from .credentials import hashed
from .layout import Html, html, page
from .messages import ApiError, Response, json_response, not_found, redirect
from .oauth import origin, with_query
from .records import Account, App, no_app
from .sessions import begin, people_form, person, sign_in_path, viewer

CODE_LIFETIME = timedelta(hours=1)
LONGEST_NAME = 34
LEVELS = {"issues": ("read", "write"), "metadata": ("read",)}  # what it knows of
EVENTS = {"issues": "issues", "repository": "metadata", "installation_target": "metadata"}
URL = re.compile(r"https?://[!-~]+")

Json = dict[str, Any]


@dataclass(frozen=True)
class Unfetched:
    """An app whose keys were not told yet."""

    code_hash: str
    app: App
    pem: str = field(repr=False)
    until: datetime


def show_manifest(call: Call) -> Response:
    """`POST /settings/apps/new`: ask whether to create this app, and under which name."""
    sent = call.request.fields
    manifest = _manifest(sent)
    user, cookie = viewer(call), {}
    if login := sent.get("login"):
        user = person(call.host, login)
        cookie = begin(call.host, user)
    if user is None:
        return _who_are_you(call, sent)
    owner = _owner(call, user)
    content = html(
        """<h1>Create GitHub App for {owner}</h1>
<p>It may read and write: {permissions}. It hears of: {events}. Its webhooks go to {hook}.</p>
<form method="post" action="{action}">
<input type="hidden" name="manifest" value="{manifest}">
<input type="hidden" name="state" value="{state}">
<label>GitHub App name <input name="name" value="{name}" maxlength="{longest}"></label>
<button>Create GitHub App</button></form>""",
        owner=owner.login,
        permissions=_in_words(manifest["default_permissions"]),
        events=", ".join(manifest["default_events"]),
        hook=manifest["hook_attributes"]["url"],
        action=call.request.path.removesuffix("/new"),
        manifest=sent["manifest"],
        state=call.request.params.get("state", ""),
        name=manifest.get("name", ""),
        longest=LONGEST_NAME,
    )
    to = origin(manifest["redirect_url"])
    response = page("Create GitHub App", content, call=call, forms_lead_to=to)
    return Response(response.status, response.body, response.headers | cookie)


def _who_are_you(call: Call, sent: dict[str, str]) -> Response:
    action = f"{call.request.path}?{call.request.query}"
    hidden = {"manifest": sent["manifest"]}
    form = people_form(call.host, action, hidden=hidden)
    return page("Sign in", html("<h1>Who are you?</h1>{form}", form=form), call=call)


def create(call: Call) -> Response:
    """`POST /settings/apps`: create the app, and return with a code for its keys."""
    sent, user = call.request.fields, viewer(call)
    if user is None:
        return redirect(sign_in_path(call))
    manifest = _manifest(sent)
    app, pem = _new_app(call, manifest, name=sent.get("name", ""), owner=_owner(call, user))
    code = secrets.token_hex(20)
    until = call.host.now() + CODE_LIFETIME
    call.host.register(app)
    call.host.unfetched = Unfetched(hashed(code), app, pem, until)
    state = sent.get("state") or None
    return redirect(with_query(manifest["redirect_url"], code=code, state=state))


def _new_app(call: Call, manifest: Json, *, name: str, owner: Account) -> tuple[App, str]:
    slug = re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")
    if not slug or len(name) > LONGEST_NAME:
        raise _invalid(f"Name must be 1 to {LONGEST_NAME} characters")
    if slug == call.host.app.slug:
        raise _invalid("Name has already been taken")
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    app = App(
        id=call.host.new_app_id(),
        slug=slug,
        client_id=f"Iv23{secrets.token_hex(8)}",
        client_secret=secrets.token_hex(20),
        webhook_secret=secrets.token_hex(20),
        public_key_pem=_public(key.public_key()),
        callback_urls=list(manifest["callback_urls"]),
        setup_url=manifest.get("setup_url", ""),
        webhook_url=manifest["hook_attributes"]["url"],
        asks_for_code=manifest.get("request_oauth_on_install", False),
        permissions={"metadata": "read", **manifest["default_permissions"]},
        events=tuple(manifest["default_events"]),
        name=name,
        owner=owner.login,
        public=manifest.get("public", False),
    )
    return app, _private(key)


def _public(key: rsa.RSAPublicKey) -> str:
    kind = serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_bytes(serialization.Encoding.PEM, kind).decode()


def _private(key: rsa.RSAPrivateKey) -> str:
    """PEM as GitHub gives it."""
    kind = serialization.PrivateFormat.TraditionalOpenSSL
    plain = serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, kind, plain).decode()


def convert(call: Call) -> Response:
    """`POST /app-manifests/{code}/conversions`: the app with its keys, once."""
    waiting = call.host.unfetched
    if waiting is None or waiting.code_hash != hashed(call.args["code"]):
        raise not_found()
    if waiting.until <= call.host.now() or waiting.app is not call.host.app:
        raise not_found()
    call.host.unfetched = None
    keys = {
        "client_secret": waiting.app.client_secret,
        "webhook_secret": waiting.app.webhook_secret,
        "pem": waiting.pem,
    }
    return json_response(github_json.app(call.host) | keys, status=201)


def show_apps(call: Call) -> Response:
    """`GET /settings/apps`: the app, and a button to delete it."""
    user = viewer(call)
    if user is None:
        return redirect(sign_in_path(call))
    app, owner = call.host.app, _owner(call, user)
    content = Html("<h1>GitHub Apps</h1><p>There is none.</p>")
    if app.owner == owner.login:
        content = html(
            '<h1>GitHub Apps</h1><form method="post" action="{path}/delete">'
            "<p>{name} <button>Delete</button></p></form>",
            path=call.request.path,
            name=app.name,
        )
    return page("GitHub Apps", content, call=call)


def delete(call: Call) -> Response:
    """`POST /settings/apps/delete`: delete the app."""
    user = viewer(call)
    if user is None or call.host.app.owner != _owner(call, user).login:
        raise not_found()
    call.host.register(no_app())
    return redirect(call.request.path.removesuffix("/delete"))


def _owner(call: Call, user: Account) -> Account:
    """The organization of the path, whose owner the person must be; without one, the person."""
    login = call.args.get("organization")
    if not login:
        return user
    found = call.host.accounts.get(login.lower())
    if found is None or found.members.get(user.login.lower()) != "admin":
        raise not_found()
    return found


def _manifest(sent: dict[str, str]) -> Json:
    """The manifest, checked as far as the sandbox knows GitHub's rules."""
    try:
        manifest = json.loads(sent.get("manifest", ""))
    except (ValueError, RecursionError):
        raise _invalid("the manifest is not JSON") from None
    if not isinstance(manifest, dict):
        raise _invalid("the manifest is not an object")
    for name in ("url", "redirect_url"):
        _check_url(name, manifest.get(name))
    hook = manifest.get("hook_attributes")
    _check_url("url", hook.get("url") if isinstance(hook, dict) else None)
    for each in _of_kind(list, manifest, "callback_urls"):
        _check_url("callback_urls", each)
    permissions = _of_kind(dict, manifest, "default_permissions")
    for name, level in permissions.items():
        if level not in LEVELS.get(name, ()):
            raise _invalid(
                f"Default permission records resource is not included in the list: {name}"
            )
    for event in _of_kind(list, manifest, "default_events"):
        if event not in EVENTS:
            raise _invalid(f"Default events unsupported: {event}")
        if EVENTS[event] not in {"metadata", *permissions}:
            raise _invalid(f"Default events are not supported by permissions: {event}")
    return manifest


def _of_kind(kind: type, manifest: Json, name: str) -> Any:
    value = manifest.setdefault(name, kind())
    if not isinstance(value, kind):
        raise _invalid(f"{name} is not valid")
    return value


def _check_url(name: str, value: Any) -> None:
    if not isinstance(value, str) or not URL.fullmatch(value):
        raise _invalid(f'"{name}" wasn\'t supplied.')


def _invalid(why: str) -> ApiError:
    return ApiError(422, f"Invalid GitHub App configuration. Error: {why}")


def _in_words(permissions: dict[str, str]) -> str:
    return ", ".join(f"{name} ({level})" for name, level in permissions.items())
