"""Bills of materials in CycloneDX, one for each product, made by `cyclonedx-py`. Run by script/sbom."""

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import NamedTuple

from tests.rooms import ROOT
from tests.supply.locks import FOLDER

TOOL = ROOT / ".venv-sbom/bin/cyclonedx-py"


class Product(NamedTuple):
    """What is released: the name of its bill, its own name, what it is, its lock, and what it needs of ours."""

    bill: str
    name: str
    kind: str
    lock: str = ""
    ours: str = ""


PRODUCTS = [
    Product("docs-feedback-hub", "docs-feedback-hub", "application", "runtime"),
    Product("docfeedback-mcp", "docfeedback-mcp", "application", "mcp", "docfeedback"),
    Product("docfeedback-node", "docfeedback", "library"),
    Product("docfeedback-python", "docfeedback", "library"),
]


def write(folder: Path) -> list[Path]:
    """Write all bills into the folder; the tool checks each against the schema of CycloneDX."""
    folder.mkdir(parents=True, exist_ok=True)
    return [bill(product, folder) for product in PRODUCTS]


def bill(product: Product, folder: Path) -> Path:
    """Write the bill of one product into the folder; it has no time, and nothing of this machine."""
    path = folder / f"{product.bill}-{version()}.cdx.json"
    with tempfile.TemporaryDirectory() as scratch:
        about = Path(scratch) / "pyproject.toml"
        about.write_text(f'[project]\nname = "{product.name}"\nversion = "{version()}"\n')
        needed = Path(scratch) / "needed.txt"
        needed.write_text(_needed(product))
        done = subprocess.run(
            [
                *(TOOL, "requirements", needed, "--pyproject", about, "--mc-type", product.kind),
                *("--spec-version", "1.6", "--output-format", "JSON", "--output-reproducible"),
                *("--validate", "--output-file", path),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        sys.exit(done.stderr)
    return path


def version() -> str:
    """The version of a release, which all that is in it share."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["project"]["version"]


def _needed(product: Product) -> str:
    locked = (FOLDER / f"{product.lock}.lock").read_text() if product.lock else ""
    return locked + (f"{product.ours}=={version()}\n" if product.ours else "")


if __name__ == "__main__":
    print(*write(Path(sys.argv[1] if len(sys.argv) > 1 else "dist")), sep="\n")
