"""What a process has counted, gathered for a moment, and then told to the others by a thread of its own."""

import os
from collections.abc import Callable, Iterable
from threading import Event, Lock, Thread

from core.windows import MOST, Window

GATHER = 0.05  # seconds
REST = 60.0  # seconds without anything to tell, after which the thread ends

Hits = dict[Window, int]


class Telling:
    """Hits of windows that the others have not heard of yet, of at most `MOST` windows.

    `tell` tells them, and raises nothing. Whoever notes a hit does not wait for that. The thread does
    `at_end` when it ends.
    """

    def __init__(self, tell: Callable[[Hits], None], at_end: Callable[[], None]) -> None:
        self._tell, self._at_end = tell, at_end
        self._hits: Hits = {}
        self._any = Event()
        self._lock = Lock()
        self._process = 0  # in which the thread runs; a process that was forked needs its own
        self._thread: Thread | None = None
        self._over = Event()

    def note(self, windows: Iterable[Window]) -> None:
        """One more hit of each."""
        with self._lock:
            for window in windows:
                if window in self._hits or len(self._hits) < MOST:
                    self._hits[window] = self._hits.get(window, 0) + 1
            if not self._any.is_set():
                self._any.set()
            if self._process != os.getpid():
                self._process = os.getpid()
                self._thread = Thread(target=self._tell_as_they_come, name="telling", daemon=True)
                self._thread.start()

    def tell(self) -> None:
        """Tell all that was noted."""
        with self._lock:
            self._any.clear()
            hits, self._hits = self._hits, {}
        if hits:
            self._tell(hits)

    def end(self) -> None:
        """End the thread. What was not told yet, is forgotten."""
        self._over.set()
        self._any.set()
        if self._thread:
            self._thread.join()

    def _tell_as_they_come(self) -> None:
        while self._is_anything_noted() and not self._over.wait(GATHER):
            self.tell()
        self._at_end()

    def _is_anything_noted(self) -> bool:
        """Waits for it. If False, the thread ends."""
        if self._any.wait(REST):
            return True
        with self._lock:
            if not self._any.is_set():
                self._process = 0
            return self._any.is_set()
