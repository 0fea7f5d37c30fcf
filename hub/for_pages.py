"""Public calls pass what is for pages: they have no session, user, form, message or script.

In `MIDDLEWARE`, what stands between `begin` and `end` is for pages.
"""

from collections.abc import Callable
from threading import local

from django.http import HttpRequest
from django.http.response import HttpResponseBase

PUBLIC = ("/v1/reports", "/v1/pages")  # and the receipts below

GetResponse = Callable[[HttpRequest], HttpResponseBase]


class _Chain(local):
    """Of the handler that this thread prepares: what follows each `end`. Django prepares it from its end."""

    def __init__(self) -> None:
        self.behind: list[GetResponse] = []


_chain = _Chain()


def begin(get_response: GetResponse) -> GetResponse:
    """Middleware: what follows, up to the next `end`, is for pages only."""
    behind = _chain.behind.pop()

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if request.path.startswith(PUBLIC):
            return behind(request)
        return get_response(request)

    return middleware


def end(get_response: GetResponse) -> GetResponse:
    """Middleware: what follows is for public calls as well."""
    _chain.behind.append(get_response)
    return get_response
