"""The CHANGELOG: what is under *Unreleased* becomes what is under a version and its date."""

import re
from datetime import date

UNRELEASED = "## Unreleased\n"
RELEASED = re.compile(r"^## ([0-9.]+) \([0-9]{4}-[0-9]{2}-[0-9]{2}\)$", re.MULTILINE)


class CannotRelease(Exception):
    """Why there can be no release, as a sentence."""


def released(text: str, version: str, today: date) -> str:
    """The text of it, with this version in the place of *Unreleased*. Raises `CannotRelease`.

    >>> released("# Log\\n\\n## Unreleased\\n\\n- New.\\n", "0.1.0", date(2026, 1, 31))
    '# Log\\n\\n## 0.1.0 (2026-01-31)\\n\\n- New.\\n'
    """
    before, heading, after = text.partition(UNRELEASED)
    if not heading or not re.split("^## ", after, maxsplit=1, flags=re.MULTILINE)[0].strip():
        raise CannotRelease("CHANGELOG.md has nothing under `## Unreleased`.")
    last = max(map(_numbers, RELEASED.findall(text)), default=())
    if _numbers(version) <= last:
        raise CannotRelease(f"{version} is not later than what CHANGELOG.md has.")
    return f"{before}## {version} ({today:%Y-%m-%d})\n{after}"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
