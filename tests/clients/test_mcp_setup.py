"""What the README says to set up, set up: installed, and greeted through each client's snippet."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path
from typing import Any

import docfeedback
import pytest

from tests.clients.conftest import CLIENTS, World
from tests.clients.mcp_desk import LOOK, OF_2025, TOOL, Desk, anyio
from tests.clients.test_packages import needs_setuptools

README = (CLIENTS / "mcp" / "README.md").read_text()
PLACE = "/home/alice/docfeedback"
SNIPPETS = re.findall(
    r"^### (.*?)\n.*?```(sh|json|toml)\n(.*?)```", README, re.DOTALL | re.MULTILINE
)
SETUPS = {heading: (language, text) for heading, language, text in SNIPPETS}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with both packages; the SDK comes from the one that tests run in."""
    folder = tmp_path_factory.mktemp("docfeedback")
    venv.create(folder / "venv", with_pip=False)
    sources = [_copy(name, folder) for name in ("python", "mcp")]
    _pip("wheel", "--no-build-isolation", "--wheel-dir", folder, *sources)
    python = folder / "venv" / "bin" / "python"
    (site,) = (folder / "venv").glob("lib/python*/site-packages")
    _pip("--python", python, "install", *folder.glob("*.whl"))
    (site / "sdk.pth").write_text("\n".join(path for path in sys.path if "site-packages" in path))
    return folder / "venv"


def _copy(name: str, folder: Path) -> Path:
    leave_out = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "dist", ".*_cache")
    return shutil.copytree(CLIENTS / name, folder / name, ignore=leave_out)


def _pip(*words: object) -> None:
    at = 2 if words[0] == "--python" else 0
    offline = ["--no-index", "--no-deps"]
    command = [*words[: at + 1], *offline, *words[at + 1 :]]
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run([*pip, *map(str, command)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def _server(heading: str) -> dict[str, Any]:
    """`command`, `args` and `env`, as the client reads them from its snippet."""
    language, text = SETUPS[heading]
    if language == "sh":
        return _from_words(shlex.split(text))
    servers = tomllib.loads(text) if language == "toml" else json.loads(text)
    (named,) = servers.values()
    return named["docfeedback"]


def _from_words(words: list[str]) -> dict[str, Any]:
    """What stands after the `--` is the command; before it, an option takes one word."""
    cut = words.index("--")
    flag = next(word for word in ("--env", "-e") if word in words)
    name, _, value = words[words.index(flag) + 1].partition("=")
    return {"command": words[cut + 1], "args": words[cut + 2 :], "env": {name: value}}


def test_there_is_a_snippet_for_each_client():
    assert list(SETUPS) == [
        "Claude Code",
        "Claude Desktop",
        "Cursor",
        "VS Code",
        "Codex",
        "The inspector",
    ]


@pytest.mark.parametrize("heading", SETUPS)
def test_every_snippet_starts_the_same_server(heading: str):
    assert _server(heading) | {"type": "stdio"} == {
        "type": "stdio",
        "command": f"{PLACE}/bin/docfeedback-mcp",
        "args": [],
        "env": {"DOCFEEDBACK_HUB_URL": "https://hub.example.com"},
    }


@needs_setuptools
def test_the_command_of_the_snippets_greets_a_client(installed: Path, world: World, tmp_path: Path):
    server = _server("Claude Code")
    desk = Desk(world, OF_2025, tmp_path)
    desk.server = [server["command"].replace(PLACE, str(installed)), *server["args"]]
    desk.environment = {"PATH": desk.environment["PATH"], **server["env"]}

    async def run() -> list[str]:
        async with desk.connect() as client:
            return [tool.name for tool in (await client.list_tools()).tools]

    assert anyio.run(run) == [TOOL, LOOK]


def test_the_readme_installs_both_packages_from_the_checkout():
    (line,) = [line for line in README.splitlines() if "pip install" in line]

    assert line == "~/docfeedback/bin/pip install ./clients/python ./clients/mcp"


def test_the_package_declares_what_it_imports():
    needed = tomllib.loads((CLIENTS / "mcp" / "pyproject.toml").read_text())["project"]
    declared = {re.split("[=<>]", name)[0] for name in needed["dependencies"]}
    imported = set()
    for path in (CLIENTS / "mcp" / "src").rglob("*.py"):
        imported |= set(re.findall(r"^ *(?:from|import) (\w+)", path.read_text(), re.MULTILINE))

    assert {name.replace("_", "-") for name in imported - sys.stdlib_module_names} == declared


def test_it_goes_with_one_version_of_the_library():
    assert (
        f'"docfeedback=={docfeedback.__version__}"'
        in (CLIENTS / "mcp" / "pyproject.toml").read_text()
    )


def test_nothing_is_fetched_by_a_name_that_is_not_owned():
    assert not re.search(r"(pip|pipx|uv|uvx|npx)[^\n]* docfeedback(-mcp)?(\s|$)", README)
