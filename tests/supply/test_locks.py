"""The locks: every file by its hash, from wherever an operator gets it."""

import re

import pytest

from tests.supply.locks import FOLDER, name, of_mcp, packages

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
