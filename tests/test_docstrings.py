"""Every public name of the product says in a docstring what it is for."""

import ast
from collections.abc import Iterator

from tests.rooms import ROOT, TOPS

FOLDERS = [*TOPS, "clients"]
OF_FRAMEWORKS = {  # what Django and others call; their documentation says what it does
    *("Meta", "Command", "add_arguments", "handle", "ready"),
    *("get", "post", "patch", "delete", "get_queryset"),
    *("has_add_permission", "has_change_permission", "has_delete_permission"),
}


def test_every_public_name_says_what_it_is_for():
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    silent = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in paths
        if "migrations" not in path.parts
        for name, node in public(ast.parse(path.read_text(encoding="utf-8")))
        if ast.get_docstring(node) is None
    ]

    assert len(paths) > 200
    assert not silent


def public(node, prefix: str = "") -> Iterator[tuple[str, ast.ClassDef | ast.FunctionDef]]:
    """The public classes, functions and methods in a module or class, by their names."""
    for each in node.body:
        if not isinstance(each, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if each.name.startswith("_") or each.name in OF_FRAMEWORKS or is_setter(each):
            continue
        yield f"{prefix}{each.name}", each
        if isinstance(each, ast.ClassDef):
            yield from public(each, f"{each.name}.")


def is_setter(node) -> bool:
    """Whether this sets a property, whose docstring is at its getter."""
    return any(ast.unparse(each).endswith(".setter") for each in node.decorator_list)
