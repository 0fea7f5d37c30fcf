"""Makes the git repositories that the tables describe."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

WHO = ["-c", "user.name=alice", "-c", "user.email=alice@example.com", "-c", "commit.gpgSign=false"]


def make(
    folder: Path,
    *,
    committed: Sequence[str] = ("docs/install.md",),
    remotes: Mapping[str, str] | None = None,
    config: Sequence[str] = (),
    new: Sequence[str] = (),
) -> None:
    """A repository with these files, remotes by name, lines for its configuration, and files not in it."""
    git(folder, "init", "--quiet")
    for name in committed:
        write(folder / name)
    if committed:
        git(folder, "add", ".")
        git(folder, *WHO, "commit", "--quiet", "--message", "Begin")
    for name in new:
        write(folder / name)
    lines = [f'[remote "{name}"]\n\turl = {url}\n' for name, url in (remotes or {}).items()]
    with (folder / ".git" / "config").open("a") as file:
        file.writelines([*lines, *(f"{line}\n" for line in config)])


def git(folder: Path, *words: str) -> None:
    """Run git without the configuration of whoever runs the tests."""
    nobodys = {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "PATH": os.environ["PATH"],
    }
    subprocess.run(["git", *words], cwd=folder, env=nobodys, check=True, timeout=60)


def write(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x\n")
