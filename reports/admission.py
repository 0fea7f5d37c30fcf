"""Takes a report within the limits of its sender, of its network and of the page's owner."""

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from django.conf import settings
from django.http import HttpRequest

from core import client_address, rates
from orgs.ownership import Claim, shared_name
from reports import intake
from reports.shape import ReportBody

LARGE = 8 * 1024  # bytes of body and URL; a report with an excerpt and a fix has 2 to 4 KiB
LARGE_SHARE = Fraction(1, 20)  # of the limit of one network, for large reports


class Sent(NamedTuple):
    """A well-formed report, its size in bytes, and the idempotency key beside it."""

    body: ReportBody
    size: int
    key: str | None = None


def take(request: HttpRequest, read: Callable[[], Sent]) -> intake.Receipt:
    """Accept the report that `read` finds in the request.

    What is no report, is refused, or fails, counts for its sender, too. Raises `rates.RateLimited`, and
    what `read` and `intake.accept` raise.
    """
    source = client_address.source(client_address.client_address(request))
    sender = _of_sender(request, source)
    rates.refuse_known(*sender, _of_network(source), what="reports")
    counted: list[rates.Limit] = []

    def admit(claim: Claim | None) -> None:
        if counted:  # all but the claim, which was not known
            rates.check_locally(*_about(claim, sent.body.doc_url.url, source), what="reports")
            return
        rates.check_locally(*sender, *_others(sent, source, claim), what="reports")
        counted.extend(sender)

    try:
        sent = read()
        return intake.accept(sent.body, idempotency_key=sent.key, source=source, admit=admit)
    except Exception:
        if not counted:
            rates.check_locally(*sender, what="reports")
        raise


def refuse_known(request: HttpRequest) -> None:
    """Refuse at once, before anything is read, a report of whom `take` would refuse. Counts nothing."""
    source = client_address.source(client_address.client_address(request))
    rates.refuse_known(*_of_sender(request, source), _of_network(source), what="reports")


def count_look(request: HttpRequest) -> None:
    """Count a look at where a report would go as a report of its sender. Raises `rates.RateLimited`."""
    source = client_address.source(client_address.client_address(request))
    rates.check_locally(*_of_sender(request, source), _of_network(source), what="reports")


def count_preview(request: HttpRequest, sent: Sent) -> None:
    """Count what is looked through for a preview as a report of its size, besides `count_look`.

    Raises `rates.RateLimited`.
    """
    source = client_address.source(client_address.client_address(request))
    if large := _large(sent, source):
        rates.check_locally(*large, what="reports")


def count_question(request: HttpRequest) -> None:
    """Count a question about a page by the rates of reports, and apart from them. Raises `rates.RateLimited`."""
    source = client_address.source(client_address.client_address(request))
    limits = [
        *client_address.with_share(settings.HUB_TOTAL_RATE, ("questions",), source),
        *client_address.limits(request, settings.HUB_REPORT_RATE, "question"),
        rates.Limit(settings.HUB_NETWORK_RATE, ("question network", source)),
    ]
    rates.check_locally(*limits, what="questions")


def _of_sender(request: HttpRequest, source: str) -> list[rates.Limit]:
    return [
        *client_address.with_share(settings.HUB_TOTAL_RATE, ("all",), source),
        *client_address.limits(request, settings.HUB_REPORT_RATE, "address"),
    ]


def _others(sent: Sent, source: str, claim: Claim | None) -> list[rates.Limit]:
    """The limits of a report besides those of its sender: of its page's owner, and of its network."""
    about = _about(claim, sent.body.doc_url.url, source)
    return [*about, _of_network(source), *_large(sent, source)]


def _large(sent: Sent, source: str) -> list[rates.Limit]:
    if sent.size + len(sent.body.doc_url.url) <= LARGE:
        return []
    return [rates.Limit(settings.HUB_NETWORK_RATE, ("large", source), times=LARGE_SHARE)]


def _of_network(source: str) -> rates.Limit:
    return rates.Limit(settings.HUB_NETWORK_RATE, ("network", source))


def _about(claim: Claim | None, url: str, source: str) -> list[rates.Limit]:
    """The limits of reports about one owner, whichever of their host names they name."""
    if claim:
        about = ("claim", claim.id)
    elif name := shared_name(url):
        about = ("host", name)
    else:
        return []
    return client_address.with_share(settings.HUB_HOST_RATE, about, source)
