"""Holds responses until their clients have read them: in memory while short, then on disk, within a size."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from io import BytesIO
from itertools import chain
from tempfile import SpooledTemporaryFile
from threading import RLock
from typing import IO
from weakref import WeakValueDictionary

from core import client_address
from hub.server.overload import Overloaded

IN_MEMORY = 64 * 1024  # bytes of one answer
ON_DISK = 1024**3  # bytes of all answers of this process
SHARE = 4  # those for one organization or address take a quarter, however slowly they are read;
SHARE_OF_ONE = 2  # a single one half, so that a long export arrives
A_WHILE = 60  # seconds in which nobody is slow
PACE = 64 * 1024  # bytes a second: who takes less gives theirs up where there is no room for others
WHOSE = "hub.whose"  # where a page of members says, in its environ, which organization it is for


def whole(pieces: Iterable[bytes], *, whose: Callable[[], str]) -> IO[bytes]:
    """All pieces, to be read from beginning to end. Raises `Overloaded` if the disk space is used up, or none is left.

    `whose` is called for long responses only: it tells the organization, or the network as
    `client_address.network` returns it.
    """
    short, rest = BytesIO(), iter(pieces)
    for piece in rest:
        short.write(piece)
        if short.tell() > IN_MEMORY:
            return _on_disk(chain([short.getvalue()], rest), whose())
    return short


def _on_disk(pieces: Iterable[bytes], whose: str) -> IO[bytes]:
    with ExitStack() as unless_whole:
        file = unless_whole.enter_context(closing(_File(whose)))
        for piece in pieces:
            file.add(piece)
        file.flush()
        unless_whole.pop_all()
    return file


class _File(SpooledTemporaryFile[bytes]):
    """A temporary file that counts against `ON_DISK` and the share of `whose` until it is closed."""

    def __init__(self, whose: str) -> None:
        super().__init__(max_size=1)  # byte; then it is on disk
        self._whose = whose
        self._held = self._taken = 0
        self._whole_at = 0.0  # by `time.monotonic`
        self._is_given_up = False

    @property
    def is_slow(self) -> bool:
        """Whether it is whole, and has been read too slowly since then."""
        since = time.monotonic() - self._whole_at
        return bool(self._whole_at) and since > A_WHILE and self._taken < PACE * since

    def add(self, piece: bytes) -> None:
        """Write a piece, and count it. Raises `Overloaded` if there is no room for it."""
        _hold(len(piece), self._whose, by=self._held)
        self._held += len(piece)
        with _room():
            self.write(piece)

    def flush(self) -> None:
        """Write what was added. Raises as `add` does."""
        with _room():
            super().flush()
        with _counting:
            self._whole_at = time.monotonic()
            _whole[id(self)] = self

    def read(self, *args: int) -> bytes:
        """What comes next. Raises TimeoutError if it was given up."""
        piece: bytes = super().read(*args)
        if self._is_given_up:
            raise TimeoutError
        self._taken += len(piece)
        return piece

    def give_up(self) -> None:
        """Leave its room to others."""
        self._is_given_up = True
        self._stop_counting()
        with suppress(OSError, ValueError):  # its reader may just have closed it
            self.truncate(0)

    def close(self) -> None:  # called for one that is forgotten, too
        """Close the file, and stop counting it."""
        self._stop_counting()
        with suppress(OSError):  # of what could not be written, and is not needed any more
            super().close()

    def _stop_counting(self) -> None:
        with _counting:
            _whole.pop(id(self), None)
            _free(self._held, self._whose)
            self._held = 0

    @property
    def held(self) -> int:
        """How many bytes it holds."""
        return self._held


@contextmanager
def _room() -> Iterator[None]:
    """The disk itself may be full, or the system has no more files: nothing is wrong with the request."""
    try:
        yield
    except OSError as error:
        why = error.strerror or "no reason given"
        raise Overloaded(f"No file can be written for long responses: {why}") from None


def on_disk() -> int:
    """How many bytes responses hold on disk now."""
    return _held


def _hold(size: int, whose: str, *, by: int) -> None:
    """Count `size` more bytes for a response that holds `by` so far."""
    global _held
    with _counting:
        if _held + size > ON_DISK:
            _have_slow_ones_given_up(size)
        if _held + size > ON_DISK:
            raise Overloaded("The responses that wait for their clients use all their disk space")
        before = _held_for.get(whose, 0)
        share = SHARE_OF_ONE if before == by else SHARE
        if whose != client_address.UNKNOWN and before + size > ON_DISK // share:
            raise Overloaded(
                "The responses to one organization or address use its share of the disk space"
            )
        _held += size
        _held_for[whose] = before + size


def _have_slow_ones_given_up(size: int) -> None:
    """Make room for so many bytes by those that are read too slowly, the largest first."""
    for each in sorted(_whole.values(), key=lambda file: -file.held):
        if _held + size > ON_DISK and each.is_slow:
            each.give_up()


def _free(size: int, whose: str) -> None:
    global _held
    with _counting:
        _held -= size
        if left := _held_for.pop(whose, 0) - size:
            _held_for[whose] = left


_counting = RLock()  # `close` may be called by the garbage collector, at any moment
_held = 0
_whole: WeakValueDictionary[int, _File] = WeakValueDictionary()  # those that are being read
_held_for: dict[str, int] = {}  # of it, for whom; nobody with nothing
