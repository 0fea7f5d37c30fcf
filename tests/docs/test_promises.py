"""The pages about security: each promise has tests that run, and each attack a promise that it is made against."""

import ast
import re
from pathlib import Path

import pytest

from tests.rooms import ROOT

DOCS = ROOT / "docs/v0"
PAGE = (DOCS / "security/promises.md").read_text(encoding="utf-8")
PROMISED = PAGE.partition("## What is not promised")[0]
PROMISES = re.findall(r"^- \*\*.*$", PROMISED, re.MULTILINE)
FILE = re.compile(r"`(tests/[\w/.]+)`")
ABUSE = ROOT / "tests/abuse"


def functions(path: Path, prefix: str = "") -> list[ast.FunctionDef]:
    """The functions of a module whose names begin like this."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    every = (each for each in tree.body if isinstance(each, ast.FunctionDef))
    return [each for each in every if each.name.startswith(prefix)]


def files_after(words: str, promise: str) -> list[str]:
    """The files that a promise names in the sentence that begins with these words."""
    found = re.search(rf"{words} ((?:`[^`]+`(?:, )?)+)\.(?: |$)", promise)
    return FILE.findall(found[1]) if found else []


def attacks() -> set[str]:
    """The files that make attacks."""
    return {
        str(path.relative_to(ROOT))
        for path in ABUSE.glob("*.py")
        for function in functions(path)
        for by in function.decorator_list
        if ast.unparse(by).startswith("attack")
    }


def test_there_are_promises():
    assert len(PROMISES) >= 30


@pytest.mark.parametrize("promise", PROMISES, ids=lambda line: line[4:44])
def test_a_promise_is_held_by_tests_that_pytest_collects(promise):
    held_by = [ROOT / name for name in files_after("Held by", promise)]

    assert held_by
    for path in held_by:
        assert path.name.startswith("test_"), path
        assert functions(path, "test_"), path


@pytest.mark.parametrize("promise", PROMISES, ids=lambda line: line[4:44])
def test_every_file_that_a_promise_names_holds_it_or_attacks_it(promise):
    named = FILE.findall(promise)

    assert named == files_after("Held by", promise) + files_after("Attacked by", promise)


def test_every_file_of_attacks_is_made_against_a_promise_and_in_the_table():
    against = {name for promise in PROMISES for name in files_after("Attacked by", promise)}
    page = (DOCS / "security/attacks.md").read_text(encoding="utf-8")
    in_table = re.findall(r"^\| `(tests/abuse/\w+\.py)` \|", page, re.MULTILINE)

    assert against == attacks()
    assert sorted(attacks()) == in_table


def test_every_test_that_the_docs_name_is_there():
    named = {
        (path.name, file)
        for path in DOCS.rglob("*.md")
        for file in FILE.findall(path.read_text(encoding="utf-8"))
    }

    assert len(named) > 60
    assert not [each for each in named if not (ROOT / each[1]).exists()]
