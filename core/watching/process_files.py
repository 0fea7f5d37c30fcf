"""The files in which each process counts, and their sum over all processes of this machine.

`prometheus_client` maps two files for each process. A process that counts holds a lock as long as it lives:
what a dead one has counted is added to the files of the past, so that no total ever gets smaller, and its
own files are removed. There are never more than those of the living and of the past.

Each file has its room on the disk before anything is written: to write into a mapped file that the disk has
no room for ends the process. Without room, `OSError` is raised.
"""

import fcntl
import os
import secrets
import socket
import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from django.conf import settings
from prometheus_client.metrics_core import Metric
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector

KINDS = ("counter", "histogram")
PAST = "past"
SMALLEST = 1 << 16  # bytes; it grows by doubling

_name = ""
_process = 0
_held: IO[bytes] | None = None  # its lock ends with this process


class RoomyDict(MmapedDict):
    """The library's, with its room on the disk."""

    def __init__(self, filename: str):
        with Path(filename).open("ab") as file:
            _make_room(file, SMALLEST)
        super().__init__(filename)

    def _init_value(self, key: str) -> None:
        most = len(key.encode()) + 32  # bytes: with its length, its padding and two numbers
        if self._used + most > self._capacity:
            _make_room(self._f, 2 * self._capacity)
        super()._init_value(key)


def _make_room(file: IO[bytes], size: int) -> None:
    """Make the file at least so large, or leave it as it was and raise `OSError`."""
    before = os.fstat(file.fileno()).st_size
    try:
        os.posix_fallocate(file.fileno(), 0, max(before, size))
    except OSError:
        os.ftruncate(file.fileno(), before)
        raise


def folder() -> Path:
    """Where the files are."""
    return settings.METRICS_FOLDER


def name_of_this_process() -> str:
    """Names the files of this process, in which nobody else writes; another name after a fork."""
    global _name, _process
    if _process != os.getpid():
        _name, _process = _begun(), os.getpid()
    return _name


def _begun() -> str:
    """Take a name, and the lock of it."""
    global _held
    if _held:
        _held.close()  # from before the fork; there it stays locked
    name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(2)}".replace("_", "-")
    with _alone():
        _add_up_the_dead()
        _held = _lock_of(name).open("wb")
        fcntl.flock(_held, fcntl.LOCK_EX)
    return name


def added_up() -> Iterable[Metric]:
    """What all processes have counted."""
    with _alone():
        _add_up_the_dead()
        begun = [file for file in folder().glob("*.db") if file.stat().st_size]
        return MultiProcessCollector.merge(map(str, begun))


def clear() -> None:
    """Begin anew, unless another process is counting."""
    with _alone():
        _add_up_the_dead()
        if not list(folder().glob("*.lock")):
            for kind in KINDS:
                _file(kind, PAST).unlink(missing_ok=True)


@contextmanager
def _alone() -> Iterator[None]:
    """Nobody else adds up or begins meanwhile. Those that count do not wait for it."""
    folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    with (folder() / "all").open("wb") as all_files:
        fcntl.flock(all_files, fcntl.LOCK_EX)
        yield


def _add_up_the_dead() -> None:
    for lock in folder().glob("*.lock"):
        with lock.open("rb") as held, suppress(OSError):  # it lives, or there is no room for a sum
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for kind in KINDS:
                _add_to_the_past(kind, _file(kind, lock.stem))
            lock.unlink()


def _add_to_the_past(kind: str, ended: Path) -> None:
    if not ended.exists():
        return
    past, new = _file(kind, PAST), folder() / f"{kind}.new"
    totals: defaultdict[str, float] = defaultdict(float)
    for each in (past, ended):
        for key, value in _values(each):
            totals[key] += value
    new.unlink(missing_ok=True)
    try:
        written = RoomyDict(str(new))
        for key, value in totals.items():
            written.write_value(key, value, 0.0)
        written.close()
    except OSError:
        new.unlink(missing_ok=True)
        raise
    new.replace(past)
    ended.unlink()


def _values(file: Path) -> list[tuple[str, float]]:
    """What a file holds; nothing if it is not there, or was cut off by the end of the machine."""
    try:
        found = MmapedDict.read_all_values_from_file(str(file))
        return [(key, value) for key, value, *_ in found]
    except (OSError, ValueError, RuntimeError, struct.error):
        return []


def _file(kind: str, name: str) -> Path:
    return folder() / f"{kind}_{name}.db"


def _lock_of(name: str) -> Path:
    return folder() / f"{name}.lock"
