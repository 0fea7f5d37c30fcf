"""How both clients write a file of the user: whole or not at all, and never what is not theirs."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.conftest import Sdk


@pytest.fixture
def folder() -> Iterator[Path]:
    """One that anybody can reach, with a file in it."""
    with tempfile.TemporaryDirectory() as path:
        Path(path).chmod(0o755)
        (Path(path) / "AGENTS.md").write_text("old")
        yield Path(path)


def _replace(folder: Path) -> dict[str, str]:
    return {"do": "replace", "path": str(folder / "AGENTS.md")}


def test_a_file_that_you_may_not_write_is_not_replaced(sdk: Sdk, folder: Path):
    (folder / "AGENTS.md").chmod(0o464)

    _, outcome = sdk.do({"do": "become_nobody", "folder": str(folder)}, _replace(folder))

    assert outcome == {"unusable": "read_only"}
    assert [path.name for path in folder.iterdir()] == ["AGENTS.md"]


def test_a_file_whose_owner_would_change_is_not_replaced(sdk: Sdk, folder: Path):
    _, outcome = sdk.do({"do": "forbid_chown"}, _replace(folder))

    assert outcome == {"unusable": "permission_denied"}
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"AGENTS.md": "old"}


@pytest.mark.parametrize("code", ["ENOSPC", "EDQUOT"])
def test_a_full_disk_is_told(sdk: Sdk, folder: Path, code: str):
    _, outcome = sdk.do({"do": "fill_disk", "code": code}, _replace(folder))

    assert outcome == {"unusable": "disk_full"}
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"AGENTS.md": "old"}


def test_a_draft_is_open_to_nobody_else_and_has_a_name_of_its_own(sdk: Sdk, folder: Path):
    (folder / "AGENTS.md").chmod(0o640)

    drafts, *_ = sdk.do(
        {"do": "watch_drafts", "folder": str(folder)}, _replace(folder), _replace(folder)
    )

    (first, mode), (second, same_mode) = drafts["result"]
    assert first != second
    assert mode == same_mode == 0o600
    assert (folder / "AGENTS.md").stat().st_mode & 0o777 == 0o640
    assert (folder / "AGENTS.md").read_text() == "new"


def test_a_link_in_the_place_of_a_draft_gives_nothing_away(sdk: Sdk, folder: Path, tmp_path: Path):
    (folder / "AGENTS.md").chmod(0o644)
    private = tmp_path / "private"
    private.write_text("mine")
    private.chmod(0o600)

    _, outcome = sdk.do(
        {"do": "swap_drafts", "folder": str(folder), "target": str(private)}, _replace(folder)
    )

    assert outcome == {"unusable": "other_reason"}
    assert private.stat().st_mode & 0o777 == 0o600
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"AGENTS.md": "old"}


def test_the_draft_of_another_is_left_alone(sdk: Sdk, folder: Path):
    draft = folder / f".AGENTS.md.docfeedback-{bytes(6).hex()}"
    draft.write_text("another's")

    _, outcome = sdk.do({"do": "load_the_dice"}, _replace(folder))

    assert "unusable" in outcome
    assert draft.read_text() == "another's"
