"""What a Hub says, on the command line: as it stands if it has its fixed shape, else in quotes."""

from __future__ import annotations

import re
from typing import Any, List, Optional, Pattern, Sequence, TypeVar

from . import remotes, settings
from .contract import message
from .visible import quoted

ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
TIME = re.compile(  # RFC 3339, or the day alone
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"([Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?([Zz]|[+-][0-9]{2}:[0-9]{2}))?"
)
STATE = re.compile(r"[a-z_]{1,20}")
NAME = re.compile(r"(?!.{0,99}//)[A-Za-z0-9._:=/-]{1,100}")  # no sentence, and no address
ADDRESS = re.compile(r"[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]{1,300}")  # RFC 3986
SITE = re.compile(r"https://[A-Za-z0-9-]{1,39}\.github\.io(/[A-Za-z0-9._-]{1,100})?/?")
MOST = 100  # of a list, each of which may take several lines
Item = TypeVar("Item")


def ulid(text: str) -> str:
    """The id of a report or an organization."""
    return _shown(text, ULID)


def time(text: str) -> str:
    """A time."""
    return _shown(text, TIME)


def state(text: str) -> str:
    """A state or a kind."""
    return _shown(text, STATE)


def name(text: str) -> str:
    """A name, of a person, a domain or a field."""
    return _shown(text, NAME)


def quote(text: str) -> str:
    """What has no shape, such as a title."""
    return f'"{quoted(text)}"'


def link(url: str, hub_url: Optional[str] = None) -> str:
    """The URL if it is on a code host that is known here, or on the Hub that the user names, else in quotes."""
    own = hub_url and settings.origin(hub_url)
    is_known = own == settings.origin(url) if own else remotes.is_on_code_host(url)
    return url if is_known and ADDRESS.fullmatch(url) else quote(url)


def site(url: str) -> str:
    """The URL of a site if it is on GitHub Pages, else as for `link`."""
    return url if SITE.fullmatch(url) else link(url)


def first(items: Sequence[Item]) -> Sequence[Item]:
    """Those of a list that are shown."""
    return items[:MOST]


def more(items: Sequence[Any]) -> List[str]:
    """A line with the number of those that are not, if any."""
    number = len(items) - MOST
    return [message("more_line", number=number)] if number > 0 else []


def _shown(text: str, shape: Pattern[str]) -> str:
    return text if shape.fullmatch(text) else quote(text)
