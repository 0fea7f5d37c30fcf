"""A rate limit for pages that cost much more than they cost who asks."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from core import client_address, rates
from core.error_answers import page_error

RATE = "120/minute"  # from one address, of each kind of page

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]


def limited(what: str) -> Callable[[View[P]], View[P]]:
    """Limit a view to `RATE` requests from one address; then it answers 429: too many `what`."""

    def limit(view: View[P]) -> View[P]:
        @wraps(view)
        def bounded(request: HttpRequest, *args: P.args, **named: P.kwargs) -> HttpResponseBase:
            try:
                rates.check_locally(
                    *client_address.limits(request, RATE, what), what=f"{what} from your address"
                )
            except rates.RateLimited as error:
                return page_error(request, error)
            return view(request, *args, **named)

        return bounded

    return limit
