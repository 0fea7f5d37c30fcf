"""The arrows between the apps, and who may know which library."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BELOW = {  # who may be imported by whom
    "orgs": set(),
    "reports": {"orgs"},
    "integrations": {"orgs", "reports"},
    "hub": {"orgs", "reports", "integrations"},
}
ONLY_IN = {
    "github": "integrations/github_api/transport.py",
    "dns": "orgs/domains/txt_records.py",
    "publicsuffix2": "orgs/domains/hosts.py",
}
MODULES = sorted(path for app in BELOW for path in (ROOT / app).rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    """The top-level packages that a module imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_one_way(path):
    app = path.relative_to(ROOT).parts[0]

    upward = (set(imports(path)) & BELOW.keys()) - BELOW[app] - {app}

    assert not upward


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_outside_is_known_to_one_module_each(path):
    place = str(path.relative_to(ROOT))

    elsewhere = {name for name in imports(path) if ONLY_IN.get(name, place) != place}

    assert not elsewhere


def test_the_sandbox_is_not_part_of_the_hub(settings):
    assert not [app for app in settings.INSTALLED_APPS if "sandbox" in app]

    importers = [
        path
        for path in MODULES
        if "sandbox" in path.read_text(encoding="utf-8") and "integrations/sandbox" not in str(path)
    ]

    assert {path.stem for path in importers} <= {"demo", "sandbox"}  # the two commands


def test_foreign_keys_that_point_down_add_nothing_below():
    from django.apps import apps

    upward = [
        str(field)
        for app in BELOW
        for model in apps.get_app_config(app).get_models()
        for field in model._meta.get_fields()
        if field.is_relation and field.auto_created and not field.related_model._meta.proxy
        if field.related_model._meta.app_label in BELOW.keys() - {app}
        if not field.is_hidden()
    ]

    assert not upward
