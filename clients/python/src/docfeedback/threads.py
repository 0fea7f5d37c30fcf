"""Runs calls for an event loop, each in a thread of its own.

The loop's own threads are few, and the program needs them, also to look names up: an owner whose name
server is silent would keep them for as long as a call may take.
"""

from __future__ import annotations

import contextlib
import contextvars
import threading
from functools import partial
from typing import TYPE_CHECKING, Any, Callable, Dict, Optional, TypeVar

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")

MOST = 200  # calls of one loop at once

_turns: Dict[asyncio.AbstractEventLoop, asyncio.Semaphore] = {}


async def run(call: Callable[..., T], *arguments: Any, **options: Any) -> T:
    """What the call returns, once fewer than `MOST` others are running.

    A call that is cancelled before its turn does not begin; later, nobody waits for it, not even the end
    of the program.
    """
    import asyncio  # here, since every command line would wait for its import

    loop = asyncio.get_running_loop()
    work = partial(contextvars.copy_context().run, call, *arguments, **options)
    async with _turn(loop):
        future: asyncio.Future[T] = loop.create_future()
        threading.Thread(target=_do, args=(work, future), name="docfeedback", daemon=True).start()
        return await future


def _turn(loop: asyncio.AbstractEventLoop) -> asyncio.Semaphore:
    from asyncio import Semaphore

    if loop not in _turns:
        for other in [each for each in tuple(_turns) if each.is_closed()]:
            _turns.pop(other, None)
        _turns[loop] = Semaphore(MOST)
    return _turns[loop]


def _do(work: Callable[[], T], future: asyncio.Future[T]) -> None:
    settle: Callable[[], None]
    try:
        settle = partial(_settle, future, work())
    except BaseException as error:
        settle = partial(_settle, future, None, error)
    with contextlib.suppress(RuntimeError):  # the loop is closed, and nobody waits any more
        future.get_loop().call_soon_threadsafe(settle)


def _settle(future: asyncio.Future[T], result: Any, error: Optional[BaseException] = None) -> None:
    if future.done():  # it was cancelled
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)
