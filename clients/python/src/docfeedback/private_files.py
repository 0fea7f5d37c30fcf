"""Files that only their owner can read, from the first moment on, and locks between processes."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from pathlib import Path
from typing import Callable, Iterator, List, Optional, Tuple

from . import files
from .files import Unusable

LOCK_SECONDS = 15  # no lock is held for longer, so an older one was left behind
LOOK_SECONDS = 0.05
LOOKS = 1200  # for a minute

Identity = Tuple[int, int]  # of a file: its inode, and when it was made


class Exposed(Exception):
    """The file belongs to somebody else, or others can read or change it."""


def read(path: Path, *, even_exposed: bool = False) -> Optional[bytes]:
    """The content; None if the file does not exist. Raises Exposed or Unusable."""
    return _read(path, lambda found: even_exposed or _is_private(found))


def read_own(path: Path, folder: Path) -> Optional[bytes]:
    """As `read`, but others may read and change the file if it is ours or root's. Raises Unusable.

    Also if another user can say where the file in the folder is.
    """
    try:
        if not is_there(path):
            return None
        refuse_other_users(path, folder)
        return _read(path, _is_own)
    except Exposed:
        raise Unusable("of_another_user") from None


def refuse_other_users(path: Path, folder: Path) -> None:
    """Raise Unusable if another user can say where the file in the folder is.

    By a link on the way, or by owning the folder, what is below it, or the one that it is in.
    """
    above = Path(os.path.realpath(folder.parent)).parent
    if files.of_another_user(str(path), str(above)):
        raise Unusable("of_another_user")


def _read(path: Path, may_be_read: Callable[[os.stat_result], bool]) -> Optional[bytes]:
    with _reasons():
        try:
            with open(path, "rb", opener=_open_at_once) as file:
                found = os.fstat(file.fileno())
                if not stat.S_ISREG(found.st_mode):
                    raise Unusable("not_a_regular_file")
                if not may_be_read(found):
                    raise Exposed
                return files.bounded(file, "document_too_large")
        except FileNotFoundError:
            return None


def keep(path: Path, data: bytes) -> None:
    """As `write`; makes the folder, too."""
    with _reasons():
        _make_folder(path.parent)
    write(path, data)


def write(path: Path, data: bytes) -> None:
    """Replace the file completely or not at all; its folder exists. Raises Unusable."""
    with _reasons():
        folder = Path(files.resolved(str(path.parent)))
        files.write(folder / path.name, data, None, mode=0o600)


def is_there(path: Path) -> bool:
    """Whether there is such a file. Raises Unusable where that is not known."""
    with _reasons():
        try:
            path.stat()
        except FileNotFoundError:
            return False
        return True


def remove(path: Path) -> None:
    """Delete the file if it is there. Raises Unusable."""
    with _reasons(), contextlib.suppress(FileNotFoundError):
        path.unlink()


def drafts(path: Path) -> List[Path]:
    """What is left of the file where writing it was cut short."""
    start = f".{path.name}.docfeedback-"  # in which a bracket is no pattern
    return [each for each in path.parent.glob(".*") if each.name.startswith(start)]


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock at `path` for a moment: while it exists, others wait. Makes its folder.

    A file, because Node has no other lock. Raises Unusable, also if others hold it for a minute.
    """
    with _reasons():
        _make_folder(path.parent)
        mine = _acquired(path)
    try:
        yield
    finally:
        with _reasons():
            if _identity(path) == mine:  # else it was taken over
                remove(path)


def _acquired(path: Path) -> Identity:
    """The lock, once it is ours. Looks are counted, because the clock may be changed meanwhile."""
    seen, age = None, 0.0
    for _ in range(LOOKS):
        mine = _made(path)
        if mine is not None:
            return mine
        found = _identity(path)
        if found is None:
            continue
        if found != seen:
            seen, age = found, _age(path, found)
        if age > LOCK_SECONDS:
            _take_away(path, found)
        else:
            time.sleep(LOOK_SECONDS)
            age += LOOK_SECONDS
    raise Unusable("locked")


def _take_away(path: Path, left_behind: Identity) -> None:
    """Delete this lock, but not one that another who waited has made in its place."""
    aside = _beside(path)
    with contextlib.suppress(FileNotFoundError):
        os.rename(path, aside)  # noqa: PTH104 (one call, which only one of many can win)
        if _identity(aside) == left_behind:
            aside.unlink()
        else:
            aside.replace(path)


def _make_folder(path: Path) -> None:
    """The folder and those above it, for their owner only (XDG Base Directory Specification)."""
    for folder in (*reversed(path.parents), path):
        if not folder.is_dir():
            folder.mkdir(mode=0o700, exist_ok=True)


def _made(path: Path) -> Optional[Identity]:
    """Make an empty file; None if there is one already."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return None
    try:
        return _identity_of(os.fstat(handle))
    finally:
        os.close(handle)


def _age(path: Path, found: Identity) -> float:
    """How many seconds ago the lock was made, by the clock of the disk: that may not be ours."""
    probe = _beside(path)
    made = _made(probe)
    remove(probe)
    return 0.0 if made is None else (max(0, made[1] - found[1])) / 1e9


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.docfeedback-{os.urandom(6).hex()}")


def _identity(path: Path) -> Optional[Identity]:
    """Which file is at `path`, a symbolic link being one; None if there is none."""
    try:
        return _identity_of(path.lstat())
    except FileNotFoundError:
        return None


def _identity_of(found: os.stat_result) -> Identity:
    return found.st_ino, found.st_mtime_ns


def _open_at_once(path: str, flags: int) -> int:
    """Open a file without waiting for the writer of a FIFO (Windows has none)."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _is_private(found: os.stat_result) -> bool:
    if not hasattr(os, "geteuid"):  # Windows has no such modes
        return True
    return found.st_uid == os.geteuid() and not found.st_mode & 0o077


def _is_own(found: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or found.st_uid in (0, os.geteuid())


@contextlib.contextmanager
def _reasons() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Unusable(files.reason_of(error)) from None
