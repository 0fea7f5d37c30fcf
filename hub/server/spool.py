"""Where an answer waits for its client: in memory while it is short, then on disk, within a size."""

from tempfile import SpooledTemporaryFile
from threading import RLock

from hub.server.overload import Busy

IN_MEMORY = 64 * 1024  # bytes of one answer
ON_DISK = 1024**3  # bytes of all answers of this process


class Spool(SpooledTemporaryFile[bytes]):
    """Filled once, piece by piece."""

    def __init__(self) -> None:
        super().__init__(IN_MEMORY)
        self._held = 0

    def add(self, piece: bytes) -> None:
        """Raises `Busy` where all of them together become too much."""
        size = self.tell() + len(piece)
        if size > IN_MEMORY:
            _hold(size - self._held)
            self._held = size
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
