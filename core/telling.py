"""What a process has counted, gathered for a moment, and then told to the others by a thread of its own."""

import logging
import os
from collections.abc import Callable, Iterable
from math import inf
from threading import Event, Lock, Thread

from core.windows import MOST, Window

GATHER = 0.05  # seconds

log = logging.getLogger(__name__)

Hits = dict[Window, int]


class Telling:
    """Hits of windows that the others have not heard of yet, of at most `MOST` windows.

    `tell` tells them, and raises nothing. A thread does so; whoever notes a hit need not wait for that. It does
    `at_end` when it ends.
    """

    def __init__(self, tell: Callable[[Hits], None], at_end: Callable[[], None]) -> None:
        self._tell, self._at_end = tell, at_end
        self._hits: Hits = {}
        self._on_the_way: list[Hits] = []  # being told
        self._any = Event()
        self._lock = Lock()
        self._process = 0  # in which the thread runs; a process that was forked needs its own
        self._thread: Thread | None = None
        self._over = Event()

    def note(self, windows: Iterable[Window], most: float = inf) -> bool:
        """One more hit of each, unless more than `most` (a part of its amount) of one would not be told then."""
        with self._lock:
            noted = {window: self._untold(window) + 1 for window in windows}
            if any(hits > max(1, window.amount * most) for window, hits in noted.items()):
                return False
            for window in noted:
                if window in self._hits or len(self._hits) < MOST:
                    self._hits[window] = self._hits.get(window, 0) + 1
            if not self._any.is_set():
                self._any.set()
            if self._process != os.getpid():
                self._start()
        return True

    def _untold(self, window: Window) -> int:
        """Hits of which nobody has heard yet, also while they are told."""
        return self._hits.get(window, 0) + sum(each.get(window, 0) for each in self._on_the_way)

    def _start(self) -> None:
        thread = Thread(target=self._tell_as_they_come, name="telling", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # there may be no more threads; the next hit tries again
            log.warning("Other processes are not told of reports: no thread can be started")
            return
        self._thread, self._process = thread, os.getpid()

    def tell(self) -> None:
        """Tell all that was noted."""
        with self._lock:
            self._any.clear()
            if self._over.is_set():  # just now: the thread has to see it
                self._any.set()
            hits, self._hits = self._hits, {}
            if hits:
                self._on_the_way.append(hits)
        if hits:
            try:
                self._tell(hits)
            finally:
                with self._lock:
                    self._on_the_way.remove(hits)

    def end(self) -> None:
        """End the thread. What was not told yet, is forgotten."""
        self._over.set()
        self._any.set()
        if self._thread:
            self._thread.join()

    def _tell_as_they_come(self) -> None:
        while self._any.wait() and not self._over.wait(GATHER):
            self.tell()
        self._at_end()
