"""Whose turn it is: which of the calls that wait for a thread begins next."""

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

SHARE = 4  # one caller may have a quarter of the threads
LITTLE = 0.5  # seconds of the processor: all who have cost more lately have one such share together
HALVED = 10  # seconds after which what a call has cost counts half
RUNNING = 0.125  # seconds that a call counts while it runs
REMEMBERED = 4096  # queues


class Queue(NamedTuple):
    """What has turns: the calls of one caller, or their probes."""

    caller: str | None
    is_of_probes: bool
    has_costs: bool = True  # of what has none, nothing is counted


@dataclass(frozen=True, eq=False, slots=True)
class Call:
    """Something to do for a caller. `over` is called in the event loop of `result`, which it tells."""

    work: Callable[[], Any]
    queue: Queue
    result: asyncio.Future
    over: Callable[..., None]


class Turns:
    """The calls that wait for one of `threads` threads. Use it in one event loop.

    Queues take turns, and each has at most its share of the threads, since all threads share one interpreter: what
    one caller asks for keeps another waiting also while a thread is free. Whoever is alone has no more: others may come
    before what they have asked for is done.

    For the same reason all whose calls have cost much lately have one such share together. Each of them has an equal
    part of it, and in turn what others leave of theirs. Each has one thread at least, but beyond the share everybody
    else comes before them. What counts is the processor's time: to have waited for a database or for GitHub costs
    nothing, but a call that runs counts for a little, since nobody knows yet what it costs.

    The calls without a name are one queue, which may have all threads.
    """

    def __init__(self, threads: int) -> None:
        self._share = max(1, threads // SHARE)
        # Both the queues and the calls of each: the next one is first.
        self._waiting: OrderedDict[Queue, OrderedDict[asyncio.Future, Call]] = OrderedDict()
        self._waits = 0  # how many wait
        self._running: Counter[Queue] = Counter()
        self._spent: OrderedDict[Queue, tuple[float, float]] = OrderedDict()  # seconds, as of when

    def __len__(self) -> int:
        return self._waits

    def add(self, call: Call) -> None:
        """Let it wait, after the others of its queue."""
        self._waiting.setdefault(call.queue, OrderedDict())[call.result] = call
        self._waits += 1

    def remove(self, call: Call) -> None:
        """Let it wait no longer."""
        calls = self._waiting[call.queue]
        del calls[call.result]
        if not calls:
            del self._waiting[call.queue]
        self._waits -= 1

    def find(self, result: asyncio.Future) -> Call | None:
        """The call that waits, whose result this is."""
        return next((calls[result] for calls in self._waiting.values() if result in calls), None)

    def last(self, added_to: Queue) -> Call:
        """The latest call of the longest queue; if several are, of the one to which a call was just added."""
        most = max(self._waiting, key=lambda each: (len(self._waiting[each]), each == added_to))
        return next(reversed(self._waiting[most].values()))

    def next(self) -> Call | None:
        """The call that may begin, if one may; few queues have all of their share and are passed over."""
        now, costly = time.monotonic(), []
        other: Queue | None = None
        for queue in self._waiting:
            if self._is_costly(queue, now):
                costly.append(queue)
            elif queue.caller is None or self._running[queue] < self._share:
                other = queue
                break
        chosen = self._next_of(costly, other, now) if costly else other
        return chosen and self._first(chosen)

    def _next_of(self, costly: list[Queue], other: Queue | None, now: float) -> Queue | None:
        """One of those that have cost much, or the other one, whose turn is after theirs."""
        running = {each for each in self._running if self._is_costly(each, now)}
        is_left = sum(self._running[each] for each in running) < self._share
        if other and not is_left:
            return other
        part = max(1, self._share // len({*costly, *running}))
        has_less = (each for each in costly if self._running[each] < part)
        return next(has_less, costly[0] if is_left else None)

    def begin(self, call: Call) -> None:
        """Note that it begins: it waits no longer, and its queue has its next turn after all others."""
        self._waiting.move_to_end(call.queue)
        self.remove(call)
        self._running[call.queue] += 1

    def end(self, call: Call, seconds: float) -> None:
        """Note that it has ended, and how long it had the processor."""
        queue = call.queue
        self._running[queue] -= 1
        if not self._running[queue]:
            del self._running[queue]
        if _is_counted(queue):
            self._spend(queue, seconds)

    def _first(self, queue: Queue) -> Call:
        return next(iter(self._waiting[queue].values()))

    def _is_costly(self, queue: Queue, now: float) -> bool:
        if not _is_counted(queue):
            return False
        return self._spent_lately(queue, now) + self._running[queue] * RUNNING >= LITTLE

    def _spend(self, queue: Queue, seconds: float) -> None:
        now = time.monotonic()
        self._spent[queue] = (self._spent_lately(queue, now) + seconds, now)
        self._spent.move_to_end(queue)
        if len(self._spent) > REMEMBERED:
            self._spent.popitem(last=False)

    def _spent_lately(self, queue: Queue, now: float) -> float:
        seconds, then = self._spent.get(queue, (0, now))
        return seconds * 0.5 ** ((now - then) / HALVED)


def _is_counted(queue: Queue) -> bool:
    return queue.has_costs and queue.caller is not None
