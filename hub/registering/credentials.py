"""The file of the app's keys: what `setup_github` writes, and the settings read at start.

Nothing of Django is imported here, because the settings import this.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from core import private_files, site_url

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


def write(path: Path, values: Mapping[str, str]) -> None:
    """Write the file, whole or not at all, for this user only. Raises OSError, also if it exists."""
    private_files.write(path, as_text(values))
