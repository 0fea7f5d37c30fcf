"""Snapshots of the docs: copied once, with the SHA-256 of every file, and never changed again."""

import hashlib
import re
import shutil
from pathlib import Path

from hub.docs.library import IMAGES

MANIFEST = "SHA256SUMS"  # as the command `sha256sum --check` reads it
KEPT = {".md", *IMAGES}


class CannotFreeze(Exception):
    """Why no snapshot was made, as a sentence."""


def freeze(latest: Path, version: str) -> Path:
    """Copy the folder `latest` beside itself, as the docs of `version` (such as `0.1`); returns the copy.

    Raises `CannotFreeze`.
    """
    if not re.fullmatch(r"0\.[0-9]+", version):
        raise CannotFreeze(f"{version!r} is no version of these docs: write it as 0.1.")
    snapshot = latest.with_name(f"v{version}")
    if snapshot.exists():
        raise CannotFreeze(f"{snapshot} exists already, and a snapshot never changes.")
    unfinished = latest.with_name(f".v{version}")
    shutil.rmtree(unfinished, ignore_errors=True)
    for path in _files(latest):
        (unfinished / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(latest / path, unfinished / path)
    (unfinished / MANIFEST).write_text(_manifest(unfinished), encoding="utf-8")
    unfinished.rename(snapshot)
    return snapshot


def changes(snapshot: Path) -> list[str]:
    """What is not as it was frozen: lines of its manifest that are missing, or that should not be there."""
    kept = (snapshot / MANIFEST).read_text(encoding="utf-8").splitlines()
    return sorted(set(kept) ^ set(_manifest(snapshot).splitlines()))


def _manifest(folder: Path) -> str:
    return "".join(
        f"{hashlib.sha256((folder / path).read_bytes()).hexdigest()}  {path}\n"
        for path in _files(folder)
    )


def _files(folder: Path) -> list[str]:
    """The pages and images, by their paths in the folder."""
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.suffix in KEPT
    )
