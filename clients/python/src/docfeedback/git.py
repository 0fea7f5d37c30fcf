"""Asks git about a repository: without a network, and so that nothing in the repository can run a program."""

from __future__ import annotations

import os
from threading import Timer
from typing import TYPE_CHECKING, Dict, Optional

from . import programs

if TYPE_CHECKING:
    import subprocess

MAX_BYTES = 64 * 1024
SECONDS = 5
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
    return programs.find("git.exe" if os.name == "nt" else "git")


def ask(program: str, folder: str, *words: str) -> Optional[str]:
    """What git prints; None if it fails, takes too long or says too much."""
    import subprocess  # here, since every command line would wait for its import

    quiet = subprocess.DEVNULL
    try:
        process = subprocess.Popen(  # noqa: S603 (no shell, and a program by its whole path)
            [program, *SAFE, *words],
            cwd=folder,
            env=_environment(),
            stdin=quiet,
            stdout=subprocess.PIPE,
            stderr=quiet,
        )
    except (OSError, ValueError):
        return None
    return _output(process)


def _output(process: subprocess.Popen[bytes]) -> Optional[str]:
    timer = Timer(SECONDS, process.kill)
    timer.start()
    with process:
        try:
            assert process.stdout is not None  # noqa: S101 (it is a pipe)
            data = process.stdout.read(MAX_BYTES + 1)
            if len(data) > MAX_BYTES:
                return None
            return data.decode() if process.wait() == 0 else None
        except UnicodeDecodeError:
            return None
        finally:
            timer.cancel()
            process.kill()


def _environment() -> Dict[str, str]:
    """Ours, without what a hook that called us was told about its own repository."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.upper().startswith("GIT_") or name in KEPT
    }
    return {**kept, **OURS}
