"""The work that nobody asks for: retries, probes, and what runs on a schedule."""

import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import NamedTuple

from django.conf import settings
from django.core.management import call_command
from django.db import connection

from hub import pruning
from hub.models import Lease
from integrations.delivery import holds, ownership_changes, pacing, retries, turns
from integrations.github_sync import reconciling
from orgs.domains import reverification

log = logging.getLogger(__name__)

RUNNER = "maintain"
LEASE = timedelta(seconds=40)  # with RENEW: a runner that was killed is replaced within a minute
RENEW = 10  # seconds
PAUSE = 1  # seconds between two rounds
LONGEST_JOB = 30  # seconds, where a job can be told to stop; all others wait for it


class Job(NamedTuple):
    """Something that is run once every so often in the whole installation."""

    name: str
    every: timedelta
    run: Callable[[Callable[[], bool]], object]  # given what says whether to go on


def _prune_queue(go_on: Callable[[], bool]) -> None:
    """Forget tasks that are done; what became of a delivery is in its own row."""
    if settings.HUB_FORWARDING == "queue":
        call_command("prune_db_task_results", verbosity=0)


JOBS = [
    Job("probe", timedelta(minutes=1), lambda go_on: holds.probe()),
    Job(
        "regained pages",
        timedelta(minutes=1),
        partial(ownership_changes.release_all_regained, bookmark=ownership_changes.Bookmark()),
    ),
    Job("domains", timedelta(minutes=5), reverification.maintain),
    Job("reconcile installations", timedelta(minutes=1), reconciling.reconcile_due),
    Job("forget sources", timedelta(hours=1), pacing.forget_sources),
    Job("prune queue", timedelta(days=1), _prune_queue),
    Job("prune", timedelta(hours=1), pruning.prune),  # what takes longer goes on in the next hour
]


class Runner:
    """One process that does the maintenance while it has the lease, and stands by while not."""

    def __init__(self) -> None:
        self.name = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self.stopping = threading.Event()
        self._mine = threading.Event()

    def run(self) -> None:
        """Until `stopping` is set."""
        threading.Thread(target=self._hold_lease, daemon=True).start()
        while not self.stopping.is_set():
            if self._mine.wait(PAUSE):
                self._round()
                self.stopping.wait(PAUSE)
        Lease.objects.give_back(RUNNER, holder=self.name)

    def _round(self) -> None:
        """What is due, then the jobs whose time has come; two short queries where nothing is."""
        self._do("retry", self._retry)
        self._do("jobs", self._run_jobs)
        connection.close()

    def _retry(self) -> None:
        if turns.is_anything_due():
            retries.retry(turns.due_ids(), go_on=self._for_a_while())

    def _run_jobs(self) -> None:
        free = Lease.objects.free(job.name for job in JOBS)
        for job in JOBS:
            if job.name in free:
                self._do(job.name, partial(self._run_in_turn, job))

    def _run_in_turn(self, job: Job) -> None:
        if self._go_on() and Lease.objects.take_turn(job.name, every=job.every):
            job.run(self._for_a_while())

    def _for_a_while(self) -> Callable[[], bool]:
        """What says whether a job that begins now may go on."""
        until = time.monotonic() + LONGEST_JOB
        return lambda: self._go_on() and time.monotonic() < until

    def _do(self, name: str, work: Callable[[], object]) -> None:
        """An error ends one piece of work, and neither the others nor the runner."""
        try:
            work()
        except Exception:
            log.exception("Maintenance broke off at: %s", name)
            connection.close()
            self.stopping.wait(PAUSE)

    def _go_on(self) -> bool:
        return self._mine.is_set() and not self.stopping.is_set()

    def _hold_lease(self) -> None:
        """Take the lease when it is free, and prolong it for as long as this process lives."""
        while not self.stopping.is_set():
            try:
                mine = Lease.objects.take(RUNNER, holder=self.name, duration=LEASE)
            except Exception:
                log.exception("The maintenance lease could not be asked for")
                mine = False
            finally:
                connection.close()
            (self._mine.set if mine else self._mine.clear)()
            self.stopping.wait(RENEW)
