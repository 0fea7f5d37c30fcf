"""The rooms of the code, and the arrows between them: which room imports from which."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = [  # from the ground up
    "core/watching",
    "core",
    "orgs/models",
    "orgs/people",
    "orgs/terminals",
    "orgs/domains",
    "orgs/discovery",
    "orgs",
    "orgs/api",
    "reports",
    "integrations/models",
    "integrations/likeness",
    "integrations/issue",
    "integrations/github_api",
    "integrations/folding",
    "integrations/delivery",
    "integrations/comments",
    "integrations/alerts",
    "integrations/ownership",
    "integrations/github_sync",
    "integrations/setup",
    "integrations/api",
    "integrations",
    "hub/server",
    "hub/postgresql",
    "hub/screen",
    "hub/docs",
    "hub/public",
    "hub/registering",
    "hub/setup",
    "sandbox",
    "hub",
]
TOPS = sorted({room.partition("/")[0] for room in ROOMS})
MODULES = sorted(path.relative_to(ROOT) for top in TOPS for path in (ROOT / top).rglob("*.py"))


def room_of(path: Path) -> str:
    """The room of a module, by its path from the root: the innermost folder that is one."""
    return next(str(folder) for folder in path.parents if str(folder) in ROOMS)


def imports(path: Path) -> Iterator[str]:
    """The dotted names that a module imports, wherever in it; a relative one written out."""
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = path.parts[: -node.level] if node.level else ()
            yield from (
                ".".join([*above, *filter(None, [node.module]), a.name]) for a in node.names
            )


@cache
def arrows() -> dict[str, set[str]]:
    """For each room the rooms that its modules import from."""
    found: dict[str, set[str]] = {room: set() for room in ROOMS}
    for path in MODULES:
        targets = {room_of(module) for name in imports(path) if (module := _module(name))}
        found[room_of(path)] |= targets - {room_of(path)}
    return found


def _module(name: str) -> Path | None:
    """The file of ours that a dotted name leads to, or into; None where it is not ours."""
    parts = name.split(".")
    if parts[0] not in TOPS:
        return None
    for length in range(len(parts), 0, -1):
        folder = Path(*parts[:length])
        for path in (folder.with_suffix(".py"), folder / "__init__.py"):
            if (ROOT / path).exists():
                return path
    return None
