"""The demo's past: reports take the product's own way, and then their rows are moved back in time."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from hub.management.demo_reports import PAST, REFUSAL, Past
from integrations.delivery import trying_again
from integrations.models import Attempt, Delivery
from reports import intake, shape
from reports.models import Account, Report
from sandbox import CodeHost

SPAN = timedelta(days=55)
LATEST = timedelta(minutes=50)
REPOSITORY = "acme/docs"
LAST_REPEAT = 0.8  # of the time since then


def write(host: CodeHost, site: str) -> None:
    """Receive the reports of eight weeks, and open their issues."""
    with _without_waiting_for_the_disk():
        for past, at in zip(PAST, _times(timezone.now()), strict=True):
            _receive(past, at, host, site)


def close(host: CodeHost) -> None:
    """Close some of the issues, while the Hub is there to be told."""
    closed = {past.summary for past in PAST if past.end == "closed"}
    for delivery in Delivery.objects.filter(report__summary__in=closed):
        if delivery.issue_number:
            host.close_issue(REPOSITORY, delivery.issue_number, by="alice")


def _times(now: datetime) -> Iterator[datetime]:
    """When each report came: oldest first, more often lately, at no round hour."""
    for number in range(len(PAST)):
        left = 1 - number / (len(PAST) - 1)
        yield now - LATEST - SPAN * left**1.3 - timedelta(minutes=number * 17 % 50)


def _receive(past: Past, at: datetime, host: CodeHost, site: str) -> None:
    """One report, in its own words and as often as it was sent, as if it had come at that time."""
    if past.end == "failed":
        host.fail("answer", status=422, body=REFUSAL)
    first, *repeats = [_body(past, site, details) for details in (past.details, *past.also)]
    with transaction.atomic():
        report_id = intake.accept(first).id
        if past.end == "held":
            trying_again.stop_all(Delivery.objects.filter(report=report_id))
    for body in [first] * (past.times - 1 - len(repeats)) + repeats:
        intake.accept(body)
    _move_back(report_id, at)
    if number := Delivery.objects.get(report=report_id).issue_number:
        issue = host.issue(REPOSITORY, number)
        issue.created_at = issue.updated_at = at.replace(microsecond=0)


def _body(past: Past, site: str, details: str) -> shape.ReportBody:
    said = {"kind": past.kind, "summary": past.summary, "details": details}
    body = {
        "protocol_version": "0",
        "doc_url": _address(past, site),
        "agent": {"name": past.agent},
        "report": {**said, "suggested_fix": past.fix} if past.fix else said,
    }
    return shape.parse(json.dumps(body).encode())


def _address(past: Past, site: str) -> str:
    """Of a page of the site; of a file, as the code host shows it."""
    is_file = past.page.endswith(".md")
    files = f"{settings.HUB_GITHUB_URL}/{REPOSITORY}/blob/HEAD"
    return f"{files if is_file else site}/{past.page}"


def _move_back(report_id: str, at: datetime) -> None:
    """Move a report and all that has happened to it, so that it came at this time."""
    report = Report.objects.get(pk=report_id)
    moved = at - report.received_at
    last = at if report.times_reported == 1 else at + (report.received_at - at) * LAST_REPEAT
    Report.objects.filter(pk=report_id).update(received_at=at, last_received_at=last)
    _move(Account.objects.filter(report=report_id), moved, "received_at", "last_received_at")
    mine = Delivery.objects.filter(report=report_id)
    _move(mine, moved, "created_at", "changed_at", "due_at", "last_tried_at", "posted_at")
    _move(Attempt.objects.filter(delivery__in=mine), moved, "started_at", "ended_at")


def _move(rows: QuerySet, duration: timedelta, *columns: str) -> None:
    rows.update(**{column: F(column) + duration for column in columns})


@contextmanager
def _without_waiting_for_the_disk() -> Iterator[None]:
    """What a power cut could destroy is deleted at the next start anyway."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA synchronous=OFF")
        yield
        cursor.execute("PRAGMA synchronous=FULL")
