"""What the frame of every page needs."""

from django.conf import settings
from django.http import HttpRequest


def frame(request: HttpRequest) -> dict[str, str]:
    """A context processor: the public address of this page, and whom to write to, with a link."""
    return {
        "page_url": settings.HUB_BASE_URL + request.path,
        "contact": settings.HUB_CONTACT,
        "contact_url": contact_url(),
    }


def contact_url() -> str:
    """`HUB_CONTACT` as a link; empty where it is not set."""
    contact = settings.HUB_CONTACT
    return contact if not contact or contact.startswith("https://") else f"mailto:{contact}"
