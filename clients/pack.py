"""Builds what is published of the clients, without a network: wheels, source archives and the Node package.

Run `script/packages FOLDER`. It needs setuptools 70.1 or newer, and npm.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

CLIENTS = Path(__file__).resolve().parent
PYTHON = ("python", "mcp")
BUILD = "from setuptools import build_meta as it; it.build_sdist({0!r}); it.build_wheel({0!r})"
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "dist", "node_modules")


def main(target: Path) -> None:
    """Build all packages into the folder, which must be empty or absent."""
    target.mkdir(parents=True, exist_ok=True)
    if any(target.iterdir()):
        sys.exit(f"{target} is not empty. Name an empty folder, so that nothing old is published.")
    with tempfile.TemporaryDirectory() as folder:
        for name in (*PYTHON, "node"):
            shutil.copytree(CLIENTS / name, Path(folder) / name, ignore=LEFT_OUT)
        for name in PYTHON:
            _run(sys.executable, "-c", BUILD.format(str(target)), cwd=Path(folder) / name)
        npm = ("npm", "--offline", "--silent", "--cache", f"{folder}/cache")
        _run(*npm, "pack", "--pack-destination", str(target), cwd=Path(folder) / "node")
    for path in sorted(target.iterdir()):
        print(path.name)
    for sentence in undecided(CLIENTS.parent):
        print(f"Do not publish these yet: {sentence}", file=sys.stderr)


def undecided(root: Path) -> Iterator[str]:
    """What the owner of the repository in a folder has to decide before anybody else gets it."""
    if re.search(r"(?m)^ *Address: *none yet *$", (root / "SECURITY.md").read_text("utf-8")):
        yield "SECURITY.md names nobody to write to."
    if not any(root.glob("LICENSE*")):
        yield "there is no LICENSE."


def _run(*command: str, cwd: Path) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)  # noqa: S603 (ours)
    if done.returncode:
        sys.exit(done.stderr or done.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "dist").resolve())
