"""The commands, requests and scripts in docs/v0, run as their readers run them."""

import shutil

import pytest

from tests.docs.running import Stage, WrongExample, run_page, tools
from tests.hub_process import ROOT

DOCS = ROOT / "docs" / "v0"
PAGES = {path.relative_to(DOCS).with_suffix("").as_posix(): path for path in DOCS.rglob("*.md")}

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("name", sorted(PAGES))
def test_the_examples_of(name: str, stage: Stage):
    missing = [tool for tool in tools(PAGES[name]) if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"{' AND '.join(missing).upper()} MISSING: the examples are not run")

    wrong = ""
    try:
        run_page(PAGES[name], stage)
    except WrongExample as error:
        wrong = str(error)

    if wrong:
        pytest.fail(wrong, pytrace=False)
