"""`manage.py serve`: the production server."""

import gc
import logging
import multiprocessing
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
from argparse import ArgumentParser
from contextlib import suppress
from importlib import import_module
from multiprocessing.process import BaseProcess
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from granian import Granian
from granian.constants import HTTPModes, Interfaces, Loops
from granian.http import HTTP1Settings
from granian.log import LogLevels

from core import backups
from core.command import Group, HubCommand
from hub.server import between_requests, listening
from hub.setup import redis_server
from hub.setup.findings import Level

log = logging.getLogger(__name__)

APPLICATION = "hub.asgi:application"
RESTART_AFTER = 5  # seconds
STOPPING = 15  # seconds for the requests that run, and then for `maintain`; deploy/ gives both
HEADERS_PATIENCE = 10  # seconds for the headers of a request, and until the next one begins
LONGEST_HEADERS = 16 * 1024  # bytes, with the first line, for each connection
MOST_CONNECTIONS = 8192  # per process; more wait to be accepted


class Command(HubCommand):
    help = (
        "Serves the Hub on HUB_HOST (default 127.0.0.1) and PORT (default 8000) until it is "
        "stopped, and runs `maintain` beside it."
    )
    group = Group.RUN
    summary = "the production server"
    examples = {
        "serve": "serve, and run maintain beside it",
        "serve --no-maintain": "only serve; maintain runs elsewhere",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--no-maintain", action="store_true", help="do not run `maintain`")

    def handle(self, *args: Any, no_maintain: bool, **options: Any) -> None:
        if settings.HUB_PROCESSES > 1 and not settings.REDIS_URL:
            raise CommandError(redis_server.NEEDED)
        _refuse_a_taken_port()
        _refuse_a_backup()
        _warn_without_redis()
        _collect_static_files()
        _begin_metrics()
        _preload()
        between_requests.keep_connections()
        _close_connections()
        server = Granian(
            APPLICATION,
            address=settings.HUB_HOST,
            port=settings.HUB_PORT,
            interface=Interfaces.ASGINL,
            loop=Loops.uvloop,
            http=HTTPModes.http1,
            http1_settings=HTTP1Settings(
                header_read_timeout=HEADERS_PATIENCE * 1000, max_buffer_size=LONGEST_HEADERS
            ),
            websockets=False,
            backpressure=_connections(),
            workers=settings.HUB_PROCESSES,
            respawn_failed_workers=True,
            workers_kill_timeout=STOPPING,
            log_level=LogLevels.error,
        )
        _schedule_as_batch()
        if not no_maintain:
            keeper = MaintenanceKeeper()
            server.on_startup(keeper.start)
            server.on_shutdown(keeper.stop)
        server.serve(target_loader=_application_of_a_worker)


def _refuse_a_taken_port() -> None:
    """Say that something else listens there. Two Hubs would share the port, and what comes in."""
    family = socket.AF_INET6 if ":" in settings.HUB_HOST else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.HUB_HOST, settings.HUB_PORT))
        except OSError as error:
            raise CommandError(
                f"The Hub cannot listen on {settings.HUB_HOST} port {settings.HUB_PORT}: "
                f"{error.strerror}. Stop what listens there, or set HUB_HOST and PORT to others."
            ) from None


def _refuse_a_backup() -> None:
    """Do not start on a restored backup before `after_restore`."""
    backups.refuse_to_send()


def _warn_without_redis() -> None:
    """Say at once if Redis is away. The Hub serves without it, and shares its limits once it is back."""
    for level, text in redis_server.redis():
        if level == Level.PROBLEM:
            log.warning(text)


def _collect_static_files() -> None:
    """Collect the static files, which pages need. In debug mode they are served from where they are."""
    if settings.HUB_DEBUG or (settings.STATIC_ROOT / "staticfiles.json").exists():
        return
    try:
        call_command("collectstatic", interactive=False, verbosity=0)
    except OSError as error:
        raise CommandError(
            f"The static files cannot be written in {settings.STATIC_ROOT}: {error.strerror}. Make room "
            "there, or let the user that runs the Hub write there, and start it again."
        ) from error


def _begin_metrics() -> None:
    """Begin to count at 0, unless another process of this machine, such as a worker, is counting."""
    if settings.HUB_METRICS_TOKEN:
        from core.watching import process_files  # loads the library of the metrics

        process_files.clear()


