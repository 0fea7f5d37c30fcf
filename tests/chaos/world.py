"""What a run of chaos consists of, and what its faults may break."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import psycopg

from tests import postgresql
from tests.chaos.code_host import ChaosHost
from tests.chaos.disk import Disk
from tests.chaos.queue_worker import QueueWorker
from tests.chaos.wall_clock import WallClock
from tests.dns_server import DNSServer
from tests.hub_process import HubProcess
from tests.redis_server import RedisServer
from tests.waiting import wait_until

PROCESSES = 2  # of the server, on PostgreSQL
RECOVERY = 10  # seconds in which PostgreSQL is back after a crash
DATABASE, SERVER, MAINTAIN, REDIS, DISK, CLOCK, GITHUB = (
    "database",
    "server",
    "maintain",
    "redis",
    "disk",
    "clock",
    "github",
)  # what may be away


@dataclass
class Away:
    """Something was not as it should be from `since` until `until`, in seconds of `time.time()`."""

    what: str
    since: float
    until: float = float("inf")


class SQLiteFile:
    """A database in a folder on a small disk."""

    vendor = "sqlite"

    def __init__(self, folder: Path) -> None:
        self.path = folder / "hub.sqlite3"
        self.path.touch()
        self.url = f"sqlite:///{self.path}"

    def revive(self) -> None:
        """It needs nothing."""

    def end(self) -> None:
        """There is nothing to end."""


class PostgreSQLServer:
    """A server of its own, which keeps what it promises, in a folder on a small disk."""

    vendor = "postgresql"

    def __init__(self, folder: Path) -> None:
        little = {"max_connections": "100", "max_wal_size": "64MB", "min_wal_size": "32MB"}
        self.url = postgresql.start(durable=True, below=folder, **little)

    def stop(self, mode: str) -> None:
        """As `pg_ctl -m fast` or `immediate` does."""
        postgresql.stop(mode)

    def start(self) -> None:
        """Start it after `stop`; returns when it answers."""
        postgresql.start_again()

    def restart(self, mode: str) -> None:
        """Returns when it answers again."""
        postgresql.restart(mode)

    def revive(self) -> None:
        """Returns when it answers. If it does not by itself, its operator restarts it."""
        if not wait_until(self._answers, RECOVERY):
            self.restart("immediate")

    def end(self) -> None:
        """For good."""
        if postgresql.is_running():
            self.stop("immediate")

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url).close()
        except psycopg.OperationalError:
            return False
        return True


class Hub(HubProcess):
    """The Hub as it ships, with `maintain`; its log goes to a file, to which each start appends."""

    def __init__(self, log: Path, **environment: str) -> None:
        super().__init__(maintain=True, log=log, **environment)
        self.log: Path = log

    def revive(self) -> None:
        """Start it if it ends, as systemd does; returns when it is ready."""
        try:
            self._wait_until_ready()
        except RuntimeError:
            if self.process.poll() is None:
                raise
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.start()

    def tree(self) -> list[psutil.Process]:
        """The master and all its children that run now: worker processes and `maintain`."""
        try:
            master = psutil.Process(self.process.pid)
            return [master, *master.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []

    def maintain(self) -> psutil.Process | None:
        """The process of `maintain`, if it runs now."""
        return next((each for each in self.tree()[1:] if _is_maintain(each)), None)

    def workers(self) -> list[psutil.Process]:
        """The processes of the server that answer requests."""
        return [each for each in self.tree()[1:] if not _is_maintain(each)]


def _is_maintain(process: psutil.Process) -> bool:
    try:
        return "maintain" in process.cmdline()
    except psutil.Error:
        return False


@dataclass
class World:
    """Everything that runs. `queue_worker` is there only in runs that forward by the queue.

    `disk` is the database's; `clock` is that of the Hub's processes. Neither is there where this machine
    does not allow it.
    """

    folder: Path
    database: SQLiteFile | PostgreSQLServer
    host: ChaosHost
    dns: DNSServer
    redis: RedisServer | None
    hub: Hub
    disk: Disk | None = None
    clock: WallClock | None = None
    queue_worker: QueueWorker | None = None
    notes: list[Away] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def away(self, what: str) -> Iterator[Away]:
        """Note for the oracle that something is away while the block runs.

        DATABASE explains 503 and errors of the database in the log; SERVER explains connections that
        are refused or broken; the others explain lines of the log about themselves.
        """
        note = Away(what, time.time())
        with self.lock:
            self.notes.append(note)
        try:
            yield note
        finally:
            note.until = time.time()
