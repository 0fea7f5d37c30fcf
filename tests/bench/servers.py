"""The servers that are measured: the Hub as it ships, and its peers, each with two processes."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from tests.bench import databases
from tests.hub_process import ROOT, HubProcess, free_port

PROCESSES = 2
THREADS = 8  # of each process of a peer in Django: more only take turns
NO_LIMIT = "1000000000/minute"  # each is still looked up and counted
RATES = ("REPORT", "NETWORK", "HOST", "TOTAL", "ISSUE")
VENV = ROOT / ".venv-bench"
LOG = ROOT / "var/bench.log"  # of the Hub, which has a line for each request


class Server(NamedTuple):
    """One that answers: its name in the tables, and how to reach and count it.

    `database` is the process of its database server, where it has one; `rows` counts what it stored.
    """

    name: str
    port: int
    pid: int
    database: int | None
    rows: Callable[[], int]
    path: str = "/v1/reports"


def new_row_count(url: str) -> Callable[[], int]:
    """Counts the reports in the Hub's database."""
    return partial(databases.rows, url, "reports_report")


class Hub(HubProcess):
    """The Hub under its production server, with limits that never refuse."""

    def __init__(self, url: str, *, redis: str = "", maintain: bool = False, **more: str) -> None:
        shared = {"REDIS_URL": redis, "HUB_PROCESSES": str(PROCESSES)} if redis else {}
        rates = {f"HUB_{name}_RATE": NO_LIMIT for name in RATES}
        settings = {"DATABASE_URL": url, "HUB_TRUSTED_PROXIES": "1", **shared, **rates, **more}
        super().__init__(maintain=maintain, log=LOG, **settings)


class Peer:
    """A peer under granian, as `with Peer(...)`."""

    patience = 60.0  # seconds until it has to answer

    def __init__(
        self,
        module: str,
        interface: str,
        environment: dict[str, str],
        *,
        processes: int = PROCESSES,
    ) -> None:
        self.port = free_port()
        self._command = [str(VENV / "bin/granian"), "--interface", interface, "--loop", "uvloop"]
        self._command += ["--workers", str(processes), "--port", str(self.port), "--no-ws"]
        self._command += ["--log-level", "error", "--http", "1", f"{module}:application"]
        if interface == "wsgi":
            self._command += ["--blocking-threads", str(THREADS)]
        self._environment = {**os.environ, "PYTHONPATH": str(ROOT), **environment}

    def __enter__(self) -> "Peer":
        self.process = subprocess.Popen(
            self._command, cwd=ROOT, env=self._environment, start_new_session=True
        )
        try:
            self._wait()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *args: object) -> None:
        """Some of them do not stop while a thread of theirs waits."""
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(60)

    def _wait(self) -> None:
        deadline = time.monotonic() + self.patience
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{self._command[-1]} did not start; its errors are above.")
            time.sleep(0.05)

    def _answers(self) -> bool:
        """Whether it speaks HTTP already, whatever it says."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=5) as probe:
                probe.sendall(b"GET /none HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                return bool(probe.recv(1))
        except OSError:
            return False


def install() -> None:
    """Make `.venv-bench` from its lock where it is missing or stale."""
    command = ". script/_venv; use_venv bench .venv-bench"
    subprocess.run(["bash", "-euc", command], cwd=ROOT, check=True)


def prepare_team(environment: dict[str, str]) -> None:
    """Create the tables of the team's view."""
    subprocess.run(
        [VENV / "bin/python", "-m", "tests.bench.peers.team"],
        cwd=ROOT,
        env={**os.environ, **environment},
        check=True,
    )
