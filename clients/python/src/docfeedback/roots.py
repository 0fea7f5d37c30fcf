"""The root of the repository around the current folder."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from . import files


def root() -> str:
    """The way there, such as `../..`; `.` without a repository. Raises Unusable if the current folder is gone.

    The home folder counts only as the current folder, since a repository of settings is not what
    stands in its sub-folders; and as git does it, nobody else's repository counts, nor their link to one.
    A link of one's own that leads out of the folder counts without a look at what is there.
    """
    try:
        here = Path(os.path.realpath("."))
    except OSError as error:
        raise files.Unusable(files.reason_of(error)) from None
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
        if not _is_ours(mark.lstat()):
            return False
        if files.leads_out(str(mark), str(folder)):
            return True
        found = mark.stat()
        if not _is_ours(found):
            return False
        if stat.S_ISDIR(found.st_mode):
            return os.path.lexists(mark / "HEAD")
        return stat.S_ISREG(found.st_mode) and _starts_with(mark, b"gitdir:")
    except OSError:
        return False


def _is_ours(found: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or found.st_uid == os.geteuid()


def _starts_with(path: Path, word: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(word)) == word
