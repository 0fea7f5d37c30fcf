"""Measures several servers in turn, again and again, and checks what they stored."""

import sys
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from itertools import count
from multiprocessing import get_context
from typing import NamedTuple

from tests.bench import load
from tests.bench.figures import Sample, Thing, percentile
from tests.bench.load import PAGES, Job
from tests.bench.machine import Spent, Watch
from tests.bench.servers import LOG, Server

numbers = count(1, 10_000_000)  # where the numbers of each run begin; none is sent twice


class Wrong(Exception):
    """What a server stored is not what it answered."""


class Task(NamedTuple):
    """What is sent to a server: `what` it is called, and the body's template.

    `adds` says whether each request adds a row; None if others add some meanwhile.
    """

    server: Server
    what: str
    body: str
    adds: bool | None = True

    def warm_up(self, generator: "Generator") -> None:
        """Some requests that are not counted; each page once, so that all duplicates have their first."""
        generator.send(self.job(8, most=PAGES))

    def measure(
        self, generator: "Generator", *, connections: int, seconds: float, number: int
    ) -> Sample:
        """One round. Raises `Wrong` if the rows are not as many as the answers."""
        before = self.server.rows()
        watch = Watch([self.server.pid], self.server.database)
        sent = generator.send(self.job(connections, seconds=seconds))
        spent = watch.spent()
        self._check(self.server.rows() - before, len(sent.latencies))
        return sample(Thing(self.server.name, self.what, connections), number, sent, spent)

    def job(self, connections: int, *, seconds: float = 3600.0, most: int = 1_000_000_000) -> Job:
        """For the generator, until one of the two is reached; with numbers that no other job has."""
        server, first = self.server, next(numbers)
        return Job(server.port, server.path, self.body, connections, first, seconds, most)

    def _check(self, added: int, answers: int) -> None:
        expected = answers if self.adds else 0
        if self.adds is not None and added != expected:
            raise Wrong(
                f"{self.server.name} answered {answers} times to {self.what}, and has {added} rows "
                f"more instead of {expected}: look at its errors above, or those of the Hub in {LOG}."
            )


def sample(thing: Thing, number: int, sent: load.Sent, spent: Spent) -> Sample:
    """What the generator and the machine say, as one round of a thing."""
    milliseconds = [each * 1000 for each in sent.latencies]
    return Sample(
        thing,
        number,
        len(milliseconds),
        sent.seconds,
        spent.server,
        spent.database,
        spent.others,
        percentile(milliseconds, 50),
        percentile(milliseconds, 99),
    )


class Generator:
    """The load generator in a process of its own."""

    def __init__(self, pool: ProcessPoolExecutor) -> None:
        self._pool = pool

    def send(self, job: Job) -> load.Sent:
        """Send all of it and wait."""
        return self.begin(job).result()

    def begin(self, job: Job) -> Future[load.Sent]:
        """Begin to send."""
        return self._pool.submit(load.run, job)


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
                    seen = task.measure(
                        load_generator, connections=clients, seconds=seconds, number=number
                    )
                    say(f"round {number} of {rounds}: {line(seen)}")
                    yield seen


def say(words: str) -> None:
    """Progress, for whoever waits."""
    print(words, file=sys.stderr, flush=True)


def line(seen: Sample) -> str:
    """A round in short."""
    thing = seen.thing
    return (
        f"{thing.what}, c = {thing.connections}: {thing.server}: {seen.rate:.0f}/s, "
        f"{seen.cpu_each:.2f} ms CPU, others {seen.others:.0%}"
    )
