"""Run calls that may never return, and stop waiting at a deadline.

A socket time-out bounds each read, not their sum: a server that sends one byte a second can hold
its caller as long as it likes. So the call runs in a daemon thread, and the caller stops waiting at
the deadline. The thread keeps its slot until it really ends, so hung calls cannot use up all the
threads of the server.
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
    """All slots are taken; nothing was started."""


class TooLate(Exception):
    """The deadline has passed."""


class Gate:
    """Stops a thread before a step that cannot be undone, if its caller has stopped waiting."""

    def __init__(self, deadline: float):
        self._lock = threading.Lock()
        self._deadline = deadline
        self._open = True
        self.passed = False

    def go_through(self) -> None:
        """Pass, or raise `TooLate` if the gate is closed or the deadline has passed."""
        with self._lock:
            if not self._open or time.monotonic() >= self._deadline:
                raise TooLate
            self.passed = True

    def close(self) -> None:
        """Let nobody pass from now on."""
        with self._lock:
            self._open = False


def run(function: Callable[[], T], *, deadline: float) -> T:
    """Return or raise what `function` does; `NoFreeSlot` without a slot, `TooLate` at the deadline.

    `deadline` is a time of `time.monotonic`.
    """
    return _result(_begin(function), deadline)


def run_all(functions: Sequence[Callable[[], T]], *, deadline: float) -> list[T]:
    """The results of all functions, in order. A few run at a time; raises as `run` does."""
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
            result = function()
        except BaseException as error:
            slots.release()  # first: who waits for this may begin another call at once
            future.set_exception(error)
        else:
            slots.release()
            future.set_result(result)

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
            return future.result()  # it finished at the last moment, or raised this error itself
        raise TooLate from None


def is_full() -> bool:
    """Whether another call would raise `NoFreeSlot` right now."""
    return _slots()._value == 0  # the semaphore has no other way to ask


def slots() -> int:
    """How many calls may run at once: half of the server's threads; the rest keep answering."""
    return max(1, settings.HUB_THREADS // 2)


@cache
def _slots() -> threading.BoundedSemaphore:
    return threading.BoundedSemaphore(slots())
