"""Finds the programs of this computer, and none of the folder in which a command runs."""

from __future__ import annotations

import os
from typing import Optional


def find(name: str) -> Optional[str]:
    """The path of a program, or None. Folders of PATH that depend on the current one do not count."""
    name += ".exe" if os.name == "nt" else ""
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder, name)  # noqa: PTH118
        if os.path.isabs(folder) and os.path.isfile(path) and os.access(path, os.X_OK):  # noqa: PTH113, PTH117
            return path
    return None
