"""A real Redis on loopback for the tests, in a folder of its own, keeping nothing."""

import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.hub_process import free_port


class RedisServer:
    """Starts `redis-server`, and again on the same port after `stop`."""

    def __init__(self, folder: str) -> None:
        self._folder, self._port = folder, free_port()
        self.url = f"redis://127.0.0.1:{self._port}/0"

    def start(self) -> None:
        self._process = subprocess.Popen(
            ["redis-server", "--port", str(self._port), "--bind", "127.0.0.1", "--save", ""],
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 60
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("redis-server did not start.")
            time.sleep(0.02)

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(60)

    def kill(self) -> None:
        """SIGKILL."""
        self._process.kill()
        self._process.wait(60)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """It takes connections within the block, and says nothing."""
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def keys(self) -> int:
        """How many keys it holds."""
        with socket.create_connection(("127.0.0.1", self._port), timeout=10) as connection:
            connection.sendall(b"DBSIZE\r\n")
            return int(connection.recv(64).strip().removeprefix(b":"))

    def _answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self._port), timeout=1).close()
        except OSError:
            return False
        return True


@contextmanager
def serving() -> Iterator[RedisServer]:
    with tempfile.TemporaryDirectory(prefix="hub-redis-") as folder:
        server = RedisServer(folder)
        server.start()
        try:
            yield server
        finally:
            server.stop()


def needed() -> None:
    """Skip the test, loudly, on a machine without Redis."""
    if not shutil.which("redis-server"):
        pytest.skip(
            "REDIS IS NOT INSTALLED: what needs it was not tested (apt install redis-server)"
        )
