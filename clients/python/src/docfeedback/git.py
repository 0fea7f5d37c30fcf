"""Asks git about a repository: without a network, and so that nothing in the repository can run a program."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import sys
import time
from typing import IO, TYPE_CHECKING, Dict, List, Optional

from . import programs, threads

if TYPE_CHECKING:
    import subprocess

MAX_BYTES = 64 * 1024
SECONDS = 5
SHELL = "/bin/sh"
LIMITED = (  # memory in KiB, in which the packs that git maps do not count, and seconds of a processor
    'ulimit -d 524288 2>/dev/null; ulimit -t 5 2>/dev/null; exec "$@"'
)
KEPT = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES")
OURS = {
    "GIT_ALLOW_PROTOCOL": "none",  # else what is not there may be fetched, by a program of the repository's
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
}
SAFE = (
    "--no-pager",
    "--literal-pathspecs",
    "-c",
    "safe.bareRepository=explicit",  # else a folder that somebody committed can be a repository
    "-c",
    "core.fsmonitor=false",
    "-c",
    f"core.hooksPath={os.devnull}",
    "-c",
    "credential.helper=",  # forgets those that the repository names, and git before 2.44.1 may fetch
    "-c",
    "core.askPass=",
    "-c",
    "fetch.bundleURI=",
)


def program() -> Optional[str]:
    """The path of git, or None."""
    return programs.find("git")


def ask(program: str, folder: str, *words: str) -> Optional[str]:
    """What git prints; None if it fails, takes too long, needs too much memory or says too much."""
    import subprocess  # here, since every command line would wait for its import

    quiet = subprocess.DEVNULL
    deadline = time.monotonic() + SECONDS
    try:
        process = subprocess.Popen(  # noqa: S603 (the words are no shell's, and programs have whole paths)
            [*_limit(), program, *SAFE, *words],
            cwd=folder,
            env=_environment(),
            stdin=quiet,
            stdout=subprocess.PIPE,
            stderr=quiet,
            start_new_session=True,  # and a process group, see _kill
        )
    except (OSError, ValueError):
        return None
    try:
        assert process.stdout is not None  # noqa: S101 (it is a pipe)
        data = _read(process.stdout, SECONDS)
        if len(data) > MAX_BYTES or process.wait(max(deadline - time.monotonic(), 0)):
            return None
        return data.decode()
    except (queue.Empty, subprocess.TimeoutExpired, UnicodeDecodeError):
        return None
    finally:
        _kill(process)
        process.wait()


def _limit() -> List[str]:
    """What starts a program with limits: 2 MB of a repository can be gigabytes and hours to git.

    The time is for a git that is left behind, since who is killed ends nobody.
    """
    has_limits = os.name == "posix" and os.access(SHELL, os.X_OK)
    return [SHELL, "-c", LIMITED, "sh"] if has_limits else []


def _read(pipe: IO[bytes], seconds: float) -> bytes:
    """What comes through the pipe until all have closed it who can write to it, or too much.

    Raises queue.Empty if that takes longer: what git has started may have the pipe when git has ended.
    """
    found: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def read() -> None:
        with pipe:
            found.put(pipe.read(MAX_BYTES + 1))

    threads.start(read)
    return found.get(timeout=seconds)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End git and, where there are process groups, what it has started and left running."""
    with contextlib.suppress(OSError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


def _environment() -> Dict[str, str]:
    """Ours, without what a hook that called us was told about its own repository."""
    kept = {
        name: value
        for name, value in programs.environment().items()
        if not name.upper().startswith("GIT_") or name in KEPT
    }
    return {**kept, **OURS}
