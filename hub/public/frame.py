"""What the frame of every page needs."""

from django.conf import settings
from django.http import HttpRequest

from hub.docs.for_agents import contact_uri
from hub.public import sample
from orgs.people import opened


def frame(request: HttpRequest) -> dict[str, str | bool]:
    """A context processor: the public address of this page, the one under which to report it, whom to write to,
    with a link, and whether another site has led to it.
    """
    return {
        "page_url": settings.HUB_BASE_URL + request.path,
        "reported_url": (sample.site() or settings.HUB_BASE_URL) + request.path,
        "contact": settings.HUB_CONTACT,
        "contact_url": contact_uri(settings.HUB_CONTACT),
        "is_brought": not opened.is_ours(request),
    }
