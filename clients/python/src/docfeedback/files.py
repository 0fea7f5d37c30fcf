"""The user's files: read completely, and replaced completely or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import sys
import time
from base64 import urlsafe_b64decode
from pathlib import Path
from typing import Any, BinaryIO, Iterator, List, NamedTuple, Optional, Tuple

from . import document
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
    errno.ENOSPC: "disk_full",
    errno.EDQUOT: "disk_full",
    errno.ENAMETOOLONG: "name_too_long",
}
MAX_BYTES = 1024 * 1024  # a report has 64 KiB
BASE64 = re.compile(r"[A-Za-z0-9_-]+")
GIT = (".git", "git~1")  # its own folder, as Windows abbreviates it too; disks may ignore case
MOST_LINKS = 40  # in one path, as Linux has it
MOMENT = (
    0.02  # seconds: an interrupt that ended the writer of half a text comes before we send that
)


class Unusable(Exception):
    """A file that cannot be read or written; `reason` is its message in `messages.json`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Changed(Unusable):
    """Others have changed the file, or what leads to it, since it was read."""

    def __init__(self) -> None:
        super().__init__("other_reason")


class Seen(NamedTuple):
    """A file's content, and whose it is: of one and the same file, whatever stands there by now."""

    data: bytes
    state: os.stat_result


def read_text(path: str) -> str:
    """The UTF-8 text, up to 1 MiB, of a file, of a pipe, or of standard input for `-`."""
    name = message("standard_input") if path == "-" else path
    try:
        data = _standard_input() if path == "-" else _content(path, "report_too_large")
        return data.decode("utf-8-sig")
    except Unusable as error:
        reason = message(error.reason)
        raise ValidationError.of("unreadable_file", path=name, reason=reason) from None
    except OSError as error:
        reason = message(reason_of(error))
        raise ValidationError.of("unreadable_file", path=name, reason=reason) from None
    except UnicodeDecodeError:
        raise ValidationError.of("not_utf8", path=name) from None


def read_json(path: str) -> Any:
    """The JSON in a file, or on standard input for `-`."""
    name = message("standard_input") if path == "-" else path
    try:
        return document.parse(read_text(path).encode(), unique=True)
    except document.NoDocument as error:
        raise ValidationError.of(error.code, path=name, key=error.key) from None


def read_base64(text: str) -> Any:
    """The JSON that is written as base64url (RFC 4648) without padding."""
    try:
        if not BASE64.fullmatch(text) or len(text) % 4 == 1:
            raise document.NoDocument("not_json")
        return document.parse(urlsafe_b64decode(text + "=" * (-len(text) % 4)), unique=True)
    except document.NoDocument as error:
        raise ValidationError.of(error.code, path="--base64", key=error.key) from None


def read(path: str) -> Optional[bytes]:
    """The content of the file at a path without links; None if it does not exist. Raises Unusable."""
    seen = _look(path)
    return seen.data if seen else None


def _look(path: str) -> Optional[Seen]:
    """The file, not through a symbolic link; None if it does not exist. Raises Unusable."""
    try:
        with open(path, "rb", opener=_open_no_link) as file:
            state = os.fstat(file.fileno())
            if not stat.S_ISREG(state.st_mode):
                raise Unusable("not_a_regular_file")
            return Seen(bounded(file, "document_too_large"), state)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unusable(reason_of(error)) from None


def _open_no_link(path: str, flags: int) -> int:
    """Open a file without waiting for the writer of a FIFO (Windows has neither flag)."""
    more = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    return os.open(path, flags | more)


def _content(path: str, too_large: str) -> bytes:
    """At most 1 MiB of a file or pipe. Raises Unusable (`too_large`) or OSError."""
    mode = Path(path).stat().st_mode
    if stat.S_ISDIR(mode):
        raise Unusable("is_a_directory")
    if not stat.S_ISREG(mode) and not stat.S_ISFIFO(mode):
        raise Unusable("not_a_regular_file")
    with Path(path).open("rb") as file:
        return bounded(file, too_large)


def bounded(file: BinaryIO, too_large: str) -> bytes:
    """At most 1 MiB. Raises Unusable (`too_large`)."""
    data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise Unusable(too_large)
    return data


def _standard_input() -> bytes:
    """Standard input. Raises Unusable if it is too large, or closed or empty: that was not meant to be sent."""
    data = bounded(sys.stdin.buffer, "report_too_large") if sys.stdin else b""
    if not data:
        raise Unusable("empty_file")
    time.sleep(MOMENT)
    return data


def is_outside(real: str, folder: str) -> bool:
    """Whether a path without links is not below the folder, or is git's."""
    path, inside = Path(real), Path(os.path.realpath(folder))
    if inside not in path.parents:
        return True
    return any(name.lower() in GIT for name in path.relative_to(inside).parts)


def leads_out(path: str, folder: str) -> bool:
    """Whether a link on the way to the file leads to what is neither the folder nor below it."""
    real, inside = Path(place(path, folder)), Path(os.path.realpath(folder))
    return inside not in (real, *real.parents)


