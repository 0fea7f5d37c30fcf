"""What is written while a command runs, and the browser of the person at the terminal."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import List, Optional, Sequence, TextIO

from . import programs, visible

REMOTE = ("SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY")
DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")
LONGEST_LINE = 65536  # bytes of an answer


class Unwritable(OSError):
    """Our output cannot be written: a closed pipe, a full disk."""


def write(stream: Optional[TextIO], lines: Sequence[str]) -> None:
    """Line by line, without characters that steer a terminal. Raises Unwritable."""
    if stream is None:  # it was closed before we began
        return
    try:
        for line in lines:
            stream.write(visible.plain(line) + "\n")
        stream.flush()
    except OSError as error:
        raise Unwritable from error


class Progress:
    """One line on a terminal's standard error, which changes; nothing is left of it."""

    def __init__(self) -> None:
        self._width = 0

    def show(self, line: str) -> None:
        """Write the line over the one before."""
        if is_terminal(sys.stderr):
            self._write(visible.plain(line))

    def clear(self) -> None:
        """Take the line away."""
        if self._width:
            self._write("")
            sys.stderr.write("\r")
            sys.stderr.flush()

    def _write(self, line: str) -> None:
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)


def is_attended() -> bool:
    """Whether a person can be asked: they type and read here, and it is no job of a CI."""
    return is_terminal(sys.stdin) and is_terminal(sys.stderr) and not os.environ.get("CI")


def ask(question: str) -> Optional[str]:
    """What the person answers, without spaces around it; None if nobody can be asked, or nobody answers.

    Only Enter ends an answer, not Ctrl-D.
    """
    if not is_attended():
        return None
    line = b""
    try:
        sys.stderr.write(visible.plain(question) + " ")
        sys.stderr.flush()
        line = sys.stdin.buffer.readline(LONGEST_LINE)
    finally:
        if not line.endswith(b"\n"):  # Ctrl-C or Ctrl-D, which end no line
            sys.stderr.write("\n")
    return line.decode("utf-8", "replace").strip() if line.endswith(b"\n") else None


def forget_typed() -> None:
    """Forget what was typed or pasted before now: it cannot be an answer to what comes now."""
    try:
        import termios
    except ImportError:  # Windows has none
        return
    with contextlib.suppress(termios.error, OSError, ValueError):
        termios.tcflush(sys.stdin, termios.TCIFLUSH)


def is_terminal(stream: Optional[TextIO]) -> bool:
    """Whether a person sees or types it."""
    return stream is not None and stream.isatty()


def open_browser(url: str) -> bool:
    """Open the URL in the person's browser, if they sit at this machine; whether it was tried."""
    if not is_terminal(sys.stdin) or not is_terminal(sys.stdout):
        return False
    if any(os.environ.get(name) for name in REMOTE):
        return False
    try:
        return _opened(url)
    except OSError:
        return False


def _opened(url: str) -> bool:
    if sys.platform == "win32":
        os.startfile(url)  # noqa: S606 (no program by a bare name, which the current folder could hold)
        return True
    command = _opener()
    if not command:
        return False
    import subprocess  # here, since every command line would wait for its import

    quiet = subprocess.DEVNULL
    subprocess.Popen(  # noqa: S603 (the URL is on the Hub's origin)
        [*command, url],
        env=programs.environment(),
        stdin=quiet,
        stdout=quiet,
        stderr=quiet,
        start_new_session=True,
    )
    return True


def _opener() -> List[str]:
    """The program that opens a URL here; nothing without a screen."""
    if sys.platform == "darwin":
        return ["/usr/bin/open"]
    found = programs.find("xdg-open") if any(os.environ.get(name) for name in DISPLAYS) else None
    return [found] if found else []
