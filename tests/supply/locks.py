"""What the locks in `requirements/` pin, and what the MCP server asks for."""

import re
import tomllib
from typing import NamedTuple

from tests.rooms import ROOT

FOLDER = ROOT / "requirements"
PINNED = re.compile(r"^([a-z0-9.-]+)(?:\[[^]]*\])?==([^ ]+)", re.MULTILINE)
NAME = re.compile(r"[A-Za-z0-9.-]+")


class Package(NamedTuple):
    """One version of a library; a lock may have two, of which each machine installs one."""

    name: str
    version: str


def packages(lock: str) -> list[Package]:
    """What a lock pins, such as `runtime`, in its order."""
    text = (FOLDER / f"{lock}.lock").read_text(encoding="utf-8")
    return [Package(*found) for found in PINNED.findall(text)]


def of_mcp() -> list[str]:
    """What the MCP server asks for, without the client of this project."""
    project = tomllib.loads((ROOT / "clients/mcp/pyproject.toml").read_text(encoding="utf-8"))
    asked = project["project"]["dependencies"]
    return [each for each in asked if name(each) != "docfeedback"]


def name(requirement: str) -> str:
    """The name in a requirement.

    >>> name("mcp>=2.3,<3")
    'mcp'
    """
    found = NAME.match(requirement)
    assert found, requirement
    return found[0]


if __name__ == "__main__":
    print(*of_mcp(), sep="\n")
