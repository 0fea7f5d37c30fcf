"""`script/bench forwarding`: reports that become issues, with GitHub answering after 300 ms.

Inline, the request waits for GitHub; with the queue, workers send. GitHub is the sandbox, which is
part of this run and takes its share of the machine, but is not counted.
"""

import math
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from integrations.models import Delivery
from sandbox import CodeHost
from tests.bench import databases, figures, rounds
from tests.bench.figures import Goal, Sample, Thing
from tests.bench.intake import NEW, OWNED, body, redis_of
from tests.bench.machine import Watch
from tests.bench.outcome import Outcome
from tests.bench.rounds import Generator, Task, say
from tests.bench.servers import Hub, Server, new_row_count
from tests.conftest import new_code_host, settings_for
from tests.hub_process import ROOT

GITHUB = 0.3  # seconds until it answers, to everything
AT_ONCE = 32  # forwards
UNRELATED = 4  # connections with reports about nobody's pages
ORGANIZATIONS = 8  # that the reports are about, each with an installation of its own
WORKERS = 4  # processes that send what is queued
HEAD_START = 1.0  # seconds until what has begun goes its way
HANG = 9.0  # seconds; the Hub gives up after 10
HANGING_BY = 4.0  # seconds, by when they all hang
LONGEST = HANG - HANGING_BY - HEAD_START  # seconds in which they do
MOST = 0.9  # of the reports, whose issues the rate is about
PATIENCE = 120  # seconds until all that is queued has to be sent
INLINE, QUEUE = "hub, inline", f"hub, queue, {WORKERS} workers"
IDLE, BUSY = "nobody's pages, idle", f"nobody's pages, {AT_ONCE} forwards hang"
CROWDED = f"nobody's pages, {AT_ONCE} senders of others"
FORWARDED = "becomes an issue"


class Place(NamedTuple):
    """A Hub with its database and the code host, and the processes that send."""

    server: Server
    host: CodeHost
    url: str
    workers: list[subprocess.Popen]

    @property
    def pids(self) -> list[int]:
        """Of all that works for the Hub."""
        return [self.server.pid, *(each.pid for each in self.workers)]


def run(options: Namespace, folder: Path) -> Outcome:
    """Measure inline and queue in turn."""
    samples: list[Sample] = []
    with ExitStack() as stack:
        redis = redis_of(stack, options)
        server = databases.PostgreSQL()
        inline = stack.enter_context(_place(server, INLINE, redis))
        queue = stack.enter_context(_place(server, QUEUE, redis))
        generators = [stack.enter_context(rounds.generator()) for _ in range(2)]
        for number in range(options.quick, options.rounds + 1):  # round 0 is to warm up
            for sample in _round(inline, queue, generators, options.seconds, number):
                say(f"round {number} of {options.rounds}: {rounds.line(sample)}")
                samples += [sample] if number else []
    note = (
        f"GitHub answers after {GITHUB * 1000:.0f} ms. CPU of what becomes an issue is that of the "
        "Hub's processes and its workers, from the report to the issue; beside nobody's pages, it "
        f"includes that of the others' reports. `{AT_ONCE} forwards hang` for the whole round, and use no CPU; "
        f"`{AT_ONCE} senders` send the next report as soon as GitHub has answered, and use all they get."
    )
    return Outcome("forwarding", samples, list(goals(samples)), notes=[note])


def goals(samples: list[Sample]) -> Iterator[Goal]:
    """How much slower the slowest of the unrelated get."""
    idle, busy = (Thing(INLINE, what, UNRELATED) for what in (IDLE, BUSY))
    if ratios := figures.ratios(samples, busy, idle, "p99"):
        name = f"p99 of nobody's pages while {AT_ONCE} forwards hang, against idle"
        yield Goal(name, ratios, 2.0, 1.2, at_most=True)


@contextmanager
def _place(server: databases.PostgreSQL, name: str, redis: str) -> Iterator[Place]:
    """Each has a code host of its own, on which organizations are installed."""
    host = new_code_host()
    is_queue = name == QUEUE
    url = server.create("queue" if is_queue else "inline")
    databases.migrate(url)
    databases.own_pages(url, host, organizations=ORGANIZATIONS)
    with ExitStack() as stack:
        stack.enter_context(host.serving())
        _answer_after(host, GITHUB)
        settings = {**settings_for(host), "HUB_FORWARDING": "queue" if is_queue else "inline"}
        hub = stack.enter_context(Hub(url, redis=redis, maintain=True, **settings))
        workers = [stack.enter_context(_worker(hub)) for _ in range(WORKERS if is_queue else 0)]
        rows = new_row_count(url)
        measured = Server(name, hub.port, hub.process.pid, server.pid, rows)
        yield Place(measured, host, url, workers)


