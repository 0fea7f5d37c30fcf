"""A fixed number of threads in which requests are answered, for one event loop."""

import asyncio
import logging
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from multiprocessing.util import Finalize
from threading import Lock, Thread
from typing import Any, NamedTuple, TypeVar

from hub.server.overload import Overloaded

T = TypeVar("T")
A_WHILE = 60  # seconds
SHARE = 4  # one caller may have a quarter of the threads

log = logging.getLogger(__name__)


class Threads:
    """At most `most` threads, started as they are needed, for which at most `waiting` calls wait.

    The one that was busy last is taken first, since what it needs is still in the processor's caches. One
    that has ended without what it needs is taken last, or it would try in vain again while others have it.
    `ThreadPoolExecutor` takes the one that has rested longest, and wakes a further one for nothing.

    Callers take turns, and each has at most its share of the threads, since all threads share one interpreter:
    what one caller asks for keeps another waiting also while a thread is free. Whoever is alone has no more: others may
    come before what they have asked for is done.

    Where too many calls wait, the caller who has most of them gives up the latest of theirs, so that nobody fills the
    room of others.

    Where the system starts no further thread, those that there are do all that waits; without any, it is refused.
    """

    def __init__(
        self,
        most: int,
        waiting: int,
        after_a_while: Callable[[], None] = lambda: None,
        has_what_it_needs: Callable[[], bool] = lambda: True,
    ) -> None:
        """A thread that has had nothing to do for a minute, and one that ends, does `after_a_while`.

        It asks `has_what_it_needs` after each thing that it does.
        """
        self._most, self._most_waiting, self._after_a_while = most, waiting, after_a_while
        self._has_what_it_needs = has_what_it_needs
        self._workers: list[_Worker] = []
        self._idle: list[_Worker] = []  # the one that was busy last is the last
        self._share = max(1, most // SHARE)
        self._busy: Counter[_Queue] = Counter()  # threads
        # Both the queues and the jobs of each: the next one is first.
        self._waiting: OrderedDict[_Queue, OrderedDict[asyncio.Future, _Job]] = OrderedDict()
        self._waits = 0  # how many wait
        self._is_short = False  # the system started no thread when one was asked for

    def run(
        self, work: Callable[[], T], caller: str | None = None, *, is_probe: bool = False
    ) -> "asyncio.Future[T]":
        """Do `work` in a thread, as soon as it is the turn of `caller`. Call it in the event loop.

        Those who call without a name take turns as one caller, which may have all threads. Probes of a caller wait for
        each other only. The result raises `Overloaded` if too many wait.
        """
        loop = asyncio.get_running_loop()
        queue = _Queue(caller, is_probe)
        job = _Job(work, queue, loop, loop.create_future(), self._over)
        self._waiting.setdefault(queue, OrderedDict())[job.result] = job
        self._waits += 1
        self._start()
        if not self._workers:  # nobody would ever begin with it
            self._end(job, Overloaded("The system starts no thread"))
        elif self._waits > self._most_waiting:
            self._give_up(queue)
        return job.result

    def refuse(self, result: asyncio.Future, error: Overloaded) -> bool:
        """End with `error` what waits for a thread. False if it does not: what has begun goes on."""
        job = next((jobs[result] for jobs in self._waiting.values() if result in jobs), None)
        if job:
            self._end(job, error)
        return bool(job)

    def _give_up(self, latest: "_Queue") -> None:
        """Refuse what came last in the longest queue; if several are, in the one to which a call has just come."""
        most = max(self._waiting, key=lambda each: (len(self._waiting[each]), each == latest))
        job = next(reversed(self._waiting[most].values()))
        self._end(job, Overloaded("All threads are busy, and too many requests wait"))

    def _end(self, job: "_Job", error: Overloaded) -> None:
        del self._waiting[job.queue][job.result]
        self._took_from(job.queue)
        if not job.result.done():
            job.result.set_exception(error)

    def _start(self) -> None:
        """Begin what may begin now."""
        while self._may_be_free() and (queue := self._next()) and self._ensure_one_idle():
            job = self._first_of(queue)
            if job.result.done():  # nobody waits for it any more
                continue
            self._busy[queue] += 1
            self._idle.pop().take(job)

    def _next(self) -> "_Queue | None":
        """The queue whose turn it is; few have all of their share and are passed over."""
        for queue in self._waiting:
            if queue.caller is None or self._busy[queue] < self._share:
                return queue
        return None

    def _first_of(self, queue: "_Queue") -> "_Job":
        """Take the first job of the queue, whose next turn is after all others."""
        _, job = self._waiting[queue].popitem(last=False)
        self._waiting.move_to_end(queue)
        self._took_from(queue)
        return job

    def _took_from(self, queue: "_Queue") -> None:
        self._waits -= 1
        if not self._waiting[queue]:
            del self._waiting[queue]

    def _may_be_free(self) -> bool:
        return bool(self._idle) or len(self._workers) < self._most

    def _ensure_one_idle(self) -> bool:
        """Start a further thread if none is idle, and the system has one. Returns whether one is idle."""
        if not self._idle:
            try:
                self._idle.append(self._further())
                self._is_short = False
            except RuntimeError:  # those that there are do what waits
                self._say_it_is_short()
        return bool(self._idle)

    def _say_it_is_short(self) -> None:
        """Log it once, until a thread could be started again: many ask meanwhile."""
        if not self._is_short:
            log.warning("The system starts no further thread; %s answer", len(self._workers))
        self._is_short = True

    def _further(self) -> "_Worker":
        worker = _Worker(self._after_a_while, self._has_what_it_needs)
        if not self._workers:  # in the process that was forked, or the end of this one is not seen
            Finalize(self, _end, [self._workers], exitpriority=2)  # before that of the log
        self._workers.append(worker)
        return worker

    def _over(
        self, worker: "_Worker", job: "_Job", result: Any, error: BaseException | None
    ) -> None:
        """What a worker did, told in the event loop."""
        self._busy[job.queue] -= 1
        if not self._busy[job.queue]:
            del self._busy[job.queue]
        if worker.is_equipped:
            self._idle.append(worker)
        else:
            self._idle.insert(0, worker)
        if self._waiting:
            self._start()
        if job.result.done():  # nobody waits for it any more
            return
        if error:
            job.result.set_exception(error)
        else:
            job.result.set_result(result)


class _Queue(NamedTuple):
    """What has a turn and a share: the calls of one caller, or the probes."""

    caller: str | None
    is_of_probes: bool


class _Job(NamedTuple):
    """Something to do; `over` is called in the event loop."""

    work: Callable[[], Any]
    queue: _Queue
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
        job = result = error = None  # an error knows this frame: each would keep the other
        return True


def _end(workers: Iterable[_Worker]) -> None:
    for worker in workers:
        worker.end()
