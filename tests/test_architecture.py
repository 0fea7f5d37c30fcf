"""The arrows between the rooms, and who may know which library."""

import re

import pytest

from integrations.models import Delivery
from tests import pictures
from tests.pictures import sequence
from tests.rooms import MODULES, ROOMS, ROOT, arrows, imports, room_of

APPS = {"orgs", "reports", "integrations", "hub"}
ONLY_IN = {  # who may know which library
    "github": ["integrations/github_api/transport.py"],
    "ssl": ["orgs/discovery/fetching.py"],
    "dns": ["orgs/domains/name_servers.py", "orgs/domains/txt_records.py"],
    "publicsuffix2": ["orgs/domains/hosts.py"],
}


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_from_rooms_below_it(room):
    below = ROOMS[: ROOMS.index(room)]

    assert not arrows()[room].difference(below)


def test_what_every_app_needs_has_no_models():
    assert not [path for path in MODULES if room_of(path) == "core" and "models" in path.name]


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_the_outside_is_known_to_few_modules(path):
    libraries = {name.partition(".")[0] for name in imports(path)}

    assert not {name for name in libraries if str(path) not in ONLY_IN.get(name, [str(path)])}


@pytest.mark.parametrize("path", pictures.FILES, ids=lambda path: path.name)
def test_the_pictures_show_the_code_as_it_is(path):
    """Run script/map where this fails, and look at what has changed."""
    assert path.read_text(encoding="utf-8") == pictures.FILES[path]()


def test_the_modules_on_a_reports_way_are_there():
    named = [path for step in sequence.STEPS for path in step.where.split(", ") if path]

    assert not [path for path in named if not (ROOT / path).exists()]


def test_the_page_names_every_status_and_cause():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)

    assert named == [*Delivery.Status.values, *Delivery.Cause.values]


def test_what_the_page_names_is_there():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    paths = re.findall(r"`([\w./]+(?:/|\.py|\.json))`", page)

    assert len(paths) > 30
    assert not [path for path in paths if not (ROOT / path).exists() and path != "delivery/"]


def test_the_sandbox_is_not_part_of_the_hub(settings):
    assert not [app for app in settings.INSTALLED_APPS if "sandbox" in app]

    importers = [
        path
        for path in MODULES
        if room_of(path) != "sandbox" and any(name.startswith("sandbox") for name in imports(path))
    ]

    assert {path.stem for path in importers} <= {"demo", "demo_history", "sandbox"}  # two commands


def test_foreign_keys_that_point_down_add_nothing_below():
    from django.apps import apps

    upward = [
        str(field)
        for app in APPS
        for model in apps.get_app_config(app).get_models()
        for field in model._meta.get_fields()
        if field.is_relation and field.auto_created and not field.related_model._meta.proxy
        if field.related_model._meta.app_label in APPS - {app}
        if not field.is_hidden()
    ]

    assert not upward
