"""Public receipts: the state of a report, without its text."""

import logging
from typing import Any

from django.db import Error
from rest_framework.request import Request
from rest_framework.response import Response

from core import ids
from core.cors import AnyOrigin
from integrations.answers import telling
from integrations.api.acts import NoSuchReport
from integrations.models import Delivery
from integrations.ownership import public_files
from reports.intake import Receipt
from reports.models import Report

log = logging.getLogger(__name__)

STATUS: dict[str, str] = {
    Delivery.Status.PENDING: "forwarding",
    Delivery.Status.SENDING: "forwarding",
    Delivery.Status.HELD: "forwarding",
    Delivery.Status.SENT: "forwarded",
    Delivery.Status.FOLDED: "forwarded",
    Delivery.Status.FAILED: "received",
    Delivery.Cause.DISCARDED: "received",
}


QUEUED: dict[str, Any] = {
    "status": STATUS[Delivery.Status.PENDING],
    "issue_url": None,
    **telling.NOTHING,
}


class ReceiptView(AnyOrigin):
    """`GET /v1/reports/<id>`: the receipt."""

    def get(self, request: Request, report_id: str) -> Response:
        return Response(as_data(find(report_id)))


def as_data(report: Report) -> dict[str, Any]:
    """The receipt of a report for programs."""
    delivery = Delivery.objects.outcome_of(report.pk)
    is_told = public_files.are_told(report.canonical_url, delivery)
    return {
        "id": report.id,
        "status": status_of(delivery if is_told else None),
        "received_at": report.received_at,
        "times_reported": report.times_reported,
        "issue_url": _issue_url(delivery),
        "issue_state": delivery.public_issue_state() if delivery else None,
        **telling.of_report(report.canonical_url, delivery if is_told else None),
    }


def outcome(receipt: Receipt) -> dict[str, Any]:
    """How far a report has come, as its receipt says it; files of a private repository are nobody's.

    What was just queued need not be looked at, unless it is of a repository's file. The report is stored, so
    that it is no error if this cannot be read now: then nothing is known of it.
    """
    if receipt.is_queued and not public_files.are_at(receipt.canonical_url):
        return QUEUED
    try:
        return _outcome(receipt, Delivery.objects.outcome_of(receipt.id))
    except Error as error:
        log.error("Cannot say how far report %s has come: %s", receipt.id, error)
        return _outcome(receipt, None)


def _outcome(receipt: Receipt, delivery: Delivery | None) -> dict[str, Any]:
    if not public_files.are_told(receipt.canonical_url, delivery):
        return {"claimed": False, "status": status_of(None), "issue_url": None, **telling.NOTHING}
    known = telling.of_report(receipt.canonical_url, delivery, is_repeat=receipt.is_duplicate)
    return {"status": status_of(delivery), "issue_url": _issue_url(delivery), **known}


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
