"""What a remote of git says about where its repository can be read in a browser."""

from __future__ import annotations

import re
from typing import Optional

from . import settings
from .address import Refused, parse
from .errors import ValidationError

OWNER_AND_NAME = r"([A-Za-z0-9][A-Za-z0-9_-]{0,99})/([A-Za-z0-9._-]{1,100})/*"
USER_INFO = r"(?:[^\x00-\x20/?#@\\\x7f-\U0010ffff]*@)?"
URL = re.compile(
    rf"(https?|ssh|git|git\+ssh|ssh\+git)://{USER_INFO}([A-Za-z0-9.-]+)(?::([0-9]{{1,5}}))?/+{OWNER_AND_NAME}",
    re.ASCII | re.IGNORECASE,
)
SCP = re.compile(rf"(?:[A-Za-z0-9._-]+@)?([A-Za-z0-9.-]+):/*{OWNER_AND_NAME}", re.ASCII)
PORTS = {"http": "80", "https": "443"}
SAME_HOST = {"ssh.github.com": "github.com", "www.github.com": "github.com"}
GITHUB = re.compile(r"github\.com|[a-z0-9-]+\.ghe\.com")
ON_GITHUB = re.compile(rf"https://(?:{GITHUB.pattern}):443")
RAW = "raw.githubusercontent.com"
IN_A_REPOSITORY = re.compile(r"/[^/?#]+/[^/?#]")


def repository(url: str) -> Optional[str]:
    """The address of the repository, without user info; None unless its host is one of GitHub's or ours."""
    scheme, host, port, owner, name = "ssh", "", None, "", ""
    if match := URL.fullmatch(url):
        scheme, host, port, owner, name = match.groups()
    elif match := SCP.fullmatch(url):
        host, owner, name = match.groups()
    name = name[:-4] if name.endswith(".git") else name
    origin = _origin(scheme.lower(), host.lower(), port)
    if origin is None or name in ("", ".", "..") or name.endswith(".wiki"):
        return None
    return f"{origin}/{owner}/{name}"


def is_page(doc_url: str) -> bool:
    """Whether the address of a page is in a repository, on GitHub or on the code host that is set."""
    try:
        page = parse(doc_url)
        if page is None or not IN_A_REPOSITORY.match(page.rest):
            return False
        if GITHUB.fullmatch(page.host) or page.host in (RAW, *SAME_HOST):
            return True
        own = settings.code_host()
    except (Refused, ValidationError):  # nothing that a report needed, which has been sent by now
        return False
    return own is not None and own.host == page.host.removeprefix("raw.")


def is_on_code_host(url: str) -> bool:
    """Whether an http or https URL is on GitHub, or on the code host that is set."""
    origin = settings.origin(url) or ""
    if ON_GITHUB.fullmatch(origin):
        return True
    try:
        own = settings.code_host()
    except ValidationError:  # nothing that a report needed, which has been sent by now
        return False
    return own is not None and settings.origin(own.origin) == origin


def _origin(scheme: str, host: str, port: Optional[str]) -> Optional[str]:
    """Scheme and host of the repository's pages. Only over HTTP has the port of the remote to be theirs."""
    host = SAME_HOST.get(host, host)
    port = (port or PORTS[scheme]) if scheme in PORTS else None
    if GITHUB.fullmatch(host):
        return f"https://{host}" if port in (None, PORTS.get(scheme)) else None
    own = settings.code_host()
    if own is None or own.host != host:
        return None
    return own.origin if port in (None, str(own.port or PORTS[own.scheme])) else None
