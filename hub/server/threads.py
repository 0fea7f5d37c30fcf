"""A fixed number of threads in which requests are answered, for one event loop."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from multiprocessing.util import Finalize
from threading import Lock, Thread
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")
A_WHILE = 60  # seconds

log = logging.getLogger(__name__)


class Threads:
    """At most `most` threads, started as they are needed.

    The one that was busy last is taken first, since what it needs is still in the processor's caches. One
    that has ended without what it needs is taken last, or it would try in vain again while others have it.
    `ThreadPoolExecutor` takes the one that has rested longest, and wakes a further one for nothing.
    """

    def __init__(
        self,
        most: int,
        after_a_while: Callable[[], None] = lambda: None,
        has_what_it_needs: Callable[[], bool] = lambda: True,
    ) -> None:
        """A thread that has had nothing to do for a minute, and one that ends, does `after_a_while`.

        It asks `has_what_it_needs` after each thing that it does.
        """
        self._most, self._after_a_while = most, after_a_while
        self._has_what_it_needs = has_what_it_needs
        self._workers: list[_Worker] = []
        self._idle: list[_Worker] = []  # the one that was busy last is the last
        self._waiting: deque[_Job] = deque()

    def run(self, work: Callable[[], T]) -> "asyncio.Future[T]":
        """Do `work` in a thread, as soon as one is free. Call it in the event loop."""
        loop = asyncio.get_running_loop()
        job = _Job(work, loop, loop.create_future(), self._over)
        if self._idle:
            self._idle.pop().take(job)
        elif len(self._workers) < self._most:
            self._further().take(job)
        else:
            self._waiting.append(job)
        return job.result

    def _further(self) -> "_Worker":
        if not self._workers:  # in the process that was forked, or the end of this one is not seen
            Finalize(self, _end, [self._workers], exitpriority=2)  # before that of the log
        self._workers.append(_Worker(self._after_a_while, self._has_what_it_needs))
        return self._workers[-1]

    def _over(
        self, worker: "_Worker", job: "_Job", result: Any, error: BaseException | None
    ) -> None:
        """What a worker did, told in the event loop."""
        if self._waiting:
            worker.take(self._waiting.popleft())
        elif worker.is_equipped:
            self._idle.append(worker)
        else:
            self._idle.insert(0, worker)
        if job.result.done():  # nobody waits for it any more
            return
        if error:
            job.result.set_exception(error)
        else:
            job.result.set_result(result)


class _Job(NamedTuple):
    """Something to do; `over` is called in the event loop."""

    work: Callable[[], Any]
    loop: asyncio.AbstractEventLoop
    result: asyncio.Future
    over: Callable[["_Worker", "_Job", Any, BaseException | None], None]


class _Worker:
    """One thread. It holds nothing of what it did, so that `Threads` that nobody uses can end."""

    def __init__(
        self, after_a_while: Callable[[], None], has_what_it_needs: Callable[[], bool]
    ) -> None:
        self._after_a_while = after_a_while
        self._has_what_it_needs = has_what_it_needs
        self.is_equipped = True
        self._job: _Job | None = None
        self._called = Lock()  # locked until there is something to do
        self._called.acquire()
        self._works = Lock()
        Thread(target=self._work, name="request", daemon=True).start()

    def take(self, job: _Job | None) -> None:
        """Do a job, or end. The one before must be over."""
        self._job = job
        self._called.release()

    def end(self) -> None:
        """End the thread, after what it does now."""
        with self._works:
            if self._called.locked():
                self.take(None)

    def _work(self) -> None:
        while self._has_done_one():
            pass
        self._rest()

    def _rest(self) -> None:
        try:
            self._after_a_while()
        except Exception:  # it goes on, or what it is given next would never be done
            log.exception("A thread could not give back what it had")

    def _has_done_one(self) -> bool:
        if not self._called.acquire(timeout=A_WHILE):
            self._rest()
            self._called.acquire()
        with self._works:
            job, self._job = self._job, None
            if job is None:
                return False
            result = error = None
            try:
                result = job.work()
            except BaseException as raised:
                error = raised
            self.is_equipped = self._has_what_it_needs()
        with suppress(RuntimeError):  # the event loop has ended
            job.loop.call_soon_threadsafe(job.over, self, job, result, error)
        return True


def _end(workers: Iterable[_Worker]) -> None:
    for worker in workers:
        worker.end()
