"""Rate limits for pages that write something for visitors."""

from collections.abc import Callable
from functools import wraps

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from core import client_address, rates
from core.error_answers import page_error

View = Callable[[HttpRequest], HttpResponseBase]


def limited(view: View, counts: Callable[[HttpRequest], bool]) -> View:
    """Limit a view to `HUB_SIGN_IN_RATE` requests from one address that `counts` names, and ten times as many from
    one network; then it answers 429.

    What other sites can have the browsers of those who look at them ask for must not be among them: it would
    use up their sign-ins.
    """

    @wraps(view)
    def bounded(request: HttpRequest) -> HttpResponseBase:
        if not counts(request):
            return view(request)
        network, own = client_address.limits_with_neighbors(
            request, settings.HUB_SIGN_IN_RATE, request.path
        )
        try:
            rates.check_all(network, own, what="sign-ins from your address")
        except rates.RateLimited as error:
            if rates.known_wait(network):
                error = rates.RateLimited(error.wait, "sign-ins from your network")
            return page_error(request, error)
        return view(request)

    return bounded
