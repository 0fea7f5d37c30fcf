"""Which links a person or a program of theirs has opened, and to which another site has sent the browser.

Browsers say it (Fetch Metadata, `Sec-Fetch-Site` and `Sec-Fetch-Dest`). For an address that was opened they say `none`
also after redirects of other sites, so a Hub cannot know these. Whoever signs in first is sent back by GitHub, so their
session remembers which page they had opened.
"""

from django.http import HttpRequest
from django.utils.crypto import constant_time_compare, salted_hmac

from core import keys

OURS = ("same-origin", "none")  # a form or link of the Hub, and an address that somebody opens
DOCUMENT = "document"  # what a window shows
KEPT = "opened"  # in the session: a keyed hash, since the address may hold a code


def is_ours(request: HttpRequest) -> bool:
    """Whether no other site has sent the browser here. Old browsers do not say."""
    return request.headers.get("Sec-Fetch-Site", OURS[0]) in OURS


def as_page(request: HttpRequest) -> bool:
    """Whether it is to be a page of its own, and not a picture or a frame of one. Old browsers do not say."""
    return request.headers.get("Sec-Fetch-Dest", DOCUMENT) == DOCUMENT


def by_person(request: HttpRequest) -> bool:
    """Whether no other site has sent the browser here, or only GitHub, after a sign-in for the same page."""
    kept = request.session.get(KEPT, "")
    return is_ours(request) or constant_time_compare(kept, _hashed(request.get_full_path()))


def remember(request: HttpRequest, path: str) -> None:
    """Keep which page somebody has opened who signs in first."""
    request.session[KEPT] = _hashed(path)


def _hashed(path: str) -> str:
    return salted_hmac("opened", path, secret=keys.lasting(), algorithm="sha256").hexdigest()
