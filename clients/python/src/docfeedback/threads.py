"""Starts threads, and runs calls for an event loop, each in a thread of its own.

The loop's own threads are few, and the program needs them, also to look names up: an owner whose name
server is silent would keep them for as long as a call may take.
"""

from __future__ import annotations

import contextlib
import contextvars
import threading
from functools import partial
from typing import TYPE_CHECKING, Any, Callable, Dict, Optional, TypeVar

from .errors import Unreachable

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")

MOST_CALLS = 200  # of one loop at once

_turns: Dict[asyncio.AbstractEventLoop, asyncio.Semaphore] = {}


def start(work: Callable[..., object], *arguments: Any) -> threading.Thread:
    """A thread that does the work, and for which the end of the program does not wait.

    Raises Unreachable where the system has no more threads; then nothing was begun.
    """
    thread = threading.Thread(target=work, args=arguments, name="docfeedback", daemon=True)
    try:
        thread.start()
    except RuntimeError:
        raise Unreachable.of("no_thread") from None
    return thread


async def run(call: Callable[..., T], *arguments: Any, **options: Any) -> T:
    """What the call returns, once fewer than `MOST_CALLS` others are running.

    A call that is cancelled before its turn does not begin; later, nobody waits for it, not even the end
    of the program, but its turn lasts until it has ended.
    """
    import asyncio  # here, since every command line would wait for its import

    loop = asyncio.get_running_loop()
    work = partial(contextvars.copy_context().run, call, *arguments, **options)
    turn = _turn(loop)
    await turn.acquire()
    future: asyncio.Future[T] = loop.create_future()
    try:
        start(_do, work, future, turn)
    except BaseException:
        turn.release()
        raise
    return await future


def _turn(loop: asyncio.AbstractEventLoop) -> asyncio.Semaphore:
    from asyncio import Semaphore

    if loop not in _turns:
        for other in [each for each in tuple(_turns) if each.is_closed()]:
            _turns.pop(other, None)
        _turns[loop] = Semaphore(MOST_CALLS)
    return _turns[loop]


def _do(work: Callable[[], T], future: asyncio.Future[T], turn: asyncio.Semaphore) -> None:
    end: Callable[[], None]
    try:
        end = partial(_end, future, turn, work())
    except BaseException as error:
        end = partial(_end, future, turn, None, error)
    with contextlib.suppress(RuntimeError):  # the loop is closed, and nobody waits any more
        future.get_loop().call_soon_threadsafe(end)


def _end(
    future: asyncio.Future[T],
    turn: asyncio.Semaphore,
    result: Any,
    error: Optional[BaseException] = None,
) -> None:
    turn.release()
    if future.done():  # it was cancelled
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)
