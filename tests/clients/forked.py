"""Command lines of Python without its start, which takes ten times as long as what it is for."""

import json
import os
import select
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from tests.clients.command_line import SECONDS, CommandLine, Ended

FORK = Path(__file__).parent / "fork.py"
STREAMS = ("stdin", "stdout", "stderr")


@dataclass
class Started:
    """A process that has started, and forks itself; see `fork.py`."""

    process: "subprocess.Popen[bytes]"

    def run(self, words: Sequence[str], *, cwd: Path, env: dict[str, str], stdin: str) -> Ended:
        with tempfile.TemporaryDirectory() as folder:
            streams = [Path(folder) / name for name in STREAMS]
            for stream in streams:
                stream.write_bytes(stdin.encode() if stream.name == "stdin" else b"")
            told = {"cwd": str(cwd), "env": env, "words": [*words], "streams": [*map(str, streams)]}
            ended = self._told(json.dumps(told | {"umask": _umask()}))
            return Ended(ended, *(stream.read_bytes().decode() for stream in streams[1:]))

    def _told(self, line: str) -> int:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], SECONDS)[0]:
            os.killpg(self.process.pid, signal.SIGKILL)
        return int(self.process.stdout.readline())


def _umask() -> int:
    """That of this process, which a test may have changed since the other one started."""
    os.umask(now := os.umask(0o77))
    return now


class Forks:
    """One process for each way in which Python starts: what it reads then is in its environment."""

    def __init__(self, python: str, *paths: str) -> None:
        self._python = python
        self._paths = paths
        self._started: dict[str, Started] = {}

    def like(self, env: dict[str, str]) -> Started | None:
        """The one that starts as Python does with this environment."""
        read = {name for name in env if name.startswith(("PYTHON", "LANG", "LC_"))}
        path = env.get("PYTHONPATH", "")
        if read != {"PYTHONPATH"} or path not in self._paths:
            return None
        if path not in self._started:
            self._started[path] = Started(self._start(path))
        return self._started[path]

    def _start(self, path: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [self._python, str(FORK)],
            env={"PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    def end(self) -> None:
        for started in self._started.values():
            started.process.communicate()
        self._started.clear()


@dataclass(frozen=True)
class PythonCommandLine(CommandLine):
    """Forked, unless it is interrupted or Python would start in a way of its own."""

    forks: Forks

    def run(
        self,
        args: Sequence[str],
        *,
        cwd: Path,
        env: dict[str, str],
        stdin: str = "",
        interrupt_after: Event | None = None,
    ) -> Ended:
        started = None if interrupt_after else self.forks.like(env)
        if started is None:
            return super().run(args, cwd=cwd, env=env, stdin=stdin, interrupt_after=interrupt_after)
        return started.run([*self.command[1:], *args], cwd=cwd, env=env, stdin=stdin)
