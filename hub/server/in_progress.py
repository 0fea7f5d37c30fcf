"""What is in progress for each caller, and how somebody who has too much of it gives some up."""

import asyncio
from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class InProgress(Generic[T]):
    """Things with a deadline, of each caller the oldest first. One is given up by ending its deadline."""

    def __init__(self) -> None:
        self._of: dict[str, dict[asyncio.Timeout, T]] = {}

    def __iter__(self) -> Iterator[str]:
        """The callers that have any."""
        return iter(self._of)

    def number(self, caller: str) -> int:
        """How many this caller has."""
        return len(self._of[caller])

    def add(self, caller: str, deadline: asyncio.Timeout, thing: T) -> None:
        """Begin one more."""
        self._of.setdefault(caller, {})[deadline] = thing

    def get(self, caller: str, deadline: asyncio.Timeout) -> T | None:
        """The thing; None if it was given up."""
        return self._of.get(caller, {}).get(deadline)

    def end(self, caller: str, deadline: asyncio.Timeout) -> T | None:
        """Forget one, and return it; None if it was given up."""
        things = self._of.get(caller, {})
        thing = things.pop(deadline, None)
        if not things:
            self._of.pop(caller, None)
        return thing

    def give_up_oldest(self, caller: str) -> T | None:
        """End the deadline of the oldest, and return what it was."""
        deadline = next(iter(self._of[caller]))
        if not deadline.expired():
            deadline.reschedule(asyncio.get_running_loop().time())
        return self.end(caller, deadline)
