"""Sliding-window counters in the memory of this process, with a fixed maximum size."""

import time
from array import array
from collections import OrderedDict
from itertools import islice
from operator import itemgetter
from threading import Lock

MOST = 50_000  # keys; about 400 bytes each, and 8 for every further hit
LOOKED_AT = 8  # for each new key


class Windows:
    """How often each key was counted lately, for at most `most` keys.

    Every call costs the same, however many keys there are, and there is no background thread: a new
    key checks a few of the least recently used ones and drops those that have expired. When all is
    full, it drops the one of them with the fewest hits, so a flood of new keys pushes out itself, not
    the count of somebody who has reached their limit.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._windows: OrderedDict[str, _Window] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._windows)

    def wait(self, key: str, amount: int, seconds: int, *, count: bool = True) -> float:
        """Seconds until `key` may have another hit; 0 if it may now, and then this one is counted.

        `amount` hits are allowed in any `seconds`. With `count=False` nothing is counted.
        """
        now = time.monotonic()
        with self._lock:
            window = self._windows.get(key)
            if window:
                self._windows.move_to_end(key)
            elif not amount:
                return seconds
            elif not count:
                return 0.0
            else:
                self._make_room(now)
                window = self._windows[key] = _Window(amount, seconds)
            return window.wait(now, count=count)

    def _make_room(self, now: float) -> None:
        oldest = [(key, each.hits(now)) for key, each in islice(self._windows.items(), LOOKED_AT)]
        for key, hits in oldest:
            if hits:
                self._windows.move_to_end(key)
            else:
                del self._windows[key]
        if len(self._windows) >= self._most:
            del self._windows[min(oldest, key=itemgetter(1))[0]]


class _Window:
    """The times of the last hits, at most `amount`; `_oldest` is where the next one is written."""

    __slots__ = ("_amount", "_oldest", "_seconds", "_times")

    def __init__(self, amount: int, seconds: int) -> None:
        self._amount, self._seconds = amount, seconds
        self._times, self._oldest = array("d"), 0

    def wait(self, now: float, *, count: bool) -> float:
        if len(self._times) == self._amount:
            wait = self._times[self._oldest] + self._seconds - now
            if wait > 0:
                return wait
        if count:
            self._count(now)
        return 0.0

    def hits(self, now: float) -> int:
        """How many hits are kept; 0 if all of them have expired."""
        over = not self._times or self._times[self._oldest - 1] + self._seconds <= now
        return 0 if over else len(self._times)

    def _count(self, now: float) -> None:
        if not self.hits(now):
            self._times, self._oldest = array("d"), 0
        if len(self._times) < self._amount:
            self._times.append(now)
        else:
            self._times[self._oldest] = now
            self._oldest = (self._oldest + 1) % self._amount
