"""The commands, requests and scripts in docs/v0, run as their readers run them."""

import shutil
from pathlib import Path

import pytest

from tests.docs.running import Stage, WrongExample, is_run, run_page, tools
from tests.hub_process import ROOT

DOCS = ROOT / "docs" / "v0"
PAGES = {path.relative_to(DOCS).with_suffix("").as_posix(): path for path in DOCS.rglob("*.md")}

RUN = sorted(name for name, path in PAGES.items() if is_run(path))


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", RUN)
def test_the_examples_of(name: str, stage: Stage):
    missing = [tool for tool in tools(PAGES[name]) if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"{' AND '.join(missing).upper()} MISSING: the examples are not run")

    _try(name, stage)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PAGES.keys() - set(RUN)))
def test_the_blocks_of(name: str, tmp_path: Path):
    """What is only shown can be read."""
    folder = tmp_path / "empty"
    folder.mkdir()

    _try(name, Stage(folder, {}))


def _try(name: str, stage: Stage) -> None:
    wrong = ""
    try:
        run_page(PAGES[name], stage)
    except WrongExample as error:
        wrong = str(error)

    if wrong:
        pytest.fail(wrong, pytrace=False)
