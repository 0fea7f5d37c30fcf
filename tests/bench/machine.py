"""What processes with all their children have used, and what else the machine did meanwhile."""

import os
import time
from collections.abc import Sequence
from typing import NamedTuple

import psutil


class Spent(NamedTuple):
    """Between two looks: CPU seconds of the server and its database, and what others took.

    `others` is a share of the whole machine, 0 to 1: of all processes that do not belong to this run,
    and of the host, where it gave this machine less than it asked for.
    """

    server: float
    database: float
    others: float


class Watch:
    """Begins to look when it is made."""

    def __init__(self, server: Sequence[int], database: int | None) -> None:
        self._server, self._database = server, [database] if database else []
        self._before = self._look()

    def spent(self) -> Spent:
        """Since it was made."""
        now, before = self._look(), self._before
        server, database, ours, all_of_it, at = (a - b for a, b in zip(now, before, strict=True))
        capacity = max(at, 0.001) * (os.cpu_count() or 1)
        return Spent(server, database, min(1.0, max(0.0, (all_of_it - ours) / capacity)))

    def _look(self) -> tuple[float, float, float, float, float]:
        return (
            used_by(*self._server),
            used_by(*self._database),
            used_by(os.getpid(), *self._server, *self._database),
            _busy(),
            time.perf_counter(),
        )


def used_by(*pids: int) -> float:
    """CPU seconds, user and system, of these processes and their children, living and ended."""
    return sum(_used(process) for process in {each for pid in pids for each in _tree(pid)})


def _tree(pid: int) -> list[psutil.Process]:
    try:
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _used(process: psutil.Process) -> float:
    try:
        return sum(process.cpu_times()[:4])  # its own, and what its ended children have used
    except psutil.NoSuchProcess:
        return 0.0


def _busy() -> float:
    """CPU seconds of all that runs, and those that the host kept for itself."""
    times = psutil.cpu_times()
    return (
        times.user
        + times.nice
        + times.system
        + sum(getattr(times, name, 0.0) for name in ("irq", "softirq", "steal"))
    )
