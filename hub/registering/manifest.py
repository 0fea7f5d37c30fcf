"""What the Hub's GitHub App needs, as GitHub's manifest says it: the one list of it.

https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
"""

import json
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from django.conf import settings
from django.urls import reverse

from hub.registering import credentials

PERMISSIONS = {"issues": "write", "metadata": "read"}
EVENTS = {  # besides those that GitHub sends to every app, with their names on its page
    "issues": "Issues",
    "repository": "Repository",
    "installation_target": "Installation target",
}
LEVELS = {"write": "Read and write", "read": "Read-only"}  # as GitHub's page has them
LONGEST_NAME = 34  # characters; GitHub allows no more


class Wish(NamedTuple):
    """What an operator may choose about the app; without an organization, it belongs to a person."""

    name: str
    organization: str = ""
    is_public: bool = True


def is_configured() -> bool:
    """Whether the settings have an app already, be it in part."""
    return any(getattr(settings, name) for name in credentials.NAMES)


def default_name() -> str:
    """A name that nobody else has, probably; people see it as the author of their issues."""
    host = urlsplit(settings.HUB_BASE_URL).hostname or "localhost"
    return f"Docs feedback {host}"[:LONGEST_NAME].strip(" .-")


def webhook_url() -> str:
    """Where GitHub sends the app's webhooks."""
    return settings.HUB_BASE_URL + reverse("github-webhook")


def callback_urls() -> list[str]:
    """Where GitHub sends people back to. The first is where an installation returns to."""
    return [settings.HUB_BASE_URL + reverse(name) for name in ("callback", "github_callback")]


def manifest(wish: Wish, *, redirect_url: str) -> dict[str, Any]:
    """The manifest. Without a `setup_url`, since people come back to the first callback."""
    return {
        "name": wish.name,
        "url": settings.HUB_BASE_URL,
        "hook_attributes": {"url": webhook_url(), "active": True},
        "redirect_url": redirect_url,
        "callback_urls": callback_urls(),
        "request_oauth_on_install": True,
        "public": wish.is_public,
        "default_permissions": PERMISSIONS,
        "default_events": list(EVENTS),
    }


def apps_url(wish: Wish) -> str:
    """The list of the owner's apps on the code host, where one can be deleted."""
    owner = f"/organizations/{quote(wish.organization, safe='')}" if wish.organization else ""
    return f"{settings.HUB_GITHUB_URL}{owner}/settings/apps"


def form_url(wish: Wish, *, state: str) -> str:
    """Where the form with the manifest is sent."""
    return f"{apps_url(wish)}/new?state={quote(state, safe='')}"


def page(wish: Wish, *, redirect_url: str, state: str) -> dict[str, Any]:
    """What the page with the button shows, and what it sends."""
    asked = manifest(wish, redirect_url=redirect_url)
    return {
        "wish": wish,
        "code_host": settings.HUB_GITHUB_URL,
        "form_url": form_url(wish, state=state),
        "manifest": json.dumps(asked),
        "webhook_url": webhook_url(),
        "callback_urls": callback_urls(),
        "permissions": "; ".join(
            f"{name.capitalize()}: {LEVELS[level]}" for name, level in PERMISSIONS.items()
        ),
        "events": ", ".join(EVENTS.values()),
    }
