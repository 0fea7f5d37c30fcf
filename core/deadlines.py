"""Waiting for something that may never come back, and stopping in time.

A socket time-out bounds each read, not their sum: a server that drips one byte a second holds its
caller for as long as it likes. So the call runs in a daemon thread of its own, and its caller
leaves at the deadline. The thread keeps its slot until it really ends, so that the hung ones
cannot take all the threads of the server with them.
"""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from functools import cache
from typing import TypeVar

from django.conf import settings

T = TypeVar("T")

AT_ONCE = 4  # of one caller


class NoFreeSlot(Exception):
    """All slots are taken; nothing was begun."""


class TooLate(Exception):
    """The deadline has passed."""


class Gate:
    """Lets a thread through to what cannot be undone, unless its caller has left already."""

    def __init__(self, deadline: float):
        self._lock = threading.Lock()
        self._deadline = deadline
        self._open = True
        self.passed = False

    def go_through(self) -> None:
        with self._lock:
            if not self._open or time.monotonic() >= self._deadline:
                raise TooLate
            self.passed = True

    def close(self) -> None:
        with self._lock:
            self._open = False


def run(function: Callable[[], T], *, deadline: float) -> T:
    """What `function` returns or raises; `Busy`, or `TooLate` at the deadline (in `time.monotonic`)."""
    return _result(_begin(function), deadline)


def run_all(functions: Sequence[Callable[[], T]], *, deadline: float) -> list[T]:
    """What each returns, in their order; a few at a time, otherwise as `run`."""
    results: list[T] = []
    together = min(AT_ONCE, slots())
    for first in range(0, len(functions), together):
        begun = [_begin(function) for function in functions[first : first + together]]
        results += [_result(future, deadline) for future in begun]
    return results


def _begin(function: Callable[[], T]) -> Future[T]:
    slots = _slots()
    if not slots.acquire(blocking=False):
        raise NoFreeSlot
    future: Future[T] = Future()

    def work() -> None:
        try:
            future.set_result(function())
        except BaseException as error:
            future.set_exception(error)
        finally:
            slots.release()

    try:
        threading.Thread(target=work, daemon=True).start()
    except RuntimeError as error:  # the machine has no more threads
        slots.release()
        raise NoFreeSlot from error
    return future


def _result(future: Future[T], deadline: float) -> T:
    try:
        return future.result(timeout=max(0.0, deadline - time.monotonic()))
    except FutureTimeout:
        if future.done():
            return future.result()  # it came at the last moment, or is the function's own error
        raise TooLate from None


def is_full() -> bool:
    """Whether one more would be `Busy` just now; for those who have something better to do then."""
    return _slots()._value == 0  # the semaphore has no other way to ask


def slots() -> int:
    """How many may be under way at once: half of the server's threads; the rest keep answering."""
    return max(1, settings.HUB_THREADS // 2)


@cache
def _slots() -> threading.BoundedSemaphore:
    return threading.BoundedSemaphore(slots())
