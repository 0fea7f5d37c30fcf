"""The server starts soon: what it loads, counted, since times differ between machines."""

import json
import subprocess
import sys

import pytest

from tests.clients.conftest import CLIENTS
from tests.clients.mcp_desk import OF_2025, SOURCES
from tests.releasing.versions import VERSION_NOW

HEAVY = {"anyio", "asyncio", "docfeedback", "jsonschema", "mcp", "mcp_types", "pydantic"}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": OF_2025,
        "capabilities": {},
        "clientInfo": {"name": "acme", "version": "1"},
    },
}
LOOK = """
import gc, json, runpy, sys
sys.argv[0] = "docfeedback-mcp"
try:
    runpy.run_module("docfeedback_mcp", run_name="__main__")
except SystemExit:
    pass
finally:
    loaded = sorted({name.split(".")[0] for name in sys.modules})
    print(json.dumps([loaded, gc.isenabled(), gc.get_freeze_count()]), file=sys.stderr)
"""


def _run(*words: str, said: str = "") -> tuple[str, set[str], bool, int]:
    """What it prints, the packages that it has loaded, whether it looks for garbage, and past how much."""
    ended = subprocess.run(
        [sys.executable, "-c", LOOK, *words],
        env={"PYTHONPATH": ":".join(SOURCES)},
        cwd=CLIENTS,
        input=said,
        capture_output=True,
        text=True,
    )
    loaded, collects, frozen = json.loads(ended.stderr.splitlines()[-1])
    return ended.stdout, set(loaded), collects, frozen


@pytest.mark.parametrize("word", ["--version", "--help"])
def test_a_word_about_itself_loads_nothing_of_the_sdk(word: str):
    said, loaded, _, _ = _run(word)

    assert said.startswith(f"{VERSION_NOW}\n" if word == "--version" else "usage: docfeedback-mcp")
    assert not HEAVY & loaded


def test_what_only_a_call_needs_is_not_loaded_before_one():
    said, loaded, collects, frozen = _run(said=json.dumps(HELLO) + "\n")

    assert json.loads(said)["result"]["serverInfo"]["name"] == "docfeedback"
    assert HEAVY - loaded == {"jsonschema"}
    assert collects
    assert frozen > 10_000  # what was loaded is not looked through again
