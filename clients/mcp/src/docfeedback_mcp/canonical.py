"""One spelling for each page, so that a no is remembered whatever way the page is written next.

It is only compared, never sent, and takes several pages for one rather than one for several: it
knows no scheme, port, query or fragment, and no case.
"""

import re
import unicodedata
from urllib.parse import unquote

from docfeedback.address import Page


def page(doc_url: str, place: Page | None) -> str:
    """The one spelling of `doc_url`, whose parsed address is `place`; None: a path."""
    path = _resolved(place.rest if place else doc_url)
    return f"{_host(place) if place else ''}/{path}"


def _host(place: Page) -> str:
    """As it is looked up, where it can be: a name in Unicode and its punycode are one."""
    bare = place._replace(scheme="https", port=None, rest="")
    return bare.ascii_url() or bare.origin


def _resolved(path: str) -> str:
    """Its segments, without escapes and without those that lead nowhere."""
    plain = unicodedata.normalize("NFKC", _unescaped(path)).casefold()
    segments: list[str] = []
    for segment in re.split(r"[?#]", plain)[0].split("/"):
        if segment == "..":
            del segments[-1:]
        elif segment not in ("", "."):
            segments.append(segment)
    return "/".join(segments)


def _unescaped(text: str) -> str:
    """However often it was escaped."""
    while (plain := unquote(text)) != text:
        text = plain
    return text
