"""Files for this user alone that are written whole or not at all.

Nothing of Django is imported here, because the settings import this.
"""

import errno
import os
import secrets
from contextlib import suppress
from pathlib import Path

NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


def check_writable(path: Path) -> None:
    """Raise OSError if `write` would fail now; FileExistsError if the file is there."""
    if path.exists():
        raise FileExistsError(errno.EEXIST, "it is there already", str(path))
    _make_folder(path)
    _unnamed(path, "").unlink()


def write(path: Path, text: str) -> None:
    """Write the file. Raises OSError, also if it exists."""
    _make_folder(path)
    written = _unnamed(path, text)
    try:
        _name(written, path)
    finally:
        written.unlink(missing_ok=True)


def _make_folder(path: Path) -> None:
    with suppress(FileExistsError):  # where it is no folder, opening a file in it says so
        path.parent.mkdir(parents=True)


def _unnamed(path: Path, text: str) -> Path:
    """A new file beside that path with this text, safely on the disk."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        beside.unlink(missing_ok=True)
        raise
    return beside


def _name(written: Path, path: Path) -> None:
    """Give the file its name, unless another has it: one of two operators would lose their app."""
    try:
        os.link(written, path)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        if path.exists():
            raise FileExistsError(errno.EEXIST, "it is there already", str(path)) from None
        written.rename(path)  # on a file system without hard links
