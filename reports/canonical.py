"""One spelling for each page, so that two reports about it are recognized as being about one page."""

import re
from typing import NamedTuple
from urllib.parse import quote, unquote

from django.conf import settings

from orgs import repository_pages
from orgs.domains import hosts

MAX_PORT = 65535
DEFAULT_PORTS = {"http": 80, "https": 443}

FORBIDDEN = re.compile(r"[\s\x00-\x1f\x7f-\x9f\\\ud800-\udfff]")
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
WEB_URL = re.compile(
    r"(https?)://([^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#.*)?", re.ASCII | re.IGNORECASE
)
AUTHORITY = re.compile(r"(\[[^\]]*\]|[^:]*)(?::([0-9]*))?")
ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})?")
UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")
KEPT = (
    "%/?:@!$&'()*+,;="  # with the unreserved characters, all that RFC 3986 has in a path or query
)
TRACKING = re.compile(r"utm_.*|mc_.*|gclid|fbclid|ref|ref_src|ref_url")


class InvalidURL(ValueError):
    """Not the address of a page. The message is a sentence for the sender."""


class Address(NamedTuple):
    """A page's address: as sent, in its canonical form, and its host (None if it is a path)."""

    text: str
    url: str
    host: str | None


def url(text: str) -> str:
    """The canonical form of a page's address. Raises `InvalidURL`."""
    return address(text).url


def address(text: str) -> Address:
    """The page's address in `text`: an http(s) URL, or a path such as docs/install.md.

    Of the pages of a repository on the code host, those that show the same have one form
    (`orgs.repository_pages`); everything else is as `as_written` has it. Raises `InvalidURL`.
    """
    found = as_written(text)
    page = found.host and repository_pages.read(found.url, code_host=settings.HUB_GITHUB_URL)
    return Address(text, page.canonical, page.code_host.host) if page else found


def as_written(text: str) -> Address:
    """The address without what we know of the code host.

    A path (no scheme, not beginning with `//`) only loses its fragment. A URL becomes ASCII as
    RFC 3986 says: the host normalized, no default port, fragment or tracking parameters, dot segments
    resolved, no slashes at the end of the path unless it is `/`, one way of escaping. A `%` that does
    not begin an escape is escaped, so nothing is lost. Idempotent. Raises `InvalidURL`.
    """
    _refuse_what_no_address_has(text)
    return _web_address(text) if SCHEME.match(text) else Address(text, _path(text), None)


def _refuse_what_no_address_has(text: str) -> None:
    if not text:
        raise InvalidURL("Must be the URL or path of a page.")
    if FORBIDDEN.search(text):
        raise InvalidURL("Must not contain backslashes, spaces or control characters.")


def _path(text: str) -> str:
    path = text.partition("#")[0]
    if not path:
        raise InvalidURL("Must be a path such as docs/install.md.")
    if path.startswith("//"):
        raise InvalidURL("Must have a scheme, such as https://docs.example.com/install.")
    return path


def _web_address(text: str) -> Address:
    parts = WEB_URL.fullmatch(text)
    if not parts:
        raise InvalidURL("Must begin with https:// or http://, or be a path.")
    scheme, authority, path, query = parts.groups("")
    scheme = scheme.lower()
    host, port = _authority(authority, scheme)
    url = f"{scheme}://{host}{port}{resolved(path)}{_without_tracking(query)}"
    return Address(text, url, host.strip("[]"))


def _authority(text: str, scheme: str) -> tuple[str, str]:
    """The host, and the port with its colon unless it is the scheme's default."""
    if "@" in text:
        raise InvalidURL("Must not contain a user name or password.")
    parts = AUTHORITY.fullmatch(text)
    port = (parts[2] or "").lstrip("0") if parts else ""
    if not parts or len(port) > len(str(MAX_PORT)) or int(port or 0) > MAX_PORT:
        raise InvalidURL("Must have a valid host and port.")
    try:
        host = hosts.normalize(unquote(parts[1], errors="strict"))
    except ValueError:
        raise InvalidURL("Must have a valid host name.") from None
    if not parts[2] or int(port or 0) == DEFAULT_PORTS[scheme]:
        return host, ""
    return host, f":{port or 0}"


def resolved(path: str) -> str:
    """The path without dot segments and without slashes at its end.

    All of those slashes go: if only one went, the canonical form of `/a//` would not be canonical.
    """
    segments: list[str] = []
    for segment in _escaped(path).split("/")[1:]:
        if segment == "..":
            segments[-1:] = []
        elif segment != ".":
            segments.append(segment)
    return "/" + "/".join(segments).rstrip("/")


def _without_tracking(query: str) -> str:
    """The query with its `?`, or nothing. Parameters are separated by `&` only; their order is kept."""
    parameters = _escaped(query).split("&")
    kept = "&".join(p for p in parameters if not TRACKING.fullmatch(p.partition("=")[0]))
    return f"?{kept}" if kept else ""


def _escaped(text: str) -> str:
    """`text` escaped in one way, as UTF-8 (WHATWG); unreserved characters are never escaped."""
    return quote(ESCAPE.sub(_escape, text), safe=KEPT)


def _escape(match: re.Match[str]) -> str:
    if match[1] is None:
        return "%25"
    character = chr(int(match[1], 16))
    return character if UNRESERVED.fullmatch(character) else match[0].upper()
