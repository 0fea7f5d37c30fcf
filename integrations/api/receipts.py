"""Public receipts: the state of a report, without its text."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from core import ids
from core.cors import AnyOrigin
from integrations.api.acts import NoSuchReport
from integrations.models import Delivery
from reports.models import Report

STATUS: dict[str, str] = {
    Delivery.Status.PENDING: "forwarding",
    Delivery.Status.SENDING: "forwarding",
    Delivery.Status.HELD: "forwarding",
    Delivery.Status.SENT: "forwarded",
    Delivery.Status.FAILED: "received",
    Delivery.Cause.DISCARDED: "received",
}


class ReceiptView(AnyOrigin):
    """`GET /v1/reports/<id>`: the receipt."""

    def get(self, request: Request, report_id: str) -> Response:
        return Response(as_data(find(report_id)))


def as_data(report: Report) -> dict[str, Any]:
    """The receipt of a report for programs."""
    delivery = Delivery.objects.filter(report=report).first()
    return {
        "id": report.id,
        "status": status_of(delivery),
        "received_at": report.received_at,
        "times_reported": report.times_reported,
        "issue_url": _issue_url(delivery),
        "issue_state": delivery.public_issue_state() if delivery else None,
    }


def outcome(report_id: str) -> dict[str, Any]:
    """How far a report has come, as its receipt says it."""
    delivery = Delivery.objects.outcome_of(report_id)
    return {"status": status_of(delivery), "issue_url": _issue_url(delivery)}


def find(report_id: str) -> Report:
    """The report with this id, which anybody may ask about. Raises `NoSuchReport`."""
    report = ids.find(Report.objects.all(), report_id)
    if report is None:
        raise NoSuchReport
    return report


def status_of(delivery: Delivery | None) -> str:
    """How far a report is, as strangers may know: a failed, a discarded and no delivery are the same."""
    return STATUS[delivery.state] if delivery else "received"


def _issue_url(delivery: Delivery | None) -> str | None:
    return delivery.public_issue_url() if delivery else None
