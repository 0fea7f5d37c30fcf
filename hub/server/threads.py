"""A fixed number of threads in which requests are answered, for one event loop."""

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from multiprocessing.util import Finalize
from threading import Lock, Thread
from time import thread_time
from typing import Any, TypeVar

from hub.server.overload import Overloaded
from hub.server.turns import Call, Queue, Turns

T = TypeVar("T")
A_WHILE = 60  # seconds

log = logging.getLogger(__name__)


class Threads:
    """At most `most` threads, started as they are needed, for which at most `waiting` calls wait.

    The one that was busy last is taken first, since what it needs is still in the processor's caches. One
    that has ended without what it needs is taken last, or it would try in vain again while others have it.
    `ThreadPoolExecutor` takes the one that has rested longest, and wakes a further one for nothing.

    Callers take turns (`turns.py`). Where too many calls wait, the caller who has most of them gives up the latest of
    theirs, so that nobody fills the room of others.

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
        self._turns = Turns(most)
        self._is_short = False  # the system started no thread when one was asked for

    def run(
        self,
        work: Callable[[], T],
        caller: str | None = None,
        *,
        is_probe: bool = False,
        has_costs: bool = True,
    ) -> "asyncio.Future[T]":
        """Do `work` in a thread, as soon as it is the turn of `caller`. Call it in the event loop.

        Those who call without a name take turns as one caller, which may have all threads. Probes of a caller wait for
        each other only. What has no costs keeps its share, however much of the processor's time it needs. The result
        raises `Overloaded` if too many wait.
        """
        result = asyncio.get_running_loop().create_future()
        call = Call(work, Queue(caller, is_probe, has_costs), result, self._over)
        self._turns.add(call)
        self._start()
        if not self._workers:  # nobody would ever begin with it
            self._refuse(call, Overloaded("The system starts no thread"))
        elif len(self._turns) > self._most_waiting:
            busy = Overloaded("All threads are busy, and too many requests wait")
            self._refuse(self._turns.last(call.queue), busy)
        return result

    def refuse(self, result: asyncio.Future, error: Overloaded) -> bool:
        """End with `error` what waits for a thread. False if it does not: what has begun goes on."""
        call = self._turns.find(result)
        if call:
            self._refuse(call, error)
        return bool(call)

    def _refuse(self, call: Call, error: Overloaded) -> None:
        self._turns.remove(call)
        if not call.result.done():
            call.result.set_exception(error)

    def _start(self) -> None:
        """Begin what may begin now."""
        while self._may_be_free() and (call := self._turns.next()):
            if call.result.done():  # nobody waits for it any more
                self._turns.remove(call)
            elif self._ensure_one_idle():
                self._turns.begin(call)
                self._idle.pop().take(call)
            else:
                return

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
        self,
        worker: "_Worker",
        call: Call,
        seconds: float,
        result: Any,
        error: BaseException | None,
    ) -> None:
        """What a worker did, and how long it had the processor; told in the event loop."""
        self._turns.end(call, seconds)
        if worker.is_equipped:
            self._idle.append(worker)
        else:
            self._idle.insert(0, worker)
        if self._turns:
            self._start()
        if call.result.done():  # nobody waits for it any more
            return
        if error:
            call.result.set_exception(error)
        else:
            call.result.set_result(result)


class _Worker:
    """One thread. It holds nothing of what it did, so that `Threads` that nobody uses can end."""

    def __init__(
        self, after_a_while: Callable[[], None], has_what_it_needs: Callable[[], bool]
    ) -> None:
        self._after_a_while = after_a_while
        self._has_what_it_needs = has_what_it_needs
        self.is_equipped = True
        self._call: Call | None = None
        self._called = Lock()  # locked until there is something to do
        self._called.acquire()
        self._works = Lock()
        Thread(target=self._work, name="request", daemon=True).start()

    def take(self, call: Call | None) -> None:
        """Do what is called for, or end. The call before must be over."""
        self._call = call
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
            call, self._call = self._call, None
            if call is None:
                return False
            began, result, error = thread_time(), None, None
            try:
                result = call.work()
            except BaseException as raised:
                error = raised
            self.is_equipped = self._has_what_it_needs()
            seconds = thread_time() - began
        with suppress(RuntimeError):  # the event loop has ended
            call.result.get_loop().call_soon_threadsafe(
                call.over, self, call, seconds, result, error
            )
        call = result = error = None  # an error knows this frame: each would keep the other
        return True


def _end(workers: Iterable[_Worker]) -> None:
    for worker in workers:
        worker.end()
