"""`script/bench parts`: what runs where nothing happens, and the work on the largest hostile texts."""

import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from integrations.issue import rendering
from reports import secrets
from tests.bench import databases, rounds
from tests.bench.figures import Goal, Sample, Thing
from tests.bench.load import Sent
from tests.bench.machine import Watch
from tests.bench.outcome import Outcome
from tests.bench.servers import Hub
from tests.hub_process import ROOT

HOSTILE = "@a #1 www.x.y https://z.z GH-1 ``` <!-- \\" * 1600  # 64 KiB, the largest that comes in
STARTING = 10.0  # seconds until `maintain` has run each of its jobs once
IDLE = "a second of maintain, with nothing to do"
IN_PROCESS = "in this process"


def run(options: Namespace, folder: Path) -> Outcome:
    """Measure each in turn."""
    samples: list[Sample] = []
    fields = dict.fromkeys(rendering.PLACEHOLDERS, HOSTILE)
    work: dict[str, Callable[[], object]] = {
        "removing secrets from 64 KiB": partial(secrets.remove, HOSTILE),
        "an issue of hostile text": partial(rendering.render_issue, "{details}", fields),
    }
    with _maintain(folder) as maintain:
        time.sleep(0 if options.quick else STARTING)
        for number in range(1, options.rounds + 1):
            for what, call in work.items():
                samples.append(_called(what, call, options.seconds, number))
            samples.append(_idle(maintain, options.seconds, number))
            rounds.say(f"round {number} of {options.rounds}: {rounds.line(samples[-1])}")
    return Outcome("parts", samples, list(goals(samples)), notes=[])


def goals(samples: list[Sample]) -> Iterator[Goal]:
    """An idle installation costs next to nothing."""
    if used := [each.cpu / each.seconds for each in samples if each.thing.what == IDLE]:
        yield Goal("maintain with nothing to do, share of a core", used, 0.005, 0.002, at_most=True)


@contextmanager
def _maintain(folder: Path) -> Iterator[int]:
    """The process that does the maintenance of an empty Hub."""
    url = f"sqlite:///{folder / 'idle.sqlite3'}"
    databases.migrate(url)
    command = [sys.executable, "manage.py", "maintain"]
    process = subprocess.Popen(command, cwd=ROOT, env=Hub(url).environment())
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait(60)


def _idle(maintain: int, seconds: float, number: int) -> Sample:
    watch, begun = Watch([maintain], None), time.perf_counter()
    time.sleep(seconds)
    spent, took = watch.spent(), time.perf_counter() - begun
    each = [took / max(1, round(took))] * max(1, round(took))
    return rounds.sample(Thing("maintain", IDLE, 1), number, Sent(took, each), spent)


def _called(what: str, call: Callable[[], object], seconds: float, number: int) -> Sample:
    """As often as there is time, in this process."""
    watch, cpu, begun = Watch([], None), time.process_time(), time.perf_counter()
    latencies: list[float] = []
    while (now := time.perf_counter()) - begun < seconds:
        call()
        latencies.append(time.perf_counter() - now)
    sent = Sent(time.perf_counter() - begun, latencies)
    spent = watch.spent()._replace(server=time.process_time() - cpu)
    return rounds.sample(Thing(IN_PROCESS, what, 1), number, sent, spent)
