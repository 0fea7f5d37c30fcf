"""Background work: retries, probes, and periodic jobs."""

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

from django.db import connection

from core.watching import metrics
from hub import clock_put_back, pruning
from hub.models import Lease
from hub.sqlite3 import journal
from integrations.alerts import causes, sending
from integrations.comments import sending as comments
from integrations.delivery import (
    catching_up,
    holds,
    operator_holds,
    ownership_changes,
    pacing,
    retries,
    turns,
)
from integrations.folding import rebuilding, verdicts
from integrations.github_sync import reconciling, visibility
from orgs.discovery import checking
from orgs.domains import reverification
from orgs.people import leaving

log = logging.getLogger(__name__)

RUNNER = "maintain"
LEASE = timedelta(seconds=40)  # with RENEW: a killed runner is replaced within a minute
RENEW = 10  # seconds
PAUSE = 1  # seconds between two rounds
LONGEST_JOB = 30  # seconds, for a job that can be stopped; all others wait for it
SHORT = 3  # seconds, for what may take many turns and nobody waits for,
OFTEN = timedelta(seconds=10)  # and how often it has one


class Job(NamedTuple):
    """Something that runs once per interval in the whole installation."""

    name: str
    every: timedelta
    run: Callable[[Callable[[], bool]], object]  # gets a function that tells whether to continue
    longest: int | None = None  # seconds of one turn; None: `LONGEST_JOB`
    asks_strangers: bool = False  # waits for servers of others, so nothing may wait for it


JOBS = [
    Job(
        "clock",
        timedelta(minutes=1),
        partial(clock_put_back.note, bookmark=clock_put_back.Bookmark()),
    ),
    Job("catch up", timedelta(minutes=1), catching_up.catch_up),
    Job(
        "operators' holds",
        timedelta(minutes=1),
        partial(operator_holds.follow, bookmark=operator_holds.Bookmark()),
    ),
    Job("probe", timedelta(minutes=1), holds.probe),
    Job("alerts", timedelta(minutes=5), partial(causes.compare, bookmark=causes.Bookmark())),
    Job(
        "regained pages",
        timedelta(minutes=1),
        partial(ownership_changes.release_all_regained, bookmark=ownership_changes.Bookmark()),
    ),
    Job("domains", timedelta(minutes=5), reverification.maintain, asks_strangers=True),
    Job("public files", timedelta(minutes=5), checking.maintain, asks_strangers=True),
    Job(
        "reconcile installations",
        timedelta(minutes=1),
        partial(reconciling.reconcile_due, bookmark=reconciling.Bookmark()),
        asks_strangers=True,  # GitHub, about as many and as long issues as they like
    ),
    Job("left repositories", timedelta(days=1), visibility.hide_left),
    Job("visibility", OFTEN, visibility.finish, longest=SHORT),
    Job("terms", timedelta(hours=1), partial(rebuilding.rebuild, bookmark=rebuilding.Bookmark())),
    Job(
        "erased words",
        timedelta(hours=1),
        partial(verdicts.forget_rest, bookmark=verdicts.Bookmark()),
    ),
    Job("forget sources", timedelta(hours=1), pacing.forget_sources),
    Job("organizations that were left", OFTEN, leaving.delete_left, longest=SHORT),
    Job("sessions", OFTEN, pruning.prune_sessions, longest=SHORT),
    Job("prune queue", timedelta(days=1), pruning.prune_queue),
    Job("journal", timedelta(minutes=1), journal.shorten),
    # What takes longer continues in the next hour.
    Job("prune", timedelta(hours=1), partial(pruning.prune, bookmark=pruning.Bookmark())),
]


class Runner:
    """Does the maintenance while this process holds the lease, and waits while another does."""

    def __init__(self) -> None:
        self.name = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self.stopping = threading.Event()
        self._slow: set[int] = set()  # installations about which GitHub was slow the last time
        self._mine = threading.Event()

    def run(self) -> None:
        """Run until `stopping` is set."""
        threading.Thread(target=self._hold_lease, daemon=True).start()
        asking = threading.Thread(target=self._ask_strangers, daemon=True)
        asking.start()
        while not self.stopping.is_set():
            if self._mine.wait(PAUSE):
                self._round()
                self.stopping.wait(PAUSE)
        asking.join()
        Lease.objects.give_back(RUNNER, holder=self.name)

    def _ask_strangers(self) -> None:
        """Run the jobs that wait for servers of others, which may be slow at will, beside all else."""
        while not self.stopping.is_set():
            if self._mine.wait(PAUSE):
                self._do("jobs", partial(self._run_jobs, asking_strangers=True))
                connection.close()
                self.stopping.wait(OFTEN.total_seconds())

    def _round(self) -> None:
        """Deliver what is due, then run the jobs that are due; five short queries if there is nothing to do.

        Times that cannot have come are moved back first, so that nothing here is done by them.
        Alerts and comments go first: they are few, and a flood of reports leaves no room in the pace.
        """
        self._do("times", partial(clock_put_back.move_times_back, self._go_on))
        self._do("alerts", self._alert)
        self._do("comments", self._comment)
        self._do("retry", self._retry)
        self._do("jobs", self._run_jobs)
        connection.close()
        metrics.rounds.up()

    def _alert(self) -> None:
        if sending.is_anything_due():
            sending.send_due(self._for_a_while(), self._slow)

    def _comment(self) -> None:
        if comments.is_anything_due():
            comments.send_due(self._for_a_while(), self._slow)

    def _retry(self) -> None:
        if turns.is_anything_due():
            retries.retry(turns.due_ids(self._slow), go_on=self._for_a_while(), slow=self._slow)

    def _run_jobs(self, *, asking_strangers: bool = False) -> None:
        jobs = [job for job in JOBS if job.asks_strangers == asking_strangers]
        free = Lease.objects.free({job.name: job.every for job in jobs})
        for job in jobs:
            if job.name in free:
                self._do(job.name, partial(self._run_in_turn, job))

    def _run_in_turn(self, job: Job) -> None:
        if self._go_on() and Lease.objects.take_turn(job.name, every=job.every):
            job.run(self._for_a_while(job.longest))

    def _for_a_while(self, seconds: int | None = None) -> Callable[[], bool]:
        """A function that tells whether a job that starts now may continue."""
        until = time.monotonic() + (LONGEST_JOB if seconds is None else seconds)
        return lambda: self._go_on() and time.monotonic() < until

    def _do(self, name: str, work: Callable[[], object]) -> None:
        """Run one piece of work; an error in it stops neither the others nor the runner."""
        try:
            work()
        except Exception:
            log.exception("Maintenance failed: %s", name)
            connection.close()
            self.stopping.wait(PAUSE)

    def _go_on(self) -> bool:
        return self._mine.is_set() and not self.stopping.is_set()

    def _hold_lease(self) -> None:
        """Take the lease when it is free, and renew it as long as this process runs."""
        while not self.stopping.is_set():
            try:
                mine = Lease.objects.take(RUNNER, holder=self.name, duration=LEASE)
            except Exception:
                log.exception("The maintenance lease could not be checked")
                mine = False
            finally:
                connection.close()
            (self._mine.set if mine else self._mine.clear)()
            self.stopping.wait(RENEW)