def place(path: str, folder: str) -> str:
    """Where the links on the way to the file lead; what is outside the folder is not looked at, but text.

    Where an automounter runs, looking at `/net/<host>/x` would already tell the host.
    """
    inside, end = Path(os.path.realpath(folder)), Path()
    for end, rest in _way(path):
        if inside not in (end, *end.parents) and end not in inside.parents:
            return os.path.normpath(end.joinpath(*rest))
    return str(end)


def resolved(path: str) -> str:
    """Where the file is or would be, through symbolic links. Raises Unusable."""
    try:
        return str([step for step, _ in _way(path)][-1])
    except OSError as error:
        raise Unusable(reason_of(error)) from None


def of_another_user(path: str, folder: str) -> Optional[str]:
    """The first link on the way to the file, or folder below the folder, of another user than root; else None."""
    if not hasattr(os, "geteuid"):
        return None
    inside = Path(os.path.realpath(folder))
    with contextlib.suppress(OSError):  # whoever reads the file is told
        for step, _ in _way(path):
            found = step.lstat()
            leads = stat.S_ISLNK(found.st_mode)
            leads = leads or (stat.S_ISDIR(found.st_mode) and inside in step.parents)
            if leads and found.st_uid not in (0, os.geteuid()):
                return str(step)
    return None


def _way(path: str) -> Iterator[Tuple[Path, List[str]]]:
    """Each folder and link on the way to the file, and the file, in the order in which the system opens them.

    With the parts of the path behind it. Each is looked at only once the next one is asked for.
    """
    whole = Path(path)
    if not whole.is_absolute():
        whole = Path.cwd() / whole
    parts = [*reversed(whole.parts)]
    step, links = Path(), 0
    while parts and links <= MOST_LINKS:
        part = parts.pop()
        step = step.parent if part == ".." else step / part  # the root, if that is the part
        yield step, parts[::-1]
        target = link_target(str(step))
        if target is not None:
            links += 1
            parts.extend(reversed(Path(target).parts))
            step = step.parent


def link_target(path: str) -> Optional[str]:
    """Where a symbolic link leads, as it is written there; None if it is none."""
    try:
        return os.readlink(path)  # noqa: PTH115 (a link to `/net/..` is to be seen as it is)
    except (OSError, ValueError):
        return None


def replace(path: str, data: bytes, before: Optional[bytes]) -> None:
    """Replace the content of the file at a path without links; an interrupted write leaves the old one.

    `before`: what was read there, None without a file. Mode and owner are kept, and a link that has come
    there is not followed. Raises Unusable or Changed.
    """
    seen = _unchanged(path, before)
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        if seen is not None:
            _refuse_read_only(Path(path))
        write(Path(path), data, seen.state if seen else None)
    except OSError as error:
        raise Unusable(reason_of(error)) from None


def remove(path: str, before: bytes) -> None:
    """Delete the file at a path without links, in which that was read. Raises Unusable or Changed."""
    _unchanged(path, before)
    try:
        _refuse_read_only(Path(path))
        Path(path).unlink()
    except OSError as error:
        raise Unusable(reason_of(error)) from None


def _unchanged(path: str, before: Optional[bytes]) -> Optional[Seen]:
    """The file as it is. Raises Changed if others have written it, or made a link of it or its folders."""
    if resolved(path) != path:
        raise Changed
    seen = _look(path)
    if (seen.data if seen else None) != before:
        raise Changed
    return seen


def _refuse_read_only(path: Path) -> None:
    """Refuse read-only files, because replacing a file does not need permission to write it."""
    if not path.stat().st_mode & 0o222 or not os.access(path, os.W_OK):
        raise Unusable("read_only")


def write(
    target: Path, data: bytes, before: Optional[os.stat_result], *, mode: int = 0o666
) -> None:
    """Write a draft beside the file and rename it; it is never readable by more people than the file.

    No folder on the way is a link. `before`: the file whose owner and mode it gets; without one, its mode is
    `mode`. Raises OSError, or Changed if others move it meanwhile.
    """
    draft = target.with_name(f".{target.name}.docfeedback-{os.urandom(6).hex()}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if before else mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            if before is not None:
                _hand_over(file.fileno(), before)
            _refuse_moved(draft, file.fileno())
        draft.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise


def _refuse_moved(draft: Path, handle: int) -> None:
    """Raise Changed if another file than the open draft is at its path, or a link is on the way there."""
    if resolved(str(draft)) != str(draft):
        raise Changed
    if hasattr(os, "fchown") and not os.path.samestat(draft.lstat(), os.fstat(handle)):
        raise Changed


def _hand_over(handle: int, before: os.stat_result) -> None:
    """Give the open draft its owner and mode: at its path, another user may have put a link."""
    if hasattr(os, "fchown"):  # Windows has no owners and modes
        os.fchown(handle, before.st_uid, before.st_gid)
        os.fchmod(handle, before.st_mode & 0o777)


def reason_of(error: OSError) -> str:
    """The name in `messages.json` of why a file cannot be used."""
    return REASONS.get(error.errno or 0, "other_reason")
