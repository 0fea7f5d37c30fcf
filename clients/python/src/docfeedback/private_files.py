"""Files that only their owner can read, from the first moment on, and locks between processes."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import Iterator, Optional

from . import files
from .files import Unusable

LOCK_SECONDS = 15  # no lock is held for longer, so an older one was left behind
LOOK_SECONDS = 0.05


class Exposed(Exception):
    """The file belongs to somebody else, or others can read or change it."""


def read(path: Path, *, even_exposed: bool = False) -> Optional[bytes]:
    """The content; None if the file does not exist. Raises Exposed or Unusable."""
    with _reasons():
        try:
            with path.open("rb") as file:
                if not even_exposed and not _is_private(os.fstat(file.fileno())):
                    raise Exposed
                return file.read()
        except FileNotFoundError:
            return None


def write(path: Path, data: bytes) -> None:
    """Replace the file completely or not at all; its folder exists. Raises Unusable."""
    with _reasons():
        files.write(path, data, None, mode=0o600)


def remove(path: Path) -> None:
    """Delete the file if it is there. Raises Unusable."""
    with _reasons(), contextlib.suppress(FileNotFoundError):
        path.unlink()


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock at `path` for a moment: while it exists, others wait. Makes its folder.

    A file, because Node has no other lock. Raises Unusable.
    """
    with _reasons():
        _make_folder(path.parent)
        while not _is_made(path):
            if _age(path) > LOCK_SECONDS:
                remove(path)
            else:
                time.sleep(LOOK_SECONDS)
    try:
        yield
    finally:
        remove(path)


def _make_folder(path: Path) -> None:
    """The folder and those above it, for their owner only (XDG Base Directory Specification)."""
    for folder in (*reversed(path.parents), path):
        if not folder.is_dir():
            folder.mkdir(mode=0o700, exist_ok=True)


def _is_made(path: Path) -> bool:
    """Make an empty file; False if there is one already."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return False
    return True


def _age(path: Path) -> float:
    """How many seconds ago the file was made; 0 if it is gone."""
    try:
        return abs(time.time() - path.stat().st_mtime)
    except FileNotFoundError:
        return 0.0


def _is_private(found: os.stat_result) -> bool:
    if not hasattr(os, "geteuid"):  # Windows has no such modes
        return True
    return found.st_uid == os.geteuid() and not found.st_mode & 0o077


@contextlib.contextmanager
def _reasons() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Unusable(files.reason_of(error)) from None
