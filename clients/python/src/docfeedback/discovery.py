"""The file `/.well-known/docs-feedback.json` of a page's host: it can opt out, or name its Hub."""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from pathlib import Path
from typing import Any, Dict, Optional
from urllib.parse import urljoin, urlsplit

from . import address, document, files, private_files, settings, web
from .address import Page
from .contract import message
from .errors import DocFeedbackError, OptedOut, PrivateAddress, ValidationError
from .report import PROTOCOL_VERSION

PATH = "/.well-known/docs-feedback.json"
FRESH_SECONDS = 24 * 60 * 60
MAX_REDIRECTS = 3
REDIRECTS = (301, 302, 303, 307, 308)
MAX_BYTES = 64 * 1024
SHARE_OF_TIME = 0.3  # of the time for the whole report: a silent doc host must not eat it up

Listing = Dict[str, Any]


def look_up(
    page: Page, *, seconds: float, allow_private: bool, way: web.Way = web.DIRECT
) -> Listing:
    """The host's document, `{}` if it has none or cannot be reached.

    Cached on disk for 24 hours, unless the network failed; with `allow_private` or another transport not at
    all, since others believe of what is cached that its host is public. Raises PrivateAddress if the host's
    name resolves to a private address, or did not resolve in time.
    """
    listing, url = cached(page), page._replace(rest=PATH).ascii_url()
    if listing is not None or url is None:
        return listing or {}
    try:
        listing = _fetch(url, time.monotonic() + seconds * SHARE_OF_TIME, allow_private, way)
    except web.Failed:
        return {}
    except web.NotPublic as error:
        if error.host != urlsplit(url).hostname:  # a redirect led there, and is not followed
            return {}
        sentence = message(error.code, host=page.host)
        raise PrivateAddress("private_address", sentence) from None
    if way.is_ours and not allow_private:
        _keep(page, listing)
    return listing


def refuse_opted_out(page: Page, listing: Listing) -> None:
    """Raise OptedOut if the host's document says `"opt_in": false`."""
    if listing.get("opt_in") is False:
        since = listing.get("since")
        fields = {"since": since} if isinstance(since, str) else {}
        raise OptedOut("opted_out", message("opted_out", host=page.host), fields=fields)


def endpoint(page: Page, listing: Listing, *, allow_private: bool) -> Optional[str]:
    """The full URL that accepts reports about the page, if its host names a public one.

    Raises ValidationError if nobody could judge it.
    """
    url, domains = listing.get("endpoint"), listing.get("doc_domains")
    speaks_ours = listing.get("protocol_version") == PROTOCOL_VERSION
    if not speaks_ours or listing.get("opt_in") is not True or not isinstance(url, str):
        return None
    if isinstance(domains, list) and address.ascii_host(page.host) not in {
        address.ascii_host(domain) for domain in domains if isinstance(domain, str)
    }:
        return None
    place = _place(url, allow_private)
    if place is None:
        return None
    full = place if place.rest.strip("/") else place._replace(rest=settings.REPORTS)
    ascii_url = full.ascii_url()
    return ascii_url and settings.check_endpoint(ascii_url)


def cached(page: Page) -> Optional[Listing]:
    """The document that was cached less than 24 hours ago, or None.

    Nor what others can write: it names who gets the reports.
    """
    try:
        kept = document.parse(private_files.read(_cache_file(page)) or b"")
        fresh = 0 <= time.time() - kept["fetched_at"] < FRESH_SECONDS
        return document.an_object(kept["document"]) if fresh else None
    except (files.Unusable, private_files.Exposed, document.NoDocument, ValidationError):
        return None
    except (TypeError, KeyError):
        return None


def _fetch(url: Optional[str], deadline: float, allow_private: bool, way: web.Way) -> Listing:
    """The document, or Failed, or NotPublic."""
    for _ in range(1 + MAX_REDIRECTS):
        if url is None:
            break
        request = web.Request("GET", url, web.ACCEPT, public_only=not allow_private)
        answer = way.exchange(request, deadline - time.monotonic())
        if answer.status not in REDIRECTS:
            return _document(answer)
        url = _target(url, answer.headers.get("Location", ""), allow_private)
    raise web.Failed("broken")


def _document(answer: web.Answer) -> Listing:
    """The document in a response. Raises Failed if the response does not tell."""
    if answer.status >= 500 or answer.status == 429:
        raise web.Failed("broken")
    says = answer.json() if answer.status == 200 and len(answer.body) <= MAX_BYTES else None
    return document.an_object(says) or {}


def _target(url: str, location: str, allow_private: bool) -> Optional[str]:
    """Where a redirect leads; None if it must not be followed."""
    try:
        place = _place(urljoin(url, location), allow_private)
    except ValueError:  # no URL at all, such as `https://[x`
        return None
    return place.ascii_url() if place else None


def _place(url: str, allow_private: bool) -> Optional[Page]:
    """The parsed address; None if it must not be requested."""
    try:
        return address.check(url, allow_private)
    except DocFeedbackError:
        return None


def _keep(page: Page, listing: Listing) -> None:
    """Cache the document, if the cache can be written."""
    kept = {"fetched_at": int(time.time()), "document": listing}
    with contextlib.suppress(files.Unusable, ValidationError):
        private_files.keep(_cache_file(page), json.dumps(kept).encode())


def _cache_file(page: Page) -> Path:
    """The file for this host. Raises Unusable if another user can say where it is."""
    folder = settings.cache_folder()
    path = folder / "well-known" / f"{hashlib.sha256(page.origin.encode()).hexdigest()[:32]}.json"
    private_files.refuse_other_users(path, folder)
    return path
