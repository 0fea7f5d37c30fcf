"""`POST /v1/reports`: takes a report from anybody."""

from fractions import Fraction

from django.conf import settings
from rest_framework.request import Request
from rest_framework.response import Response

from core import client_address, json_body, rates
from core.cors import AnyOrigin
from core.errors import ApiError
from orgs.domains import hosts
from orgs.ownership import Claim
from reports import intake, shape

SHARE = Fraction(1, 10)  # of a limit that all share, for one network
LARGE = 8 * 1024  # bytes of body and URL; a report with an excerpt and a fix has 2 to 4 KiB
LARGE_SHARE = Fraction(1, 20)  # of the limit of one network, for large reports
VERSION_HEADER = "X-Docs-Feedback-Protocol-Version"


class InvalidReport(ApiError):
    """400: the report does not have the right format."""

    status_code = 400
    default_code = "validation_error"
    default_detail = "Invalid report; see `details`. Nothing was saved."


class Reports(AnyOrigin):
    """`POST /v1/reports`."""

    def post(self, request: Request) -> Response:
        source = client_address.source(client_address.client_address(request))
        sender = [
            *_with_share(settings.HUB_TOTAL_RATE, ("all",), source),
            *client_address.limits(request, settings.HUB_REPORT_RATE, "address"),
        ]
        rates.refuse_known(*sender, _of_network(source), what="reports")
        counted: list[rates.Limit] = []

        def admit(claim: Claim | None) -> None:
            rates.check_all(*sender, *_others(request, body, source, claim), what="reports")
            counted.extend(sender)

        try:
            body, key = _read(request)
            receipt = intake.accept(body, idempotency_key=key, source=source, admit=admit)
        except Exception:  # what is no report, is refused, or fails, counts for its sender, too
            if not counted:
                rates.check_all(*sender, what="reports")
            raise
        return Response(answer_of(receipt), status=_status(request, receipt))


def _read(request: Request) -> tuple[shape.ReportBody, str | None]:
    """The report, and the idempotency key in the headers. Raises `ApiError`."""
    try:
        body = shape.parse(json_body.raw(request))
        return body, _key(request, body)
    except json_body.Malformed as error:
        raise InvalidReport(details=error.faults) from None


def _others(
    request: Request, body: shape.ReportBody, source: str, claim: Claim | None
) -> list[rates.Limit]:
    """The limits of a report besides those of its sender: of its page's owner, and of its network."""
    limits = [*_about(claim, body.doc_url.host, source), _of_network(source)]
    if len(request.body) + len(body.doc_url.url) > LARGE:
        limits.append(rates.Limit(settings.HUB_NETWORK_RATE, ("large", source), times=LARGE_SHARE))
    return limits


def _of_network(source: str) -> rates.Limit:
    return rates.Limit(settings.HUB_NETWORK_RATE, ("network", source))


def _about(claim: Claim | None, host: str | None, source: str) -> list[rates.Limit]:
    """The limits of reports about one owner, whichever of their host names they name."""
    if claim:
        about = ("claim", claim.id)
    elif host:
        about = ("host", hosts.registrable(host, pages_host=settings.HUB_PAGES_HOST))
    else:
        return []
    return _with_share(settings.HUB_HOST_RATE, about, source)


def _with_share(rate: str, key: tuple[str, ...], source: str) -> list[rates.Limit]:
    """A limit, and the share that one network has in it, so that it cannot use it up for everybody else."""
    return [rates.Limit(rate, key), rates.Limit(rate, (*key, source), times=SHARE)]


def _key(request: Request, body: shape.ReportBody) -> str | None:
    """The idempotency key from the headers, after checking them."""
    version = request.headers.get(VERSION_HEADER)
    if version is not None and version != body.protocol_version:
        raise json_body.Malformed.at(
            f"header:{VERSION_HEADER}", f'The body says protocol_version "{body.protocol_version}".'
        )
    key = request.headers.get("Idempotency-Key")
    return None if key is None else shape.key(key)


def answer_of(receipt: intake.Receipt) -> dict:
    """The response for a report that was accepted."""
    return {
        "id": receipt.id,
        "is_duplicate": receipt.is_duplicate,
        "received_at": receipt.received_at,
        "protocol_version": "0",
        "server_capabilities": [],
        "receipt_url": f"{settings.HUB_BASE_URL}/r/{receipt.id}/",
        "notices": [notice._asdict() for notice in receipt.notices],
    }


def _status(request: Request, receipt: intake.Receipt) -> int:
    """201, also for a duplicate; 200 for a duplicate to clients of the open protocol."""
    return 200 if receipt.is_duplicate and VERSION_HEADER in request.headers else 201
