"""Copies shared files into both packages, and some into the Hub.

    python clients/contract/sync.py

Run it after every change here; a test compares the copies with the originals.
"""

import shutil
from pathlib import Path

CONTRACT = Path(__file__).resolve().parent
COPIES = [
    CONTRACT.parent / "python" / "src" / "docfeedback" / "contract",
    CONTRACT.parent / "node" / "contract",
]
HUB = {
    CONTRACT.parents[1] / "reports" / "secrets.json": CONTRACT / "secrets.json",
    CONTRACT.parents[1] / "orgs" / "domains" / "addresses.json": CONTRACT / "addresses.json",
    CONTRACT.parents[1] / "orgs" / "discovery" / "first-party.md": CONTRACT
    / "blocks"
    / "first-party.md",
}
SHIPPED = [
    "addresses.json",
    "commands.json",
    "messages.json",
    "report.json",
    "secrets.json",
    "visible.json",
    "blocks/*.md",
    "completion/*",
    "help/*.txt",
]


def shipped() -> dict[str, bytes]:
    """What a package contains: path relative to its `contract` folder -> bytes."""
    paths = [path for pattern in SHIPPED for path in sorted(CONTRACT.glob(pattern))]
    return {path.relative_to(CONTRACT).as_posix(): path.read_bytes() for path in paths}


def copied(folder: Path) -> dict[str, bytes]:
    """What `folder` contains, in the same form."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def sync() -> None:
    """Replace all copies."""
    for folder in COPIES:
        shutil.rmtree(folder, ignore_errors=True)
        for path, data in shipped().items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
    for copy, original in HUB.items():
        copy.write_bytes(original.read_bytes())


if __name__ == "__main__":
    sync()
