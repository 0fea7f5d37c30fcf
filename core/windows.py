"""Sliding-window counters in the memory of this process, with a fixed maximum size."""

import time
from array import array
from collections import OrderedDict
from collections.abc import Iterable
from itertools import islice
from operator import itemgetter
from threading import Lock
from typing import NamedTuple

MOST = 50_000  # keys; about 400 bytes each, and 8 for every further hit
LOOKED_AT = 8  # for each new key


class Window(NamedTuple):
    """At most `amount` hits of `key` in any `seconds`."""

    key: str
    amount: int
    seconds: int


class Windows:
    """How often each key was counted lately, for at most `most` keys.

    Every call costs the same, however many keys there are, and there is no background thread: a new
    key checks a few of the least recently used ones and drops those that have expired. When all is
    full, it drops the one of them with the fewest hits, so a flood of new keys pushes out itself, not
    the count of somebody who has reached their limit.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._hits: OrderedDict[str, _Hits] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._hits)

    def look(self, *wanted: Window) -> float:
        """What `wait` would answer; counts nothing."""
        now = time.monotonic()
        with self._lock:
            return max(self._wait(window, now) for window in wanted)

    def wait(self, *wanted: Window) -> float:
        """Seconds until there is room in all of these windows; 0 if there is, and then each counts a hit.

        What has no room in one of them is counted in none.
        """
        now = time.monotonic()
        with self._lock:
            wait = max(self._wait(window, now) for window in wanted)
            if not wait:
                for window in wanted:
                    self._count(window, now)
        return wait

    def _wait(self, window: Window, now: float) -> float:
        if hits := self._hits.get(window.key):
            self._hits.move_to_end(window.key)
            return hits.wait(now)
        return 0.0 if window.amount else window.seconds

    def _count(self, window: Window, now: float) -> None:
        hits = self._hits.get(window.key)
        if not hits:
            self._make_room(now)
            hits = self._hits[window.key] = _Hits(window.amount, window.seconds)
        hits.count(now)

    def _make_room(self, now: float) -> None:
        oldest = [(key, each.kept(now)) for key, each in islice(self._hits.items(), LOOKED_AT)]
        for key, hits in oldest:
            if hits:
                self._hits.move_to_end(key)
            else:
                del self._hits[key]
        if len(self._hits) >= self._most:
            del self._hits[min(oldest, key=itemgetter(1))[0]]


class Full:
    """Which windows are known to have no room, and until when; at most `most` of them.

    Until then nothing makes room, since hits only expire: so nobody need be asked again.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._until: OrderedDict[str, float] = OrderedDict()
        self._lock = Lock()

    def look(self, *wanted: Window) -> float:
        """Seconds until there may be room in all of these windows; 0 if nothing is known."""
        if not self._until:
            return 0.0
        known = max(self._until.get(window.key, 0.0) for window in wanted)
        return max(0.0, known - time.monotonic())

    def note(self, waits: Iterable[tuple[Window, float]]) -> None:
        """Remember windows without room, with the seconds until there is some."""
        now = time.monotonic()
        with self._lock:
            for window, wait in waits:
                self._until[window.key] = now + wait
                self._until.move_to_end(window.key)
                if len(self._until) > self._most:
                    self._until.popitem(last=False)


class _Hits:
    """The times of the last hits, at most `amount`; `_oldest` is where the next one is written."""

    __slots__ = ("_amount", "_oldest", "_seconds", "_times")

    def __init__(self, amount: int, seconds: int) -> None:
        self._amount, self._seconds = amount, seconds
        self._times, self._oldest = array("d"), 0

    def wait(self, now: float) -> float:
        """Seconds until there is room for another one."""
        if len(self._times) < self._amount:
            return 0.0
        return max(0.0, self._times[self._oldest] + self._seconds - now)

    def kept(self, now: float) -> int:
        """How many hits are kept; 0 if all of them have expired."""
        over = not self._times or self._times[self._oldest - 1] + self._seconds <= now
        return 0 if over else len(self._times)

    def count(self, now: float) -> None:
        """Add a hit, for which there is room."""
        if not self.kept(now):
            self._times, self._oldest = array("d"), 0
        if len(self._times) < self._amount:
            self._times.append(now)
        else:
            self._times[self._oldest] = now
            self._oldest = (self._oldest + 1) % self._amount
