"""Rate limits for pages that write something for visitors."""

from collections.abc import Callable
from functools import wraps

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from core import client_address, rates
from core.error_answers import page_error

View = Callable[[HttpRequest], HttpResponseBase]


ENDED = "1200/hour"  # sign-ins that ask GitHub, which answers 2,000 an hour, also those of installations


def limited(view: View, counts: Callable[[HttpRequest], bool], *, altogether: str = "") -> View:
    """Limit a view to `HUB_SIGN_IN_RATE` requests from one address that `counts` names, and ten times as many from
    one network; then it answers 429. All have the rate `altogether`, if it is given, and one network a share of it.

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
        neighbors, everybody = [network], []
        if altogether:
            key, whose = (request.path, "altogether"), client_address.network_of(request)
            everything, share = client_address.with_share(altogether, key, whose)
            neighbors, everybody = [network, share], [everything]
        try:
            rates.check_all(own, *neighbors, *everybody)
        except rates.RateLimited as error:
            of = {"from your network": neighbors, "from your address": [own]}
            full = next((words for words, limits in of.items() if rates.known_wait(*limits)), "")
            return page_error(request, rates.RateLimited(error.wait, f"sign-ins {full}".strip()))
        return view(request)

    return bounded
