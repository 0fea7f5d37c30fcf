"""Where an answer waits for its client: in memory while it is short, then on disk, within a size."""

from collections.abc import Iterable
from contextlib import ExitStack
from io import BytesIO
from itertools import chain
from tempfile import SpooledTemporaryFile
from threading import RLock
from typing import IO

from hub.server.overload import Busy

IN_MEMORY = 64 * 1024  # bytes of one answer
ON_DISK = 1024**3  # bytes of all answers of this process


def whole(pieces: Iterable[bytes]) -> IO[bytes]:
    """All of them, to be read from the beginning to the end. Raises `Busy` without room on disk."""
    short, rest = BytesIO(), iter(pieces)
    for piece in rest:
        short.write(piece)
        if short.tell() > IN_MEMORY:
            return _on_disk(chain([short.getvalue()], rest))
    return short


def _on_disk(pieces: Iterable[bytes]) -> IO[bytes]:
    with ExitStack() as unless_whole:
        file = unless_whole.enter_context(_File())
        for piece in pieces:
            file.add(piece)
        unless_whole.pop_all()
    return file


class _File(SpooledTemporaryFile[bytes]):
    """A temporary file that counts against `ON_DISK` until it is closed."""

    def __init__(self) -> None:
        super().__init__(max_size=1)  # byte; then it is on disk
        self._held = 0

    def add(self, piece: bytes) -> None:
        _hold(len(piece))
        self._held += len(piece)
        self.write(piece)

    def close(self) -> None:  # called for one that is forgotten, too
        _free(self._held)
        self._held = 0
        super().close()


def on_disk() -> int:
    """The bytes that answers hold there now."""
    return _held


def _hold(size: int) -> None:
    global _held
    with _counting:
        if _held + size > ON_DISK:
            raise Busy("The answers that wait for their clients take all their room on disk")
        _held += size


def _free(size: int) -> None:
    global _held
    with _counting:
        _held -= size


_counting = RLock()  # `close` may be called by the garbage collector, at any moment
_held = 0
