"""The Hub as a process of its own, under its production server, on a test's database."""

import fcntl
import os
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO
from urllib.parse import quote

import requests
from django.conf import settings
from django.db import connection

ROOT = Path(__file__).resolve().parent.parent
MOST_KEPT_FREE = 100  # ports
_kept_free: deque[socket.socket] = deque()


class HubProcess:
    """Starts `manage.py serve`, and ends it when the block is left.

    `maintain` says whether it retries by itself, `log` the file that it writes to instead of to where the
    tests do; the other keywords are its environment.
    """

    command = [sys.executable, "manage.py", "serve"]
    wrapper: tuple[str, ...] = ()  # what the command begins with
    patience = 120.0  # seconds until it has to be ready

    def __init__(
        self, *, maintain: bool = False, log: Path | None = None, **environment: str
    ) -> None:
        self.log = log
        self._arguments = [] if maintain else ["--no-maintain"]
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._environment = environment

    def __enter__(self) -> "HubProcess":
        self.start()
        return self

    def __exit__(self, *args: object) -> None:
        if self.process.poll() is None:
            self.stop()

    def start(self) -> None:
        command = [*self.wrapper, *self.command, *self._arguments]
        with ExitStack() as until_started:
            log = until_started.enter_context(self.log.open("ab")) if self.log else None
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=self.environment(),
                start_new_session=True,
                stdout=log,
                stderr=log,
            )
        try:
            self._wait_until_ready()
        except BaseException:
            if self.process.poll() is None:
                self.kill()
            raise

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + self.patience
        while not self._ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"The Hub did not start; it ended with {self.process.poll()}.")
            time.sleep(0.05)

    def stop(self) -> int:
        """SIGTERM, and the exit status."""
        self.process.terminate()
        return self.process.wait(120)

    def kill(self) -> None:
        """SIGKILL, to it and to all that it has started."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(120)

    def environment(self) -> dict[str, str]:
        hub = {
            name: _written(getattr(settings, name))
            for name in dir(settings)
            if name.startswith("HUB_") and name != "HUB_PORT"
        }
        return {
            **{name: value for name, value in os.environ.items() if not name.startswith("HUB_")},
            **hub,
            "HUB_BASE_URL": self.url,
            "HUB_SECRET_KEY": settings.SECRET_KEY,
            "DJANGO_SETTINGS_MODULE": "hub.settings",
            "DATABASE_URL": database_url(),
            "PORT": str(self.port),
            **self._environment,
        }

    def _ready(self) -> bool:
        try:
            return requests.get(f"{self.url}/readyz", timeout=5).status_code == 200
        except requests.ConnectionError:
            return False


def start_worker(hub: HubProcess, stderr: IO[bytes] | int = subprocess.DEVNULL) -> subprocess.Popen:
    """A process that takes the tasks of the queue; its log goes to `stderr`."""
    return subprocess.Popen(
        [sys.executable, "manage.py", "db_worker", "--interval", "0.1", "--no-startup-delay"],
        cwd=ROOT,
        env=hub.environment(),
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        start_new_session=True,
    )


def _written(value: object) -> str:
    return ",".join(value) if isinstance(value, list) else str(value)


@contextmanager
def alone(with_what: str) -> Iterator[None]:
    """No other run of the tests in this checkout is at it meanwhile."""
    (ROOT / "var").mkdir(exist_ok=True)
    with (ROOT / f"var/{with_what}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def collect_static_files() -> None:
    """As they are now, for the server to serve."""
    manifest = ROOT / "var/static/staticfiles.json"
    newest = max(path.stat().st_mtime for path in (ROOT / "static").iterdir())
    with alone("static"):
        if manifest.exists() and manifest.stat().st_mtime >= newest:
            return
        command = [sys.executable, "manage.py", "collectstatic", "--no-input", "--verbosity=0"]
        subprocess.run([*command, "--settings=hub.settings"], cwd=ROOT, check=True)


def database_url() -> str:
    """The test's database, for another process."""
    database = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{database['NAME']}"
    host = database["OPTIONS"].get("host") or database["HOST"]
    return f"postgresql://{database['USER']}:@/{database['NAME']}?host={quote(host, safe='')}"


def free_port() -> int:
    """A port for a server that starts later. Until then nobody else gets it, nor a connection that goes out."""
    place = socket.socket()
    place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does
    place.bind(("127.0.0.1", 0))
    _kept_free.append(place)
    if len(_kept_free) > MOST_KEPT_FREE:
        _kept_free.popleft().close()
    return place.getsockname()[1]
