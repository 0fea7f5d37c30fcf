"""The places where the version of the Hub and its clients is written by hand: one number for all of them."""

import re
import tomllib

from tests.rooms import ROOT

VERSION = re.compile(r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)")
PLACES = {  # what stands before it and after it
    "pyproject.toml": ('\nversion = "', '"\n'),
    "clients/python/src/docfeedback/version.py": ('\n__version__ = "', '"\n'),
    "clients/mcp/src/docfeedback_mcp/version.py": ('\n__version__ = "', '"\n'),
    "clients/mcp/pyproject.toml": ('    "docfeedback==', '",\n'),
    "clients/node/package.json": ('\n  "version": "', '",\n'),
    "docs/v0/explanation/versioning.md": ("| the Hub and its clients | `", "` |"),
}


def found() -> dict[str, str]:
    """The version in each place."""
    return {place: _pattern(place).search(_read(place))[2] for place in PLACES}  # type: ignore[index]


def write(version: str) -> None:
    """The same version into each place."""
    for place in PLACES:
        text, count = _pattern(place).subn(rf"\g<1>{version}\g<3>", _read(place))
        if count != 1:
            raise ValueError(f"{place} has {count} places for the version instead of one.")
        (ROOT / place).write_text(text, encoding="utf-8")


def _pattern(place: str) -> re.Pattern[str]:
    before, after = map(re.escape, PLACES[place])
    return re.compile(f'({before})([^"`]+)({after})')


def _read(place: str) -> str:
    return (ROOT / place).read_text(encoding="utf-8")


VERSION_NOW: str = tomllib.loads(_read("pyproject.toml"))["project"]["version"]
