"""One spelling for each page, so that a no is remembered whatever way the page is written next.

The steps of the Hub's canonical URL. It is only compared, never sent.
"""

import re
from urllib.parse import quote

from docfeedback.address import Page

DEFAULT_PORTS = {"http": 80, "https": 443}
ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})?")
UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")
KEPT = "%/?:@!$&'()*+,;="
TRACKING = re.compile(r"(?:utm_[^=]*|mc_[^=]*|gclid|fbclid|ref|ref_src|ref_url)(?:=.*)?", re.DOTALL)


def page(doc_url: str, place: Page | None) -> str:
    """The canonical form of `doc_url`, whose parsed address is `place`; None: a path."""
    if place is None:
        return doc_url.partition("#")[0]
    path, _, query = place.rest.partition("?")
    return f"{place.scheme}://{_authority(place)}{_resolved(path)}{_without_tracking(query)}"


def _authority(place: Page) -> str:
    try:
        host = place.host.encode("idna").decode()
    except UnicodeError:
        host = place.host
    default = place.port in (None, DEFAULT_PORTS[place.scheme])
    return host if default else f"{host}:{place.port}"


def _resolved(path: str) -> str:
    """Without dot segments, and without slashes at its end."""
    segments: list[str] = []
    for segment in _escaped(path).split("/")[1:]:
        if segment == "..":
            del segments[-1:]
        elif segment != ".":
            segments.append(segment)
    return "/" + "/".join(segments).rstrip("/")


def _without_tracking(query: str) -> str:
    parts = _escaped(query).split("&")
    kept = "&".join(part for part in parts if not TRACKING.fullmatch(part))
    return f"?{kept}" if kept else ""


def _escaped(text: str) -> str:
    """In one way of escaping: unreserved characters never, others in upper case."""
    return quote(ESCAPE.sub(_escape, text), safe=KEPT)


def _escape(escape: re.Match[str]) -> str:
    if escape[1] is None:
        return "%25"
    character = chr(int(escape[1], 16))
    return character if UNRESERVED.fullmatch(character) else escape[0].upper()
