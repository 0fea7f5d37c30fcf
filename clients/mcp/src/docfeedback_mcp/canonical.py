"""One spelling for each page, so that a refusal is remembered however the page is written next time.

It is only compared, never sent, and rather treats several pages as one than one as several: it
ignores scheme, port, query, fragment and case.
"""

import re
import unicodedata
from urllib.parse import unquote

from docfeedback.address import Page

KINDS = ("blob", "raw", "tree")
FILE = 3  # owner, repository, kind, version: what follows is a file on a code host


def page(doc_url: str, place: Page | None) -> str:
    """The one spelling of `doc_url`, whose parsed address is `place`; None: a path."""
    path = _resolved(place.rest if place else doc_url)
    return f"{_host(place) if place else ''}/{path}"


def _host(place: Page) -> str:
    """As DNS looks it up, if possible: a name in Unicode and its punycode are the same."""
    bare = place._replace(scheme="https", port=None, rest="")
    return bare.ascii_url() or bare.origin


def _resolved(path: str) -> str:
    """Its segments, decoded and without those that lead nowhere."""
    plain = unicodedata.normalize("NFKC", _unescaped(path)).casefold()
    segments: list[str] = []
    for segment in re.split(r"[?#]", plain)[0].split("/"):
        if segment == "..":
            del segments[-1:]
        elif segment not in ("", "."):
            segments.append(segment)
    if len(segments) > FILE and segments[FILE - 1] in KINDS:
        del segments[FILE - 1 : FILE + 1]  # the same file in every version, and shown in every way
    return "/".join(segments)


def _unescaped(text: str) -> str:
    """Decoded as often as it was encoded."""
    while (plain := unquote(text)) != text:
        text = plain
    return text
