"""Rate limits for pages that write something for visitors."""

import math
from collections.abc import Callable
from functools import wraps
from itertools import chain

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from core import client_address, rates
from core.error_answers import page_error

View = Callable[[HttpRequest], HttpResponseBase]


SIGN_INS_ENDED = (
    "1200/hour"  # they ask GitHub, which answers 2,000 an hour, also those of installations
)


def limited(
    view: View,
    counts: Callable[[HttpRequest], bool],
    *,
    altogether: str = "",
    refusals: Callable[[HttpRequest], list[rates.Limit]] | None = None,
) -> View:
    """Limit a view to `HUB_SIGN_IN_RATE` requests from one address that `counts` names, and ten times as many from
    one network; then it answers 429. All have the rate `altogether`, if it is given, and one network a share of it.
    Once one of `refusals`, which the view counts, has no room, the view is not asked, either.

    What other sites can have the browsers of those who look at them ask for must not be among them: it would
    use up their sign-ins.
    """

    @wraps(view)
    def bounded(request: HttpRequest) -> HttpResponseBase:
        if not counts(request):
            return view(request)
        if refusals and (wait := rates.known_wait(*refusals(request))):
            what = "refused sign-ins from your network"
            return page_error(request, rates.RateLimited(math.ceil(wait), what))
        limits = _limits(request, altogether)
        try:
            rates.check_all(*chain(*limits.values()))
        except rates.RateLimited as error:
            whose = next((each for each in limits if rates.known_wait(*limits[each])), "")
            return page_error(request, rates.RateLimited(error.wait, f"sign-ins{whose}"))
        return view(request)

    return bounded


def _limits(request: HttpRequest, altogether: str) -> dict[str, list[rates.Limit]]:
    """By the words that say whose they are."""
    network, own = client_address.limits_with_neighbors(
        request, settings.HUB_SIGN_IN_RATE, request.path
    )
    limits = {" from your network": [network], " from your address": [own]}
    if altogether:
        key, whose = (request.path, "altogether"), client_address.network_of(request)
        everything, share = client_address.with_share(altogether, key, whose)
        limits[" from your network"].append(share)
        limits[""] = [everything]
    return limits
