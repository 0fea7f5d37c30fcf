"""Files of the user: read whole, and replaced whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
import sys
from pathlib import Path
from typing import Any, Optional

from .contract import message
from .errors import ValidationError

REASONS = {
    errno.ENOENT: "no_such_file",
    errno.ENOTDIR: "not_a_directory",
    errno.EEXIST: "not_a_directory",
    errno.EISDIR: "is_a_directory",
    errno.EACCES: "permission_denied",
    errno.EPERM: "permission_denied",
    errno.EROFS: "read_only",
    errno.ELOOP: "symlink_loop",
}


class Unusable(Exception):
    """A file that cannot be read or written; `reason` is its sentence in `messages.json`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def read_text(path: str) -> str:
    """The UTF-8 text of a file, or of standard input for `-`."""
    name = message("standard_input") if path == "-" else path
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        return data.decode("utf-8-sig")
    except OSError as error:
        reason = message(_reason(error))
        raise ValidationError.of("unreadable_file", path=name, reason=reason) from None
    except UnicodeDecodeError:
        raise ValidationError.of("not_utf8", path=name) from None


def read_json(path: str) -> Any:
    """The JSON in a file, or on standard input for `-`."""
    name = message("standard_input") if path == "-" else path
    try:
        return json.loads(read_text(path), parse_constant=_no_constant)
    except RecursionError:
        raise ValidationError.of("too_deep") from None
    except ValueError:
        raise ValidationError.of("not_json", path=name) from None


def read(path: str) -> Optional[bytes]:
    """What is in the file, through symbolic links; None where there is none, or Unusable."""
    try:
        mode = Path(path).stat().st_mode
        if stat.S_ISDIR(mode):
            raise Unusable("is_a_directory")
        if not stat.S_ISREG(mode):
            raise Unusable("not_a_regular_file")
        return Path(path).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unusable(_reason(error)) from None


def replace(path: str, data: bytes) -> None:
    """Write the file anew, or Unusable: an interrupted write leaves the old one as it was.

    A symbolic link stays one, and its target is written; mode and owner are kept.
    """
    target = Path(os.path.realpath(path))
    draft = target.with_name(f".{target.name}.docfeedback-{os.getpid()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        before = target.stat() if target.exists() else None
        if before is not None and not before.st_mode & 0o222:
            raise Unusable("read_only")
        _write(draft, data, before)
        draft.replace(target)
    except OSError as error:
        raise Unusable(_reason(error)) from None
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()


def remove(path: str) -> None:
    """Delete the file; a symbolic link stays, and its target is left empty."""
    if Path(path).is_symlink():
        return replace(path, b"")
    try:
        if not Path(path).stat().st_mode & 0o222:
            raise Unusable("read_only")
        Path(path).unlink()
    except OSError as error:
        raise Unusable(_reason(error)) from None
    return None


def _write(draft: Path, data: bytes, before: Optional[os.stat_result]) -> None:
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    if before is None:
        return
    if hasattr(os, "chown"):
        with contextlib.suppress(OSError):
            os.chown(draft, before.st_uid, before.st_gid)
    draft.chmod(stat.S_IMODE(before.st_mode))


def _reason(error: OSError) -> str:
    return REASONS.get(error.errno or 0, "other_reason")


def _no_constant(name: str) -> None:
    raise ValueError(name)
