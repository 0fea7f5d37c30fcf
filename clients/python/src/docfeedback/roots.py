"""The root of the repository around the current folder."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def root() -> str:
    """The way there, such as `../..`; `.` without a repository.

    The home folder counts only as the current folder, since a repository of settings is not what
    stands in its sub-folders; and as git does it, nobody else's repository counts, nor their link to one.
    """
    here = Path(os.path.realpath("."))
    home = Path(os.path.realpath(os.path.expanduser("~")))  # noqa: PTH111
    for steps, folder in enumerate([here, *here.parents]):
        if steps and folder == home:
            break
        if _is_root(folder):
            return "/".join([".."] * steps) or "."
    return "."


def _is_root(folder: Path) -> bool:
    mark = folder / ".git"
    try:
        found = mark.stat()
        if hasattr(os, "geteuid") and {found.st_uid, mark.lstat().st_uid} != {os.geteuid()}:
            return False
        if stat.S_ISDIR(found.st_mode):
            return os.path.lexists(mark / "HEAD")
        return stat.S_ISREG(found.st_mode) and _starts_with(mark, b"gitdir:")
    except OSError:
        return False


def _starts_with(path: Path, word: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(word)) == word
