"""The packages build, install into a clean environment without a network, and run from there."""

import ast
import importlib.metadata
import json
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest

from tests.clients.conftest import CLIENTS

HELP = (CLIENTS / "contract" / "help" / "docfeedback.txt").read_text()
SETUPTOOLS = tuple(map(int, importlib.metadata.version("setuptools").split(".")[:2]))
needs_setuptools = pytest.mark.skipif(
    SETUPTOOLS < (70, 1),
    reason="SETUPTOOLS 70.1 IS MISSING: the build of the Python package is untested",
)
needs_npm = pytest.mark.skipif(
    shutil.which("npm") is None, reason="NPM IS MISSING: the build of the Node package is untested"
)


@needs_setuptools
def test_the_python_package_installs_and_runs(tmp_path: Path):
    source = _copy("python", tmp_path)
    clean = tmp_path / "clean"
    venv.create(clean, with_pip=False)
    offline = ["--no-index", "--no-deps", "--disable-pip-version-check"]
    pip = [sys.executable, "-m", "pip", "--quiet"]
    _run(*pip, "wheel", *offline, "--no-build-isolation", "--wheel-dir", tmp_path, source)
    (wheel,) = tmp_path.glob("docfeedback-*-py3-none-any.whl")

    _run(*pip, "--python", clean / "bin" / "python", "install", *offline, wheel)

    assert _run(clean / "bin" / "docfeedback", "--help", cwd=tmp_path) == HELP
    assert _run(clean / "bin" / "python", "-m", "docfeedback", "--help", cwd=tmp_path) == HELP
    (installed,) = clean.glob("lib/python*/site-packages/docfeedback")
    assert (installed / "py.typed").exists()


@needs_npm
def test_the_node_package_installs_and_runs(tmp_path: Path):
    source = _copy("node", tmp_path)
    clean = tmp_path / "clean"
    clean.mkdir()
    npm = ["npm", "--offline", "--cache", tmp_path / "cache", "--userconfig", "/dev/null"]
    tarball = _run(*npm, "pack", "--silent", cwd=source).strip()

    _run(*npm, "install", "--silent", "--no-audit", "--no-fund", source / tarball, cwd=clean)

    assert _run(clean / "node_modules" / ".bin" / "docfeedback", "--help", cwd=tmp_path) == HELP
    program = "import { Client } from 'docfeedback'; console.log(typeof Client)"
    assert _run("node", "--input-type=module", "-e", program, cwd=clean) == "function\n"
    assert (clean / "node_modules" / "docfeedback" / "index.d.ts").exists()


def test_the_python_package_is_written_in_python_3_9():
    for path in (CLIENTS / "python" / "src").rglob("*.py"):
        ast.parse(path.read_text(), filename=str(path), feature_version=(3, 9))


def test_neither_package_needs_another():
    python = tomllib.loads((CLIENTS / "python" / "pyproject.toml").read_text())["project"]
    node = json.loads((CLIENTS / "node" / "package.json").read_text())

    assert not {"dependencies", "optional-dependencies"} & set(python)
    assert [key for key in node if "ependencies" in key] == []
    assert not {"package-lock.json", "uv.lock"} & {path.name for path in CLIENTS.rglob("*")}


def test_the_node_packages_types_name_what_it_exports():
    exports = (CLIENTS / "node" / "src" / "index.js").read_text()
    types = (CLIENTS / "node" / "index.d.ts").read_text()

    names = set(re.findall(r"\b(\w+)(?:,| \})", exports))
    declared = set(re.findall(r"export declare (?:class|const|function) (\w+)", types))
    assert names == declared


def _copy(name: str, folder: Path) -> Path:
    """A package's sources, so that building leaves nothing behind in the repository."""
    leave_out = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "dist", "node_modules")
    return shutil.copytree(CLIENTS / name, folder / name, ignore=leave_out)


def _run(*command: object, cwd: Path | None = None) -> str:
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout
