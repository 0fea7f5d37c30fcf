"""Measures several servers in turn, again and again, and checks what they stored."""

import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import count
from multiprocessing import get_context
from typing import NamedTuple

from tests.bench import load
from tests.bench.figures import Sample, Thing, percentile
from tests.bench.load import PAGES, Job
from tests.bench.machine import Watch
from tests.bench.servers import Server

numbers = count(1, 10_000_000)  # where the numbers of each run begin; none is sent twice


class Wrong(Exception):
    """What a server stored is not what it answered."""


class Task(NamedTuple):
    """What is sent to a server: `what` it is called, and the body's template.

    `adds` says whether each request adds a row.
    """

    server: Server
    what: str
    body: str
    adds: bool = True

    def warm_up(self, generator: "Generator") -> None:
        """Some requests that are not counted; each page once, so that all duplicates have their first."""
        generator.send(self._job(8, most=PAGES))

    def measure(
        self, generator: "Generator", *, connections: int, seconds: float, number: int
    ) -> Sample:
        """One round. Raises `Wrong` if the rows are not as many as the answers."""
        before = self.server.rows()
        watch = Watch(self.server.pid, self.server.database)
        sent = generator.send(self._job(connections, seconds=seconds))
        spent = watch.spent()
        requests = len(sent.latencies)
        self._check(self.server.rows() - before, requests)
        milliseconds = [each * 1000 for each in sent.latencies]
        return Sample(
            Thing(self.server.name, self.what, connections),
            number,
            requests,
            sent.seconds,
            spent.server,
            spent.database,
            spent.others,
            percentile(milliseconds, 50),
            percentile(milliseconds, 99),
        )

    def _job(self, connections: int, **until: float) -> Job:
        server = self.server
        return Job(server.port, server.path, self.body, connections, next(numbers), **until)  # type: ignore[arg-type]

    def _check(self, added: int, answers: int) -> None:
        expected = answers if self.adds else 0
        if added != expected:
            raise Wrong(
                f"{self.server.name} answered {answers} times to {self.what}, and has {added} rows "
                f"more instead of {expected}: look at its errors above."
            )


class Generator:
    """The load generator in a process of its own."""

    def __init__(self, pool: ProcessPoolExecutor) -> None:
        self._pool = pool

    def send(self, job: Job) -> load.Sent:
        """Send all of it and wait."""
        return self._pool.submit(load.run, job).result()


@contextmanager
def generator() -> Iterator[Generator]:
    """Started once, for all rounds."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        yield Generator(pool)


def measured(
    tasks: list[Task], *, connections: list[int], rounds: int, seconds: float
) -> Iterator[Sample]:
    """All tasks with each number of connections, in each round; every other round backwards."""
    with generator() as load_generator:
        for task in tasks:
            say(f"warming up: {task.what}: {task.server.name}")
            task.warm_up(load_generator)
        for number in range(1, rounds + 1):
            for clients in connections:
                for task in tasks[:: 1 if number % 2 else -1]:
                    sample = task.measure(
                        load_generator, connections=clients, seconds=seconds, number=number
                    )
                    say(f"round {number} of {rounds}: {_line(sample)}")
                    yield sample


def say(words: str) -> None:
    """Progress, for whoever waits."""
    print(words, file=sys.stderr, flush=True)


def _line(sample: Sample) -> str:
    thing = sample.thing
    return (
        f"{thing.what}, c = {thing.connections}: {thing.server}: {sample.rate:.0f}/s, "
        f"{sample.cpu_each:.2f} ms CPU, others {sample.others:.0%}"
    )
