"""Sends a list of reports, several installations at a time."""

import random
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from heapq import heapify, heappop, heappush
from threading import Lock
from time import monotonic

from django.db import connection

from core import deadlines
from integrations.delivery.forwarding import forward
from integrations.models import Delivery

THREADS = 8  # at most; most of a try is waiting for GitHub
SLOW = 3  # seconds that a try takes, if GitHub is slow about an installation


# Seconds so far, an installation, and its reports in their order.
Lane = tuple[float, int, deque[str]]


class Lanes:
    """Which report is next: of the installation that has taken least time, and never two of one at once.

    `slow`: the installations about which GitHub was slow the last time. They come after all others, in random
    order, and it is brought up to date. Of one that is slow now no more is begun, and once `THREADS` are, none of
    those that were. None: all is sent, and one that is slow only has fewer turns.
    """

    def __init__(self, ids: dict[int, deque[str]], slow: set[int] | None):
        self._slow = slow
        self._slow_now = 0
        self._lock = Lock()
        self._waiting: list[Lane] = [(self._handicap(each), each, ids[each]) for each in ids]
        heapify(self._waiting)

    def _handicap(self, installation: int) -> float:
        was_slow = self._slow is not None and installation in self._slow
        return SLOW + random.random() if was_slow else 0  # noqa: S311  (guards nothing)

    def take(self) -> Lane | None:
        """The one whose turn it is, until it is given back; None if there is none now."""
        with self._lock:
            if not self._waiting:
                return None
            _, installation, _ = self._waiting[0]
            if self._slow_now >= THREADS and installation in (self._slow or ()):
                return None
            return heappop(self._waiting)

    def give_back(self, lane: Lane, took: float) -> None:
        """Note that its first report was tried, and how many seconds that took."""
        seconds, installation, ids = lane
        ids.popleft()
        ends = False
        with self._lock:
            if self._slow is not None:
                ends = took > SLOW
                self._slow_now += ends
                (self._slow.add if ends else self._slow.discard)(installation)
            if ids and not ends:
                heappush(self._waiting, (seconds + took, installation, ids))


def retry(
    report_ids: list[str],
    *,
    on_progress: Callable[[], None] = lambda: None,
    go_on: Callable[[], bool] = lambda: True,
    slow: set[int] | None = None,
) -> Counter[str]:
    """Deliver each report; returns how many ended in each status.

    Several installations at a time, each in the given order, and those first that take least time. What has not
    started when `go_on` returns False is left for later. `slow` as in `Lanes`, for calls that follow each other.
    """

    def forward_in_turn() -> None:
        try:
            while go_on() and (lane := lanes.take()):
                [report_id, *_] = lane[2]
                began = monotonic()
                forward(report_id)
                lanes.give_back(lane, monotonic() - began)
                outcomes.append(_status(report_id))
                on_progress()
        finally:
            connection.close()  # this thread's own

    outcomes: list[str] = []
    ids = _by_installation(report_ids)
    lanes = Lanes(ids, slow)
    with ThreadPoolExecutor(min(THREADS, deadlines.slots())) as pool:
        for each in [pool.submit(forward_in_turn) for _ in ids]:
            each.result()
    return Counter(outcomes)


def _by_installation(report_ids: list[str]) -> dict[int, deque[str]]:
    """The same ids in the same order, grouped by installation."""
    deliveries = Delivery.objects.filter(report__in=report_ids)
    installation = dict(deliveries.values_list("report_id", "integration__installation"))
    groups: defaultdict[int, deque[str]] = defaultdict(deque)
    for report_id in report_ids:
        if report_id in installation:  # its organization may have been deleted meanwhile
            groups[installation[report_id]].append(report_id)
    return groups


def _status(report_id: str) -> str:
    found = Delivery.objects.filter(report=report_id).values_list("status", flat=True).first()
    return found or "deleted"
