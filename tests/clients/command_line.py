"""A client's command line, run as its users run it."""

import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event

SECONDS = 120


@dataclass(frozen=True)
class Ended:
    """How a command line ended."""

    exit: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class CommandLine:
    command: list[str]

    def run(
        self,
        args: Sequence[str],
        *,
        cwd: Path,
        env: dict[str, str],
        stdin: str = "",
        interrupt_after: Event | None = None,
    ) -> Ended:
        """Run it to its end, or press Ctrl-C once `interrupt_after` is set."""
        with subprocess.Popen(
            [*self.command, *args],
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            if interrupt_after is not None:
                assert interrupt_after.wait(SECONDS)
                process.send_signal(signal.SIGINT)
            try:
                stdout, stderr = process.communicate(stdin.encode(), timeout=SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return Ended(process.returncode, stdout.decode(), stderr.decode())
