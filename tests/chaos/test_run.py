"""A short run of the whole, as `script/chaos` makes it."""

import json
import signal
import subprocess
import sys

import pytest

from tests.hub_process import ROOT
from tests.waiting import wait_until

COMMAND = [
    sys.executable,
    "-m",
    "tests.chaos",
    "--minutes",
    "0.25",
    "--seed",
    "1",
    "--clients",
    "4",
]

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_a_short_run_loses_and_doubles_nothing(tmp_path, database):
    verdict = tmp_path / "verdict.json"
    command = [*COMMAND, "--db", database, "--json", str(verdict)]

    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)

    assert ended.returncode == 0, ended.stdout + ended.stderr
    told = json.loads(verdict.read_text())
    assert told["accepted"] > 10
    assert told["injected"]
    assert told["counts"] == {"lost": 0, "doubled": 0, "stuck": 0, "unexplained": 0}


def test_a_run_that_is_interrupted_tells_what_was_so_far(tmp_path):
    verdict, said = tmp_path / "verdict.json", tmp_path / "said"
    command = [*COMMAND, "--minutes", "10", "--json", str(verdict)]
    with said.open("w") as output:
        run = subprocess.Popen(command, cwd=ROOT, stdout=output, start_new_session=True)
        begun = wait_until(lambda: "requests (" in said.read_text())
        run.send_signal(signal.SIGINT)
        status = run.wait(120)

    assert begun
    assert "Interrupted" in said.read_text()
    assert verdict.exists()
    assert status in (0, 1)  # as few as no report may have been accepted by then
