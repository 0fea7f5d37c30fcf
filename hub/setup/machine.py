"""This machine: room on its disks, who may read the secrets, and the static files."""

import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from hub.setup.findings import Finding, note, ok, problem, warning

FULL, NEARLY_FULL = 100 * 2**20, 2**30  # bytes that are left
OTHERS = stat.S_IRWXO


def disk() -> Iterator[Finding]:
    """Whether there is room where the Hub writes."""
    for folder in sorted({_existing(each) for each in _written_to()}):
        free = shutil.disk_usage(folder).free
        left = f"{folder} has {free // 2**20} MiB left"
        if free < FULL:
            yield problem(f"{left}: make room, or reports can soon not be stored.")
        elif free < NEARLY_FULL:
            yield warning(f"{left}: make room soon.")
        else:
            yield ok(f"{folder} has {free // 2**30} GiB left.")


def files() -> Iterator[Finding]:
    """Whether others may read the secrets, and whether the static files are those of this version."""
    open_to_all = [path for path in _secrets() if _is_open(path)]
    for path in open_to_all:
        yield warning(f"Everybody on this machine may read {path}: run `chmod o= {path}`.")
    if not open_to_all:
        yield ok("Nobody else on this machine may read the files with secrets.")
    if not settings.HUB_DEBUG:  # which serves them from where they are
        yield _static_files()


def _written_to() -> list[Path]:
    return [settings.VAR_DIR, *(path.parent for path in _databases())]


def _databases() -> list[Path]:
    if settings.MISSING:
        return [*settings.MISSING]
    database = settings.DATABASES["default"]
    return [Path(database["NAME"])] if database["ENGINE"].endswith("sqlite3") else []


def _existing(folder: Path) -> Path:
    return next(each for each in (folder, *folder.parents) if each.exists())


def _is_open(path: Path) -> bool:
    try:
        return path.is_file() and bool(path.stat().st_mode & OTHERS)
    except OSError:  # such as a key where a path should be: too long for one, and not to be quoted
        return False


def _secrets() -> list[Path]:
    key = settings.HUB_GITHUB_PRIVATE_KEY
    named = [Path(key)] if key and "BEGIN" not in key else []
    kept = settings.BASE_DIR / settings.HUB_GITHUB_CREDENTIALS  # a folder, where there is none
    return [*named, kept, settings.VAR_DIR / "secret_key", *_databases()]


def _static_files() -> Finding:
    collected = Path(settings.STATIC_ROOT) / "staticfiles.json"
    if not collected.exists():
        return note(
            f"No static files in {settings.STATIC_ROOT}: `serve` collects them at its next start, "
            "or run `manage.py collectstatic --no-input` and restart it."
        )
    newest = max(path.stat().st_mtime for path in (settings.BASE_DIR / "static").iterdir())
    if collected.stat().st_mtime < newest:
        return warning(
            "The static files were collected before this version came: "
            "run `manage.py collectstatic --no-input`, and restart the servers."
        )
    return ok("The static files are collected.")
