"""A small disk of its own for the database, which can be full."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SIZE = 512 * 1024 * 1024  # bytes; they are memory only as far as they are used
TRIES = 100  # more may be written while it is measured


class Disk:
    """What is in `folder`, on a file system of its own in memory where this machine allows that."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def mounted(self) -> Iterator["Disk"]:
        """The folder is there within the block."""
        self.folder.mkdir()
        if lacks():
            yield self
            return
        options = f"size={SIZE},mode=755"
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "hub-chaos", self.folder], check=True
        )
        try:
            yield self
        finally:
            subprocess.run(["umount", "--lazy", self.folder], check=True)

    def fill(self) -> None:
        """Nothing more fits."""
        for _ in range(TRIES):
            room = os.statvfs(self.folder)
            if self._resize((room.f_blocks - room.f_bfree) * room.f_frsize):
                return
        raise RuntimeError(f"{self.folder} could not be filled.")

    def drain(self) -> None:
        """There is room again."""
        if not self._resize(SIZE):
            raise RuntimeError(f"{self.folder} could not be drained.")

    def _resize(self, size: int) -> bool:
        command = ["mount", "-o", f"remount,size={size}", str(self.folder)]
        return subprocess.run(command, check=False, capture_output=True).returncode == 0


def lacks() -> str:
    """What this machine lacks for it, or nothing."""
    if not sys.platform.startswith("linux") or os.geteuid():
        return "a disk of its own takes root, on Linux"
    tried = subprocess.run(["unshare", "--mount", "true"], check=False, capture_output=True)
    return "" if tried.returncode == 0 else "this machine allows no file systems of one's own"
