"""One run from its beginning to its verdict."""

import json
import logging
import threading
import time
from argparse import Namespace
from collections import Counter
from pathlib import Path
from typing import Protocol

from django.core import serializers
from django.db import connection

from integrations.models import Alert, Attempt, Comment, Delivery
from reports.models import Report
from tests.chaos import log_lines, oracle, settling
from tests.chaos.at_github import AtGitHub
from tests.chaos.building import built
from tests.chaos.driver import Driver
from tests.chaos.evidence import Evidence
from tests.chaos.faults import Fault
from tests.chaos.journal import Journal
from tests.chaos.load import Load
from tests.chaos.members import Members
from tests.chaos.memory import Memory, grown
from tests.chaos.oracle import UNEXPLAINED, Finding
from tests.chaos.schedule import Planned
from tests.chaos.verdict import Verdict
from tests.chaos.world import World
from tests.hub_process import collect_static_files

ORGANIZATIONS = 6
MOST_KEPT = 100  # ids of which all is written down
PROGRESS = 10  # seconds between two lines


class Busy(Protocol):
    """What goes on while there is load."""

    def start(self) -> None:
        """Begin."""

    def stop(self) -> None:
        """End, once what was begun is done."""


class Errors(logging.Handler):
    """Notes what this process logs as an error while it lets time pass."""

    def __init__(self, errors: list[str]) -> None:
        super().__init__(logging.ERROR)
        self._errors = errors

    def emit(self, record: logging.LogRecord) -> None:
        """Note a line with its traceback."""
        self._errors.append(logging.Formatter().format(record))


def run(
    folder: Path, options: Namespace, kinds: dict[str, Fault], planned: dict[str, list[Planned]]
) -> Verdict:
    """Load and faults, then hours that pass, then the oracle."""
    collect_static_files()
    journal = Journal(folder / "journal.jsonl")
    drawn = {"seed": options.seed, "pause": options.pause}
    with built(folder, options.database, organizations=ORGANIZATIONS, queue=options.queue) as (
        world,
        members,
    ):
        load = Load(
            world.hub.url,
            journal,
            clients=options.clients,
            organizations=ORGANIZATIONS,
            **drawn,
        )
        people = Members(world, members, load, journal, **drawn)
        memory, driver = Memory(world.hub), Driver(world, journal, kinds, planned)
        threading.excepthook = driver.note_error
        logging.getLogger().addHandler(Errors(driver.errors))
        busy = [memory, load, people, AtGitHub(world.host, journal, **drawn), driver]
        minutes = _let_go_on(busy, journal, driver, options.minutes)
        people.resume_all()
        world.host.faults.clear()
        world.hub.stop()
        settling.settle(_told)
        verdict = _verdict(world, journal, driver, memory, options)
        verdict.minutes = minutes
        _keep(folder, journal, verdict)
        connection.close()
    return verdict


def _let_go_on(busy: list[Busy], journal: Journal, driver: Driver, minutes: float) -> float:
    """Start all of it, and stop it after so many minutes or at Ctrl-C; how many it were."""
    begun = time.monotonic()
    end = begun + minutes * 60
    try:
        for each in busy:
            each.start()
        while time.monotonic() < end:
            _progress(journal, driver, begun)
            time.sleep(min(PROGRESS, max(0.0, end - time.monotonic())))
    except KeyboardInterrupt:
        print("Interrupted: the verdict is about what was so far.", flush=True)
    lasted = round((time.monotonic() - begun) / 60, 2)
    for each in reversed(busy):  # the faults first
        each.stop()
    return min(lasted, minutes)


def _progress(journal: Journal, driver: Driver, begun: float) -> None:
    statuses = Counter(str(each.status) for each in list(journal.entries))
    now = " and ".join(driver.now.values()) or "no fault"
    print(
        f"{time.monotonic() - begun:6.0f} s  {sum(statuses.values())} requests "
        f"({', '.join(f'{number} {name}' for name, number in sorted(statuses.items()))}), "
        f"{sum(driver.injected.values())} faults; now {now}",
        flush=True,
    )


def _told(number: int, state: Counter[str]) -> None:
    print(
        f"settling, hour {number}: {', '.join(f'{n} {name}' for name, n in sorted(state.items()))}",
        flush=True,
    )


def _verdict(
    world: World, journal: Journal, driver: Driver, memory: Memory, options: Namespace
) -> Verdict:
    log = list(log_lines.errors(world.hub.log))
    evidence = Evidence(journal.entries, world.host, world.notes, log)
    findings = [Finding(UNEXPLAINED, f"Went wrong itself: {each}") for each in driver.errors]
    issues = evidence.issues()
    return Verdict(
        database=options.db,
        seed=options.seed,
        minutes=options.minutes,
        answers=Counter(str(each.status or "without an answer") for each in journal.entries),
        accepted=len(evidence.accepted()),
        reports=Report.objects.count(),
        issues=len(issues),
        comments=sum(each.by_app for issue in issues for each in issue.comments),
        alerts=Alert.objects.count(),
        deliveries=settling.state(),
        reasons=settling.reasons(),
        injected=driver.injected,
        missed=driver.missed,
        left_out=driver.left_out,
        memory=grown(memory.samples),
        findings=findings + oracle.ask(evidence),
        command=again(options),
    )


def again(options: Namespace) -> str:
    """The command that draws and sends the same."""
    words = [f"--{name} {getattr(options, name)}" for name in ("db", "seed", "clients")]
    words += [f"--{name} {getattr(options, name):g}" for name in ("minutes", "pause")]
    return " ".join(["script/chaos", *words, *(["--queue"] if options.queue else [])])


def _keep(folder: Path, journal: Journal, verdict: Verdict) -> None:
    """What happened to what is wrong, in order, and the rows of it."""
    (folder / "verdict.json").write_text(json.dumps(verdict.as_json(), indent=1), encoding="utf-8")
    ids = {each.id for each in verdict.findings if each.id}
    parts = []
    for each in sorted(ids)[:MOST_KEPT]:
        rows = [
            *Report.objects.filter(pk=each),
            *Delivery.objects.filter(report=each),
            *Attempt.objects.filter(delivery__report=each),
            *Comment.objects.filter(lead__report=each),
        ]
        said = [f"{one.kind}: {one.what}" for one in verdict.findings if one.id == each]
        parts += [each, *said, serializers.serialize("json", rows), *journal.about(each), ""]
    journal.close()
    (folder / "findings.txt").write_text("\n".join(parts), encoding="utf-8")
