"""Answers that their clients have not taken yet: so many at one time."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

AT_ONCE = (
    1024  # answers; each holds up to 64 KiB in memory, and what the server has been handed of it
)


class Untaken:
    """All answers that are being sent in more than one piece.

    If they become too many, the caller who has most gives up the oldest of theirs: nobody can push out what others
    read.
    """

    def __init__(self) -> None:
        self._number = 0
        self._of: dict[str, dict[asyncio.Timeout, None]] = {}  # of each caller, the oldest first

    @contextmanager
    def one(self, caller: str, deadline: asyncio.Timeout) -> Iterator[None]:
        """An answer to `caller`, which is given up by ending its deadline."""
        self._of.setdefault(caller, {})[deadline] = None
        self._number += 1
        if self._number > AT_ONCE:
            self._give_up()
        try:
            yield
        finally:
            self._forget(caller, deadline)

    def go_on(self, caller: str, deadline: asyncio.Timeout, seconds: float) -> None:
        """The client has taken a piece and has so many seconds for the next. Raises TimeoutError if it was given up."""
        if deadline not in self._of.get(caller, {}):
            raise TimeoutError
        deadline.reschedule(asyncio.get_running_loop().time() + seconds)

    def _give_up(self) -> None:
        caller = max(self._of, key=lambda each: len(self._of[each]))
        deadline = next(iter(self._of[caller]))
        self._forget(caller, deadline)
        if not deadline.expired():
            deadline.reschedule(asyncio.get_running_loop().time())

    def _forget(self, caller: str, deadline: asyncio.Timeout) -> None:
        sending = self._of.get(caller, {})
        if deadline in sending:
            del sending[deadline]
            self._number -= 1
        if not sending:
            self._of.pop(caller, None)
