"""The manifest, the Hub and its docs say the same of the app."""

import re

import pytest

from hub.registering import manifest
from hub.registering.manifest import Wish
from integrations.github_sync import webhooks
from tests.hub_process import ROOT

PAGE = ROOT / "docs/v0/how-to/set-up-the-github-app.md"
ALWAYS_SENT = {"installation", "installation_repositories"}


def table(first: str) -> dict[str, str]:
    """The table of the page whose first column has this head."""
    rows = re.search(rf"^\| {first} \|.*\n\|---.*\n((?:\|.*\n)+)", PAGE.read_text(), re.MULTILINE)[
        1
    ]
    return dict(row.strip("| ").split(" | ") for row in rows.splitlines())


def test_the_docs_say_by_hand_what_the_manifest_says(settings):
    settings.HUB_BASE_URL = "https://hub.example.com"
    asked = manifest.manifest(Wish("Acme Docs Feedback"), redirect_url="x")
    first, second = asked["callback_urls"]

    by_hand = table("Field")

    assert by_hand["Homepage URL"] == f"`{asked['url']}`"
    assert by_hand["Callback URL, the first"] == f"`{first}`"
    assert by_hand["Callback URL, the second (*Add Callback URL*)"] == f"`{second}`"
    assert asked["request_oauth_on_install"] is True
    assert by_hand["Request user authorization (OAuth) during installation"] == "on"
    assert "setup_url" not in asked
    assert by_hand["Setup URL"] == "empty"
    assert asked["hook_attributes"] == {"url": by_hand["Webhook URL"].strip("`"), "active": True}
    assert by_hand["Webhook, Active"] == "on"
    assert asked["default_permissions"] == {"issues": "write", "metadata": "read"}
    assert by_hand["Repository permissions, Issues"] == manifest.LEVELS["write"]
    assert "*Metadata: read-only* is added by GitHub" in PAGE.read_text()
    assert by_hand["Subscribe to events"] == ", ".join(manifest.EVENTS.values())
    assert asked["default_events"] == list(manifest.EVENTS)
    assert asked["public"] is True
    assert by_hand["Where can this GitHub App be installed?"].startswith("*Any account*")


def test_every_event_that_is_used_is_asked_for():
    used = {event for event, _ in webhooks.ACTIONS}

    assert used - ALWAYS_SENT == set(manifest.EVENTS)


@pytest.mark.parametrize(
    ("base", "name"),
    [
        ("https://hub.example.com", "Docs feedback hub.example.com"),
        ("http://localhost:8000", "Docs feedback localhost"),
        ("https://docs-feedback.engineering.example.com", "Docs feedback docs-feedback.engine"),
        ("https://docs-feedback-for.example.com", "Docs feedback docs-feedback-for.ex"),
        ("https://feedback.engineering.example.com", "Docs feedback feedback.engineering"),
    ],
)
def test_an_app_has_a_name_that_github_takes(settings, base, name):
    settings.HUB_BASE_URL = base

    assert manifest.default_name() == name
    assert len(name) <= manifest.LONGEST_NAME


@pytest.mark.parametrize(
    ("code_host", "organization", "url"),
    [
        ("https://github.com", "", "https://github.com/settings/apps/new?state=a%26b"),
        (
            "https://github.example.com",
            "acme",
            "https://github.example.com/organizations/acme/settings/apps/new?state=a%26b",
        ),
    ],
)
def test_the_form_goes_to_the_owners_page(settings, code_host, organization, url):
    settings.HUB_GITHUB_URL = code_host

    assert manifest.form_url(Wish("x", organization), state="a&b") == url
