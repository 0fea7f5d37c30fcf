"""Public receipts: the state of a report, without its text."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
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
        report = ids.find(Report.objects.all(), report_id)
        if report is None:
            raise NoSuchReport
        delivery = Delivery.objects.filter(report=report).first()
        return Response(
            {
                "id": report.id,
                "status": STATUS[delivery.state] if delivery else "received",
                "received_at": report.received_at,
                "times_reported": report.times_reported,
                "issue_url": delivery.public_issue_url() if delivery else None,
            }
        )


def receipt_page(request: HttpRequest, report_id: str) -> HttpResponse:
    """`/r/<id>/`: redirects to the JSON receipt."""
    return redirect(f"{settings.HUB_BASE_URL}/v1/reports/{report_id}")
