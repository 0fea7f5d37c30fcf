"""GitHub's paging: `per_page` and `page`, and the `Link` header.

https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api
"""

from typing import TypeVar
from urllib.parse import urlencode

from .calls import Call

T = TypeVar("T")
DEFAULT, MOST = 30, 100


def page_of(items: list[T], call: Call, *, path: str = "") -> tuple[list[T], dict[str, str]]:
    """One page of the items, and its headers. `path` replaces the request's in the links."""
    params = call.request.params
    per_page = min(_number(params.get("per_page"), DEFAULT), MOST)
    page = _number(params.get("page"), 1)
    last = max(1, -(-len(items) // per_page))
    links: dict[str, int] = {}
    if page > 1:
        links |= {"prev": min(page - 1, last)}
    if page < last:
        links |= {"next": page + 1, "last": last}
    if page > 1:
        links |= {"first": 1}
    base = call.host.url + (path or call.request.path)
    link = ", ".join(
        f'<{base}?{urlencode({**params, "page": number})}>; rel="{rel}"'
        for rel, number in links.items()
    )
    start = (page - 1) * per_page
    return items[start : start + per_page], {"Link": link} if link else {}


def _number(text: str | None, default: int) -> int:
    """A number from 1 with at most nine digits; anything else is the default, like on GitHub."""
    plain = text and text.isascii() and text.isdigit() and len(text) < 10
    return (int(text) if text and plain else 0) or default
