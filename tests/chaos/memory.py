"""How much memory the server's processes hold while the run lasts."""

import threading
import time
from statistics import median
from typing import NamedTuple

import psutil

from tests.chaos.world import Hub

EVERY = 2.0  # seconds
MIB = 1024 * 1024
MOST_GROWTH = 0.10  # of the median of the middle third
FEW = 30  # samples; fewer show nothing
WARM = 30  # seconds after which a process that was started again counts: until then it still loads


class Sample(NamedTuple):
    """The resident bytes of each process that ran at one moment, by when it was started and its id."""

    at: float
    sizes: dict[tuple[float, int], int]

    @property
    def total(self) -> int:
        return sum(self.sizes.values())

    @property
    def is_warm(self) -> bool:
        """Whether none of them was started a moment ago."""
        return all(started + WARM <= self.at for started, _ in self.sizes)


class Memory(threading.Thread):
    """Looks every two seconds."""

    def __init__(self, hub: Hub) -> None:
        super().__init__(name="memory", daemon=True)
        self._hub = hub
        self.samples: list[Sample] = []
        self.stopping = threading.Event()

    def run(self) -> None:
        while not self.stopping.wait(EVERY):
            self.samples.append(
                Sample(time.time(), dict(filter(None, map(_size, self._hub.tree()))))
            )

    def stop(self) -> None:
        """Look no more."""
        self.stopping.set()
        self.join()


def _size(process: psutil.Process) -> tuple[tuple[float, int], int] | None:
    try:
        return (process.create_time(), process.pid), process.memory_info().rss
    except psutil.Error:
        return None


class Grown(NamedTuple):
    """Medians of the middle and the last third in bytes, and how many processes there were in all."""

    middle: int
    last: int
    most_at_once: int
    processes: int

    @property
    def is_flat(self) -> bool:
        return self.last <= self.middle * (1 + MOST_GROWTH)


def grown(samples: list[Sample]) -> Grown | None:
    """Of the moments in which all of the processes ran for a while; None where there were too few."""
    most = max((len(each.sizes) for each in samples), default=0)
    whole = [each for each in samples if len(each.sizes) == most and each.is_warm]
    if len(whole) < FEW:
        return None
    third = len(whole) // 3
    ever = {process for each in samples for process in each.sizes}
    middle = int(median(each.total for each in whole[third : 2 * third]))
    last = int(median(each.total for each in whole[2 * third :]))
    return Grown(middle, last, most, len(ever))
