"""The versions of the docs that this Hub has, each read once a process."""

import re
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from hub.docs import library
from hub.docs.library import LATEST, Library

FOLDER = settings.BASE_DIR / "docs"
VERSION = re.compile(r"v0(?:\.[0-9]+)?")


def latest() -> Library:
    """The library that is worked on."""
    library = find(LATEST)
    if library is None:
        raise FileNotFoundError(f"{FOLDER / LATEST} has no index.md.")
    return library


def versions() -> list[str]:
    """All that there are, the latest first, then the newest."""
    known = (path.parent.name for path in FOLDER.glob("*/index.md"))
    frozen = (each for each in known if VERSION.fullmatch(each) and each != LATEST)
    return [LATEST, *sorted(frozen, key=lambda each: int(each.split(".")[1]), reverse=True)]


def address(version: str, name: str) -> str:
    """The address of the page with this name in a version; of the first page if it has none. Reads no page."""
    is_there = name and (FOLDER / version / f"{name}.md").is_file()
    return f"/{version}/{name}/" if is_there else f"/{version}/"


def find(version: str) -> Library | None:
    """The library of a version; None where there is none."""
    folder = FOLDER / version
    if not VERSION.fullmatch(version) or not (folder / "index.md").is_file():
        return None
    return _read(folder, settings.HUB_BASE_URL, _changed(folder) if settings.HUB_DEBUG else 0)


def _changed(folder: Path) -> int:
    """When a file in it was last changed, so that a writer sees the change at once."""
    return max(path.stat().st_mtime_ns for path in folder.rglob("*"))


@lru_cache(maxsize=64)  # more than there are versions
def _read(folder: Path, base_url: str, changed: int) -> Library:
    return library.read(folder, base_url=base_url)
