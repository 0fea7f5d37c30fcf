"""One spelling for each page, so that a refusal is remembered however the page is written next time.

It is only compared, never sent, and rather treats several pages as one than one as several: it
ignores scheme, port, query, parameters, fragment and case, and in a repository the folder of a file:
a branch may have slashes in its name, so nobody can tell where the path begins.
"""

import re
import unicodedata
from urllib.parse import unquote

from docfeedback.address import Page

KINDS = ("blame", "blob", "commits", "edit", "raw", "tree")
REPOSITORY = 2  # owner, repository: what follows is a kind, a version and a file on a code host
INDEX = re.compile(r"index\.html?")
RAW = "raw."  # hosts that leave out the kind
RAW_HOSTS = {"githubusercontent.com": "github.com"}
CODE_HOSTS = ("github.com", "gitlab.com", "bitbucket.org", "codeberg.org")  # of many owners


def page(doc_url: str, place: Page | None) -> str:
    """The one spelling of `doc_url`, whose parsed address is `place`; None: a path."""
    segments = _segments(place.rest if place else doc_url)
    if place is None:
        return "/" + "/".join(_plain(segments))
    host = _host(place)
    bare = host.removeprefix(RAW)
    if bare != host or (segments[REPOSITORY : REPOSITORY + 1] and segments[REPOSITORY] in KINDS):
        segments = segments[:REPOSITORY] + segments[REPOSITORY + 1 :][-1:]
    else:
        segments = _plain(segments)
    return f"https://{RAW_HOSTS.get(bare, bare)}/{'/'.join(segments)}"


def site(page: str) -> str:
    """What a page in its one spelling is part of: its host, or its repository; all paths are one."""
    host, *segments = page.removeprefix("https://").split("/")
    return "/".join([host, *segments[:REPOSITORY]]) if host in CODE_HOSTS else host


def _host(place: Page) -> str:
    """As DNS looks it up, if possible: a name in Unicode and its punycode are the same."""
    bare = place._replace(scheme="https", port=None, rest="")
    host = (bare.ascii_url() or bare.origin).removeprefix("https://")
    return host.removeprefix("www.")


def _plain(segments: list[str]) -> list[str]:
    """A folder and the page in it that is shown for it are the same."""
    return segments[:-1] if segments and INDEX.fullmatch(segments[-1]) else segments


def _segments(path: str) -> list[str]:
    """The segments of a path, decoded and without those that lead nowhere."""
    plain = unicodedata.normalize("NFKC", _unescaped(path)).casefold()
    segments: list[str] = []
    for segment in re.split(r"[?#]", plain)[0].split("/"):
        name = segment.split(";")[0]
        if name == "..":
            del segments[-1:]
        elif name not in ("", "."):
            segments.append(name)
    return segments


def _unescaped(text: str) -> str:
    """Decoded as often as it was encoded."""
    while (plain := unquote(text)) != text:
        text = plain
    return text
