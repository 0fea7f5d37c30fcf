"""The versions of the docs that this Hub has, each read once a process."""

import re
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from hub.docs import library
from hub.docs.library import Library

FOLDER = settings.BASE_DIR / "docs"
LATEST = "v0"
VERSION = re.compile(r"v0(?:\.[0-9]+)?")


def latest() -> Library:
    """The library that is worked on."""
    library = find(LATEST)
    if library is None:
        raise FileNotFoundError(f"{FOLDER / LATEST} has no index.md.")
    return library


def find(version: str) -> Library | None:
    """The library of a version; None where there is none."""
    folder = FOLDER / version
    if not VERSION.fullmatch(version) or not (folder / "index.md").is_file():
        return None
    return _read(folder, settings.HUB_BASE_URL, _changed(folder) if settings.HUB_DEBUG else 0)


def _changed(folder: Path) -> int:
    """When a file in it was last changed, so that a writer sees the change at once."""
    return max(path.stat().st_mtime_ns for path in folder.rglob("*"))


@lru_cache(maxsize=8)
def _read(folder: Path, base_url: str, changed: int) -> Library:
    return library.read(folder, base_url=base_url)
