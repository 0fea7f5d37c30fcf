"""Tells the client every few seconds that a call goes on, so that its time-out begins anew.

Only a client that has sent a progress token with its call hears it.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

import anyio
from mcp.server.session import ServerSession

EVERY_SECONDS = 10  # clients wait for 30 seconds and more

T = TypeVar("T")


@dataclass
class Progress:
    """What one call is doing."""

    session: ServerSession
    doing: str = "Checking the report."
    told: int = 0

    async def say(self, doing: str) -> None:
        """Tell what is done from now on."""
        self.doing = doing
        await self._tell()

    async def during(self, work: Callable[[], Awaitable[T]]) -> T:
        """What `work` returns; it must not raise, since an error would come out in a group."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._go_on)
            result = await work()
            group.cancel_scope.cancel()
        return result

    async def _go_on(self) -> None:
        while True:
            await anyio.sleep(EVERY_SECONDS)
            await self._tell()

    async def _tell(self) -> None:
        self.told += 1
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # the client has gone
            await self.session.report_progress(self.told, message=self.doing)
