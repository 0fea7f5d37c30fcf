"""The file of the app's keys: what `setup_github` writes, and the settings read at start.

Nothing of Django is imported here, because the settings import this.
"""

import errno
import json
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from core import site_url

CODE_HOST = "HUB_GITHUB_URL"
NAMES = (
    "HUB_GITHUB_APP_ID",
    "HUB_GITHUB_APP_SLUG",
    "HUB_GITHUB_CLIENT_ID",
    "HUB_GITHUB_CLIENT_SECRET",
    "HUB_GITHUB_PRIVATE_KEY",
    "HUB_GITHUB_WEBHOOK_SECRET",
)
LARGEST = 64 * 1024  # bytes
OTHERS = 0o007
NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


class Unusable(Exception):
    """The file cannot be used; the message says what to do."""


def read(path: Path, *, code_host: str) -> dict[str, str]:
    """The app's settings by their names; none if there is no such file. Raises `Unusable`.

    Keys of another code host are refused, because they would be sent to this one.
    """
    try:
        values = _parsed(_text(path))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise Unusable(
            f"{path} cannot be read: {error.strerror}. Let the user that runs the Hub read it."
        ) from None
    except ValueError as error:
        raise Unusable(
            f"{path} is not a file that setup_github has written: {error}. Correct it, or move it "
            "away and run `manage.py setup_github` again."
        ) from None
    if not _is_of(values.get(CODE_HOST, ""), code_host):
        raise Unusable(
            f"{path} has the keys of an app on {values.get(CODE_HOST)}, and {CODE_HOST} is "
            f"{code_host}: set {CODE_HOST}, or move the file away."
        )
    return {name: values.get(name, "").strip() for name in NAMES}


def _is_of(written: str, code_host: str) -> bool:
    """Whether `written` is the code host, in any spelling."""
    try:
        return site_url.normalized(written) == code_host
    except ValueError:
        return False


def _text(path: Path) -> bytes:
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_mode & OTHERS:
            raise Unusable(
                f"{path} holds secrets, and everybody on this machine may open it: run `chmod 600 {path}`."
            )
        return file.read(LARGEST + 1)


def _parsed(text: bytes) -> dict[str, str]:
    if len(text) > LARGEST:
        raise ValueError("it is too large")
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("it is not JSON") from None
    if not isinstance(values, dict):
        raise ValueError("it is not a JSON object")
    for name in (CODE_HOST, *NAMES):
        if not isinstance(values.get(name, ""), str):
            raise ValueError(f"{name} is not a text")
    return values


def as_text(values: Mapping[str, str]) -> str:
    """The content of the file: a JSON object with the settings by their names."""
    return json.dumps(values, indent=2) + "\n"


def check_writable(path: Path) -> None:
    """Raise OSError if `write` would fail now; FileExistsError if the file is there."""
    if path.exists():
        raise FileExistsError(errno.EEXIST, "it is there already", str(path))
    _make_folder(path)
    _unnamed(path, "").unlink()


def write(path: Path, values: Mapping[str, str]) -> None:
    """Write the file, whole or not at all, for this user only. Raises OSError, also if it exists."""
    _make_folder(path)
    written = _unnamed(path, as_text(values))
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
