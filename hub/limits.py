"""Rate limits for pages that write something for visitors."""

from collections.abc import Callable
from functools import wraps

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from core import client_address, rates
from core.error_answers import BadRequest, page_error

WHOLE = "document"  # what the window itself shows

View = Callable[[HttpRequest], HttpResponseBase]


def limited(view: View, *, only: str = "") -> View:
    """Limit a view to `HUB_SIGN_IN_RATE` requests from one address, or those of this method; then it answers 429.

    What a browser asks for as a part of another page, such as a picture, is refused and not counted: any page
    could use up the sign-ins of those who look at it.
    """

    @wraps(view)
    def bounded(request: HttpRequest) -> HttpResponseBase:
        if request.headers.get("Sec-Fetch-Dest", WHOLE) != WHOLE:
            return page_error(request, BadRequest("This is a page: it is no part of another one."))
        if only not in ("", request.method):  # it does nothing
            return view(request)
        each = client_address.limits(request, settings.HUB_SIGN_IN_RATE, request.path)
        try:
            rates.check_all(*each, what="sign-ins from your address")
        except rates.RateLimited as error:
            return page_error(request, error)
        return view(request)

    return bounded
