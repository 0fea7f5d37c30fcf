"""What the Hub's GitHub App needs."""

from django.conf import settings
from django.urls import reverse

PERMISSIONS = {"issues": "write", "metadata": "read"}
EVENTS = {
    "issues": "Issues",
    "repository": "Repository",
    "installation_target": "Installation target",
}


def webhook_url() -> str:
    """Where GitHub sends the app's webhooks."""
    return settings.HUB_BASE_URL + reverse("github-webhook")


def callback_urls() -> list[str]:
    """Where GitHub sends people back to. The first is where an installation returns to."""
    return [settings.HUB_BASE_URL + reverse(name) for name in ("callback", "github_callback")]
