"""A command line that is forked cannot be told from one that starts (`forked.py`)."""

import os
from pathlib import Path

import pytest

from tests.clients.command_line import CommandLine, Ended
from tests.clients.conftest import HURRIED_PATH, PYTHON, World, forks
from tests.clients.forked import PythonCommandLine

SURROUNDINGS = """
import json, os, signal, sys, threading, time
streams = [sys.stdin, sys.stdout, sys.stderr]
print(json.dumps([sys.argv, sys.path, sys.flags, __name__, __file__, os.getcwd(), sorted(os.environ.items())]))
print([(each.encoding, each.errors, each.isatty(), each.line_buffering) for each in streams])
print([signal.getsignal(each) for each in signal.valid_signals()], threading.active_count())
print(os.listdir("/proc/self/fd"), os.umask(0), time.sleep.__name__)
"""
ENDINGS = {
    "well": "print('1'); print('2', file=sys.stderr)",
    "with a status": "sys.exit(3)",
    "with a sentence": "sys.exit('That was wrong.')",
    "killed": "os.kill(os.getpid(), 9)",
    "with a folder that is gone": "os.rmdir(os.getcwd())",
    "with its input": "print(repr(sys.stdin.read()))",
    "with an output that is closed": "print('1'); os.close(1)",
}


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return tmp_path / "program.py"


def _both(program: Path, world: World, env: dict[str, str]) -> list[Ended]:
    """How it ends when it starts, and when it is forked."""
    words = [PYTHON, str(program)]
    ended = []
    for line in (CommandLine(words), PythonCommandLine(words, forks)):
        folder = world.folder / "here"
        folder.mkdir(exist_ok=True)
        ended.append(line.run(["-x", "\u00e9"], cwd=folder, env=env, stdin="a\r\n\u00e9\0"))
    return ended


@pytest.mark.parametrize("more", [{}, {"PYTHONPATH": HURRIED_PATH}], ids=["plain", "hurried"])
def test_its_surroundings_are_the_same(program: Path, world: World, more: dict[str, str]):
    program.write_text(SURROUNDINGS)

    started, forked = _both(program, world, world.environment | more)

    assert forked == started
    assert started.exit == 0
    assert ("lambda" in started.stdout) == bool(more)  # of the pauses


def test_it_has_the_umask_of_whoever_starts_it(program: Path, world: World):
    """As that of a test may be another one than that of the test for which the process was started."""
    program.write_text("import os; print(os.umask(0))")
    _both(program, world, world.environment)

    before = os.umask(0o27)
    try:
        started, forked = _both(program, world, world.environment)
    finally:
        os.umask(before)

    assert forked == started == Ended(0, f"{0o27}\n", "")


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS)
def test_it_ends_in_the_same_way(program: Path, world: World, ending: str):
    program.write_text(f"import os, sys\n{ending}\n")

    started, forked = _both(program, world, world.environment)

    assert forked == started


def test_nothing_is_left_from_the_one_before(program: Path, world: World):
    program.write_text("import docfeedback\nprint(vars(docfeedback).pop('__all__', None))\n")

    first, second = (
        PythonCommandLine([PYTHON, str(program)], forks).run(
            [], cwd=world.folder, env=world.environment
        )
        for _ in range(2)
    )

    assert first == second
    assert "Client" in first.stdout


@pytest.mark.parametrize("changed", ["PYTHONPATH", "PYTHONUTF8", "LC_ALL", "LANG"])
def test_what_python_reads_at_its_start_starts_it(world: World, changed: str):
    assert forks.like(world.environment)
    assert forks.like(world.hurried)
    assert not forks.like(world.environment | {changed: "C"})
