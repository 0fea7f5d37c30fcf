"""The locks: every file by its hash, from wherever an operator gets it."""

import re
from importlib.metadata import distributions

import pytest
from packaging.requirements import Requirement

from tests.supply.locks import FOLDER, name, of_mcp, packages

EXTRAS = re.compile(r"^([a-z0-9.-]+)(?:\[([^]]*)\])?==", re.MULTILINE)
LOCKS = sorted(path.stem for path in FOLDER.glob("*.lock"))


@pytest.mark.parametrize("lock", LOCKS)
def test_everything_is_pinned_to_the_hashes_of_its_files(lock):
    blocks = re.split(r"\n(?=\S)", (FOLDER / f"{lock}.lock").read_text().strip())

    assert len(packages(lock)) == len(blocks) > 20
    assert not [each for each in blocks if not re.search(r"--hash=sha256:[0-9a-f]{64}\b", each)]


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_place_to_fetch_from(lock):
    text = (FOLDER / f"{lock}.lock").read_text()

    assert "://" not in text
    assert not re.search(r"^\s*(-i|-f|--index-url|--extra-index-url|--find-links)\b", text, re.M)


@pytest.mark.parametrize("lock", ["runtime", "sentry"])
def test_what_a_hub_runs_on_is_what_was_tested(lock):
    assert set(packages(lock)) <= set(packages("dev"))


def test_the_mcp_server_is_locked_to_what_was_tested():
    locked = set(packages("mcp"))

    assert locked <= set(packages("dev"))
    assert {name(each) for each in of_mcp()} <= {each.name for each in locked}


@pytest.mark.parametrize("lock", LOCKS)
def test_an_extra_is_pinned_with_its_package(lock):
    """pip before 23.3 takes the newest `coverage[toml]` beside a pinned `coverage`, and refuses it."""
    pinned = dict(EXTRAS.findall((FOLDER / f"{lock}.lock").read_text()))
    here = {each.metadata["Name"].lower(): each.requires or [] for each in distributions()}
    asked = [Requirement(text) for name in pinned for text in here.get(name, [])]
    with_extras = [each for each in asked if each.extras and each.name in pinned and wanted(each)]

    assert with_extras or lock in {
        "bench",
        "sbom",
    }  # whose packages are in environments of their own
    assert [str(each) for each in with_extras if not each.extras <= extras(pinned[each.name])] == []


def wanted(requirement: Requirement) -> bool:
    return requirement.marker is None or requirement.marker.evaluate()


def extras(listed: str) -> set[str]:
    return {each for each in listed.replace(" ", "").split(",") if each}
