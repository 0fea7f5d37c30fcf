"""Answers that their clients have not taken yet: so many at one time."""

import asyncio
import resource
from collections.abc import Iterator
from contextlib import contextmanager

from hub.server.in_progress import InProgress

# Answers; each holds up to 64 KiB in memory, and what the server has been handed of it.
AT_ONCE = 1024
# Of the files that may be open: a long answer is one. Half are for connections, the rest for databases and GitHub.
SHARE = 4


class Untaken:
    """All answers that are being sent in more than one piece.

    If they become too many, the caller who has most gives up the oldest of theirs: nobody can push out what others
    read.
    """

    def __init__(self) -> None:
        self._sending: InProgress[asyncio.Timeout, bool] = InProgress()
        self._number = 0

    @contextmanager
    def one(self, caller: str, deadline: asyncio.Timeout) -> Iterator[None]:
        """An answer to `caller`, which is given up by ending its deadline."""
        self._sending.add(caller, deadline, True)
        self._number += 1
        if self._number > most():
            self._sending.give_up_oldest(max(self._sending, key=self._sending.number))
            self._number -= 1
        try:
            yield
        finally:
            self._number -= bool(self._sending.end(caller, deadline))

    def go_on(self, caller: str, deadline: asyncio.Timeout, seconds: float) -> None:
        """The client has taken a piece and has so many seconds for the next. Raises TimeoutError if it was given up."""
        if not self._sending.get(caller, deadline):
            raise TimeoutError
        until = asyncio.get_running_loop().time() + seconds
        if until - (deadline.when() or 0) > 1:  # for each piece, it costs more than to send it
            deadline.reschedule(until)


def most() -> int:
    """How many may be sent at one time. `serve` raises the number of files after this module was loaded."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return AT_ONCE if files == resource.RLIM_INFINITY else max(1, min(AT_ONCE, files // SHARE))
