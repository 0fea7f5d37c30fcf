"""The app that somebody has just registered from a manifest, with its secrets.

https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar
from urllib.parse import quote

from integrations.github_api.answers import GitHubAnswer, making_sense, raise_for_limit
from integrations.github_api.errors import BadCode, Unreachable
from integrations.github_api.transport import ask, bounded_by

T = TypeVar("T")


@dataclass(frozen=True)
class RegisteredApp:
    """An app as GitHub tells it once; `owner` is a login, `private_key` is PEM."""

    id: int
    slug: str
    owner: str
    url: str
    client_id: str
    client_secret: str = field(repr=False)
    webhook_secret: str = field(repr=False)
    private_key: str = field(repr=False)


def registered_app(code: str, *, deadline: float) -> RegisteredApp:
    """The app that this code stands for. GitHub tells it once, within an hour. Raises `BadCode`."""
    with making_sense():
        return _app(bounded_by(partial(_convert, code), deadline=deadline).body)


def _convert(code: str) -> GitHubAnswer:
    answer = ask(None, "POST", f"/app-manifests/{quote(code, safe='')}/conversions")
    if answer.status == 201:
        return answer
    raise_for_limit(answer)
    if answer.status in (404, 422):
        raise BadCode(
            "GitHub does not accept the code: it was used before, or is over an hour old."
        )
    raise Unreachable(f"GitHub answered {answer.status} when asked for the app's keys.")


def _app(body: Mapping[str, Any]) -> RegisteredApp:
    owner = body.get("owner") or {}
    return RegisteredApp(
        id=_told(body["id"], int),
        slug=_told(body["slug"], str),
        owner=str(owner.get("login") or owner.get("slug") or ""),
        url=str(body.get("html_url") or ""),
        client_id=_told(body["client_id"], str),
        client_secret=_told(body["client_secret"], str),
        webhook_secret=str(body.get("webhook_secret") or ""),  # the app exists without it, too
        private_key=_told(body["pem"], str),
    )


def _told(value: T, kind: type[T]) -> T:
    if not isinstance(value, kind) or not value:
        raise TypeError(f"not of the kind {kind}")
    return value