@contextmanager
def _worker(hub: Hub) -> Iterator[subprocess.Popen]:
    """Sends what is queued, as the README says."""
    command = [sys.executable, "manage.py", "db_worker", "--no-startup-delay", "-v", "0"]
    process = subprocess.Popen(command, cwd=ROOT, env=hub.environment(), start_new_session=True)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(60)


def _round(
    inline: Place, queue: Place, generators: list[Generator], seconds: float, number: int
) -> Iterator[Sample]:
    first, second = generators
    for place in (inline, queue):
        yield _unrelated(place, IDLE, first, seconds, number)
        yield _forwarded(place, first, seconds, number)
    related = Task(inline.server, OWNED, body(OWNED))
    with _all_sent(inline):
        sending = second.begin(related.job(AT_ONCE, seconds=seconds + 2 * HEAD_START))
        time.sleep(HEAD_START)
        yield _unrelated(inline, CROWDED, first, seconds, number)
        sending.result()
    with _all_sent(inline):
        seconds = min(seconds, LONGEST)
        _answer_after(inline.host, HANG)
        sending = second.begin(related.job(2 * AT_ONCE, most=2 * AT_ONCE))
        say(f"{_wait_until_hanging(inline)} forwards hang")
        time.sleep(HEAD_START)  # for the reports that found no slot and were answered at once
        yield _unrelated(inline, BUSY, first, seconds, number)
        sending.result()
        _answer_after(inline.host, GITHUB)


def _unrelated(
    place: Place, what: str, generator: Generator, seconds: float, number: int
) -> Sample:
    """Reports about nobody's pages; others may store some meanwhile."""
    task = Task(place.server, what, body(NEW), adds=True if what == IDLE else None)
    return task.measure(generator, connections=UNRELATED, seconds=seconds, number=number)


def _answer_after(host: CodeHost, seconds: float) -> None:
    host.faults.clear()
    host.fail("slow", method="*", path="/api/*", times=1_000_000_000, seconds=seconds)


@contextmanager
def _all_sent(place: Place) -> Iterator[None]:
    """When the block is left, everything is sent before anything else is measured."""
    yield
    databases.use(place.url)
    _wait_until_sent(Delivery.objects.count())


def _wait_until_hanging(place: Place) -> int:
    """How many forwards hang, as soon as there are enough, or there will be no more."""
    databases.use(place.url)
    deadline = time.monotonic() + HANGING_BY
    while time.monotonic() < deadline:
        hanging = Delivery.objects.filter(status=Delivery.Status.SENDING).count()
        if hanging >= AT_ONCE:
            break
        time.sleep(0.05)
    return hanging


def _forwarded(place: Place, generator: Generator, seconds: float, number: int) -> Sample:
    """Some reports, until the last issue is there.

    The rate is that of the first nine tenths: what finds no free slot is sent by `maintain` later.
    """
    databases.use(place.url)
    before = Delivery.objects.count()
    reports = math.ceil(seconds / GITHUB * (len(place.workers) or AT_ONCE))
    task = Task(place.server, FORWARDED, body(OWNED))
    watch, begun = Watch(place.pids, place.server.database), time.perf_counter()
    sending = generator.begin(task.job(AT_ONCE, most=reports))
    _wait_until_sent(before + math.ceil(reports * MOST))
    took = time.perf_counter() - begun
    sent = sending.result()
    _wait_until_sent(before + reports)
    thing = Thing(place.server.name, FORWARDED, AT_ONCE)
    return rounds.sample(thing, number, sent._replace(seconds=took / MOST), watch.spent())


def _wait_until_sent(deliveries: int) -> None:
    """Raises `rounds.Wrong` if it takes too long."""
    deadline = time.monotonic() + PATIENCE
    while (there := Delivery.objects.filter(status=Delivery.Status.SENT).count()) < deliveries:
        if time.monotonic() > deadline:
            raise rounds.Wrong(f"Only {there} of {deliveries} reports became issues: {_states()}.")
        time.sleep(0.05)


def _states() -> str:
    found = Delivery.objects.exclude(status=Delivery.Status.SENT).values_list("status", "reason")
    return "; ".join(f"{status}: {reason}" for status, reason in found.distinct()[:5])
