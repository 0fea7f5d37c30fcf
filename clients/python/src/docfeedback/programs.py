"""Finds the programs of this computer, and none of the folder in which a command runs; says what they are given."""

from __future__ import annotations

import os
from typing import Dict, Optional


def find(name: str) -> Optional[str]:
    """The path of a program, or None. Folders of PATH that depend on the current one do not count."""
    name += ".exe" if os.name == "nt" else ""
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder, name)  # noqa: PTH118
        if os.path.isabs(folder) and os.path.isfile(path) and os.access(path, os.X_OK):  # noqa: PTH113, PTH117
            return path
    return None


def environment() -> Dict[str, str]:
    """Ours for a program, without the token: what it starts in turn can outlive us."""
    return {name: value for name, value in os.environ.items() if name != "DOCFEEDBACK_TOKEN"}
