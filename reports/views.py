"""`POST /v1/reports`: takes a report from anybody."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from pydantic_core import to_json
from rest_framework.request import Request

from core import json_body
from core.cors import AnyOrigin
from core.errors import ApiError
from reports import admission, intake, shape

VERSION_HEADER = "X-Docs-Feedback-Protocol-Version"
VERSION, KEY = "HTTP_X_DOCS_FEEDBACK_PROTOCOL_VERSION", "HTTP_IDEMPOTENCY_KEY"  # as WSGI has them
NOT_SENT = {"status": "received", "issue_url": None, "known_issue": None, "answer": None}


class InvalidReport(ApiError):
    """400: the report does not have the right format."""

    status_code = 400
    default_code = "validation_error"
    default_detail = "Invalid report; see `details`. Nothing was saved."


class Reports(AnyOrigin):
    """`POST /v1/reports`.

    `outcome` says how far a report has come: `status`, `issue_url`, `known_issue` and `answer`, as
    strangers may know them, and `claimed` where they may not know that it is. Whoever sends reports on gives
    it, and it is asked only about those that somebody has received.
    """

    outcome: Callable[[intake.Receipt], dict[str, Any]] | None = None

    def post(self, request: Request) -> HttpResponse:
        sent = request._request  # Django's own, in which nothing has to be looked for twice
        receipt = admission.take(sent, lambda: _read(sent))
        answer = to_json({**answer_of(receipt), **self._outcome(receipt)})
        return HttpResponse(answer, "application/json", status=_status(sent, receipt))

    def _outcome(self, receipt: intake.Receipt) -> dict[str, Any]:
        if self.outcome is None or not receipt.has_receiver:
            return NOT_SENT
        return self.outcome(receipt)


def _read(request: HttpRequest) -> admission.Sent:
    """The report, its size, and the idempotency key in the headers. Raises `ApiError`."""
    try:
        raw = json_body.raw(request)
        body = shape.parse(raw)
        return admission.Sent(body, len(raw), _key(request, body))
    except json_body.Malformed as error:
        raise InvalidReport(details=error.faults) from None


def _key(request: HttpRequest, body: shape.ReportBody) -> str | None:
    """The idempotency key from the headers, after checking them."""
    version = request.META.get(VERSION)
    if version is not None and version != body.protocol_version:
        raise json_body.Malformed.at(
            f"header:{VERSION_HEADER}", f'The body says protocol_version "{body.protocol_version}".'
        )
    key = request.META.get(KEY)
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
        "claimed": receipt.claimed,
    }


def _status(request: HttpRequest, receipt: intake.Receipt) -> int:
    """201, also for a duplicate; 200 for a duplicate to clients of the open protocol."""
    return 200 if receipt.is_duplicate and VERSION in request.META else 201
