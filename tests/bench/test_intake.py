import json
import subprocess
import sys

import pytest

from tests.bench.__main__ import arguments
from tests.hub_process import ROOT


@pytest.mark.slow
def test_a_quick_run_measures_the_hub(tmp_path):
    """The run itself compares the rows with the answers, and stops where they differ."""
    command = [sys.executable, "-m", "tests.bench", "intake", "--quick", "--database", "sqlite"]
    command += ["--no-peers", "--no-redis", "--out", str(tmp_path)]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    seen = json.loads((tmp_path / "intake.json").read_text())
    assert {each["what"] for each in seen["samples"]} == {"new, SQLite", "duplicate, SQLite"}
    assert all(each["requests"] > 0 and each["cpu"] > 0 for each in seen["samples"])
    assert "synchronous 2" in " ".join(seen["notes"])


@pytest.mark.slow
def test_a_quick_run_fills_a_database_first(tmp_path):
    command = [sys.executable, "-m", "tests.bench", "scale", "--quick", "--database", "postgresql"]
    command += ["--no-redis", "--out", str(tmp_path)]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    samples = json.loads((tmp_path / "scale.json").read_text())["samples"]
    assert {each["server"] for each in samples} == {"hub, empty", "hub, 1,000 reports"}
    assert all(each["requests"] > 0 for each in samples)


@pytest.mark.slow
def test_it_says_what_it_can_do():
    command = [sys.executable, "-m", "tests.bench", "--help"]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)

    assert all(name in done.stdout for name in ("intake", "forwarding", "scale", "--quick"))


@pytest.mark.parametrize(
    "asked", [["nothing"], ["--database", "mysql"], ["-c", "0"], ["-c", "many"]]
)
def test_what_it_cannot_do_is_refused(asked, capsys):
    with pytest.raises(SystemExit):
        arguments().parse_args(asked)

    assert "error: argument" in capsys.readouterr().err


def test_only_some_of_it_can_be_asked_for():
    options = arguments().parse_args(["intake", "-c", "8,32", "--database", "sqlite"])

    assert (options.connections, options.database, options.peers) == ([8, 32], ["sqlite"], True)
