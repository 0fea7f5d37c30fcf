"""Sends a list of reports, several installations at a time."""

from collections import Counter, defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from django.db import connection

from core import deadlines
from integrations.delivery.forwarding import forward
from integrations.models import Delivery

THREADS = 8  # at most; most of a try is waiting for GitHub


def retry(
    report_ids: list[str],
    *,
    on_progress: Callable[[], None] = lambda: None,
    go_on: Callable[[], bool] = lambda: True,
) -> Counter[str]:
    """Deliver each report; returns how many ended in each status.

    Several installations at a time, each in the given order. What has not started when `go_on` returns
    False is left for later.
    """

    def forward_in_order(ids: list[str]) -> None:
        try:
            for report_id in ids:
                if go_on():
                    forward(report_id)
                    outcomes.append(_status(report_id))
                    on_progress()
        finally:
            connection.close()  # this thread's own

    outcomes: list[str] = []
    with ThreadPoolExecutor(min(THREADS, deadlines.slots())) as pool:
        groups = [pool.submit(forward_in_order, ids) for ids in _by_installation(report_ids)]
        for group in groups:
            group.result()
    return Counter(outcomes)


def _by_installation(report_ids: list[str]) -> list[list[str]]:
    """The same ids in the same order, grouped by installation."""
    deliveries = Delivery.objects.filter(report__in=report_ids)
    installation = dict(deliveries.values_list("report_id", "integration__installation"))
    groups: defaultdict[int, list[str]] = defaultdict(list)
    for report_id in report_ids:
        if report_id in installation:  # its organization may have been deleted meanwhile
            groups[installation[report_id]].append(report_id)
    return list(groups.values())


def _status(report_id: str) -> str:
    found = Delivery.objects.filter(report=report_id).values_list("status", flat=True).first()
    return found or "deleted"
