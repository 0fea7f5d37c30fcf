"""A real Redis on loopback for the tests, in a folder of its own, keeping nothing."""

import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.hub_process import free_port


class RedisServer:
    """Starts `redis-server`, and again on the same port after `stop`."""

    def __init__(self, folder: str) -> None:
        self._folder, self.port = folder, free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        self._process = subprocess.Popen(
            self._command(),
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 60
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("redis-server did not start.")
            time.sleep(0.02)

    def _command(self) -> list[str]:
        return ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", ""]

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
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as connection:
            connection.sendall(b"DBSIZE\r\n")
            return int(connection.recv(64).strip().removeprefix(b":"))

    def _answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            return False
        return True


class Sentinel(RedisServer):
    """Says where the Redis at `master` is, which it calls `hub`."""

    def __init__(self, folder: str, master: int) -> None:
        super().__init__(folder)
        self.url = f"redis+sentinel://127.0.0.1:{self.port}/hub"
        said = f"port {self.port}\nbind 127.0.0.1\nsentinel monitor hub 127.0.0.1 {master} 1\n"
        self._file = Path(folder, "sentinel.conf")
        self._file.write_text(said)

    def _command(self) -> list[str]:
        return ["redis-server", str(self._file), "--sentinel"]


@contextmanager
def serving(kind: type[RedisServer] = RedisServer, **options: int) -> Iterator[RedisServer]:
    with tempfile.TemporaryDirectory(prefix="hub-redis-") as folder:
        server = kind(folder, **options)
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


class Relay:
    """A port that leads to another one: connections that exist go on where `target` was before."""

    def __init__(self, target: int) -> None:
        self.target = target

    def __enter__(self) -> "Relay":
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *args: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):  # it was closed
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self.target))
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=_copy, args=pair, daemon=True).start()


def _copy(source: socket.socket, to: socket.socket) -> None:
    with source, to, suppress(OSError):  # one side has closed it
        while data := source.recv(65536):
            to.sendall(data)
        to.shutdown(socket.SHUT_WR)