def _close_connections() -> None:
    """Workers are forked: with a connection of this process, they would take each other's answers."""
    connection.close()
    getattr(connection, "close_pool", lambda: None)()  # PostgreSQL's


def _preload() -> None:
    """Load the application before the workers are forked: they share its memory, and start at once."""
    import_module(APPLICATION.partition(":")[0])
    gc.collect()
    gc.freeze()  # or the first collection in a worker would copy all that is shared


def _application_of_a_worker(target: str) -> Any:
    """What a worker serves: called in it, once it has its event loop, and before it listens."""
    listening.bound_from_the_start()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # its parent's would do nothing here
    if parent := multiprocessing.parent_process():
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)


def _end_with(parent: BaseProcess) -> None:
    """End this worker once the process that started it has: it would hold the port, and `maintain` is gone.

    That stops its workers itself, unless it was killed.
    """
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


def _schedule_as_batch() -> None:
    """Let no thread of the workers, or of `maintain`, interrupt another one just because it is ready.

    It would only wait for the interpreter's lock then, which costs a report a tenth of its CPU. Linux:
    sched(7), SCHED_BATCH. A policy that somebody has chosen stays.
    """
    with suppress(AttributeError, OSError):  # of another system, or where it is not allowed
        if os.sched_getscheduler(0) == os.SCHED_OTHER:
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def _connections() -> int:
    """Half of the files that may be open; the rest is for databases, long responses and GitHub."""
    most, allowed = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * MOST_CONNECTIONS
    if most != resource.RLIM_INFINITY and most < wanted:
        most = wanted if allowed == resource.RLIM_INFINITY else min(wanted, allowed)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, allowed))
    return min(wanted, most) // 2 if most != resource.RLIM_INFINITY else MOST_CONNECTIONS


class MaintenanceKeeper:
    """Runs `maintain` as a separate process, and restarts it if it exits."""

    def __init__(self) -> None:
        self._stopping = threading.Event()
        self._process: subprocess.Popen | None = None
        self._telling: threading.Thread | None = None

    def start(self) -> None:
        """Start it. Call this before the server forks its workers.

        A worker that is forked in the middle of a `Popen` would keep open the pipe on which that waits.
        """
        self._process = _maintain()
        threading.Thread(target=self._keep, args=[self._process], daemon=True).start()

    def stop(self) -> None:
        """Stop it and wait for its end; after `STOPPING` seconds, kill it."""
        self._stopping.set()
        if self._process:
            self._process.terminate()
            try:
                self._process.wait(STOPPING)
            except subprocess.TimeoutExpired:
                self._process.kill()  # what it was sending is looked up later

    def _keep(self, process: subprocess.Popen) -> None:
        kept: subprocess.Popen | None = process
        while kept:
            status = kept.wait()
            if self._stopping.is_set():
                return
            self._tell("maintain exited with %s; restarting it", status)
            kept = self._begun_again()

    def _begun_again(self) -> subprocess.Popen | None:
        """Start it after a while, and try again where the system starts no process. None once it is to stop."""
        while not self._stopping.wait(RESTART_AFTER):
            try:
                self._process = _maintain()
            except OSError as error:  # no more processes, memory or files
                self._tell("maintain could not be started: %s; trying again", error)
            else:
                return self._process
        return None

    def _tell(self, *said: object) -> None:
        """Log it in another thread: who reads stderr may hang, and `maintain` has to run.

        The log is not written behind here, because workers are forked from this process. While the
        thread of an earlier line waits, nothing is said.
        """
        if self._telling is None or not self._telling.is_alive():
            self._telling = threading.Thread(target=log.error, args=said, daemon=True)
            with suppress(RuntimeError):  # the system starts no thread: it goes unsaid
                self._telling.start()


def _maintain() -> subprocess.Popen:
    """Start it. Without the checks, which this process has made: they load the views, which it does not need."""
    with_this = f"--with-parent={os.getpid()}"
    command = [sys.executable, "manage.py", "maintain", with_this, "--skip-checks"]
    return subprocess.Popen(command, cwd=settings.BASE_DIR)  # noqa: S603  (our own words)
