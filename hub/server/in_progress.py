"""What is in progress for each caller, and how somebody who has too much of it gives some up."""

import asyncio
from collections.abc import Iterator
from typing import Generic, TypeVar

Key = TypeVar("Key", asyncio.Timeout, asyncio.Future)
T = TypeVar("T")


class InProgress(Generic[Key, T]):
    """Things of each caller, the oldest first. The key of each is what ends it: its deadline, or its result."""

    def __init__(self) -> None:
        self._of: dict[str, dict[Key, T]] = {}

    def __iter__(self) -> Iterator[str]:
        """The callers that have any."""
        return iter(self._of)

    def __contains__(self, caller: str) -> bool:
        return caller in self._of

    def number(self, caller: str) -> int:
        """How many this caller has."""
        return len(self._of[caller])

    def add(self, caller: str, key: Key, thing: T) -> None:
        """Begin one more."""
        self._of.setdefault(caller, {})[key] = thing

    def get(self, caller: str, key: Key) -> T | None:
        """The thing; None if it was given up."""
        return self._of.get(caller, {}).get(key)

    def end(self, caller: str, key: Key) -> T | None:
        """Forget one, and return it; None if it was given up."""
        things = self._of.get(caller, {})
        thing = things.pop(key, None)
        if not things:
            self._of.pop(caller, None)
        return thing

    def end_latest(self, caller: str) -> T | None:
        """Forget the latest, and return it."""
        return self.end(caller, next(reversed(self._of[caller])))

    def give_up_oldest(self: "InProgress[asyncio.Timeout, T]", caller: str) -> T | None:
        """End the deadline of the oldest, and return what it was."""
        deadline = next(iter(self._of[caller]))
        if not deadline.expired():
            deadline.reschedule(asyncio.get_running_loop().time())
        return self.end(caller, deadline)
