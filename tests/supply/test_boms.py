"""The bills of materials of a release: complete, valid and the same each time."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.rooms import ROOT
from tests.supply import boms, locks

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """By the script, which makes its environment first, and the tool, which refuses what is not valid."""
    folder = tmp_path_factory.mktemp("bills")
    subprocess.run([ROOT / "script" / "sbom", folder], check=True, capture_output=True)
    return folder


def _bill(folder: Path, name: str) -> dict:
    [path] = folder.glob(f"{name}-*.cdx.json")
    return json.loads(path.read_text())


@pytest.mark.parametrize(
    ("name", "lock", "ours"),
    [("docs-feedback-hub", "runtime", set()), ("docfeedback-mcp", "mcp", {"docfeedback"})],
)
def test_a_bill_lists_what_is_locked_and_nothing_else(folder, name, lock, ours):
    bill = _bill(folder, name)
    locked = {(each.name, each.version) for each in locks.packages(lock)}

    listed = {(each["name"], each["version"]) for each in bill["components"]}

    assert listed == locked | {(each, bill["metadata"]["component"]["version"]) for each in ours}


@pytest.mark.parametrize("name", ["docfeedback-python", "docfeedback-node"])
def test_the_libraries_need_no_other(folder, name):
    bill = _bill(folder, name)

    assert bill["bomFormat"] == "CycloneDX"
    assert bill["metadata"]["component"]["name"] == "docfeedback"
    assert not bill.get("components")


def test_every_file_of_a_library_has_its_hash(folder):
    for each in _bill(folder, "docs-feedback-hub")["components"]:
        [source] = each["externalReferences"]
        assert source["hashes"], each["name"]


def test_a_bill_is_the_same_each_time(folder, tmp_path):
    again = boms.bill(boms.PRODUCTS[0], tmp_path)

    assert again.read_bytes() == (folder / again.name).read_bytes()
