"""What the READMEs say to type, typed."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.clients.command_line import CommandLine
from tests.clients.conftest import CLIENTS, NODE, PYTHON, World, needs_node
from tests.clients.stand_ins import HUB


def _sample(readme: Path, language: str) -> str:
    (sample,) = re.findall(rf"```{language}\n(.*?)```", readme.read_text(), re.DOTALL)
    return sample


def _answers(world: World, examples: dict[str, Any], name: str) -> None:
    world.stage.answers = {HUB: [examples[name]["answer"]]}


@pytest.mark.parametrize("name", ["python", "node"])
def test_the_first_report_takes_three_lines(
    name: str, client: CommandLine, world: World, examples: dict[str, Any]
):
    _answers(world, examples, "a new report")
    lines = _sample(CLIENTS / name / "README.md", "sh").splitlines()
    program, *words = shlex.split(lines[-1])

    ended = client.run(words, cwd=world.folder, env=world.environment)

    assert (len(lines), program) == (3, "docfeedback")
    assert ended.stdout.startswith("Sent. Nobody has claimed this page")


def test_the_python_sample_runs(world: World, examples: dict[str, Any]):
    _answers(world, examples, "a new report")
    sample = _sample(CLIENTS / "python" / "README.md", "python")

    ended = CommandLine([PYTHON, "-c", sample]).run([], cwd=world.folder, env=world.environment)

    receipt = examples["a new report"]["answer"]["body"]["receipt_url"]
    assert (ended.stdout, ended.stderr) == (f"New {receipt}\n", "")


@needs_node
def test_the_node_sample_runs(world: World, examples: dict[str, Any]):
    _answers(world, examples, "too many reports")
    sample = _sample(CLIENTS / "node" / "README.md", "js")
    node = CommandLine([NODE or "node", "--input-type=module", "-e", sample])

    ended = node.run([], cwd=CLIENTS / "node", env=world.environment)

    assert (ended.stdout, ended.stderr) == ("Try again in 30 seconds.\n", "")
