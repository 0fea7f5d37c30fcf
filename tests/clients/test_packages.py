"""The packages build, install into a clean environment without a network, and run from there."""

import ast
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
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


OFFLINE = ["--no-index", "--no-deps", "--disable-pip-version-check", "--no-build-isolation"]
REPORT = [
    *("report", "--dry-run", "--json", "--doc-url", "docs/install.md", "--kind", "incorrect"),
    *("--agent", "alice", "--summary", "Step 3 fails"),
]
VERSION = (CLIENTS / "python" / "src" / "docfeedback" / "version.py").read_text().split('"')[-2]


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All that would be published, built as its page says."""
    target = tmp_path_factory.mktemp("packages")
    _run(sys.executable, CLIENTS / "pack.py", target)
    return target


@needs_setuptools
@needs_npm
def test_each_package_has_all_of_its_files_and_no_others(packages: Path):
    python, mcp = _sources("python", "src/docfeedback"), _sources("mcp", "src/docfeedback_mcp")
    node = {"package.json", "README.md", "index.d.ts"}
    node |= {
        f"{name}/{each}" for name in ("bin", "contract", "src") for each in _sources("node", name)
    }

    assert sorted(path.name for path in packages.iterdir()) == [
        f"docfeedback-{VERSION}-py3-none-any.whl",
        f"docfeedback-{VERSION}.tar.gz",
        f"docfeedback-{VERSION}.tgz",
        f"docfeedback_mcp-{VERSION}-py3-none-any.whl",
        f"docfeedback_mcp-{VERSION}.tar.gz",
    ]
    assert _in_wheel(packages, "docfeedback") == python
    assert _in_wheel(packages, "docfeedback_mcp") == mcp
    assert _in_archive(packages / f"docfeedback-{VERSION}.tar.gz", "src/docfeedback/") == python
    assert (
        _in_archive(packages / f"docfeedback_mcp-{VERSION}.tar.gz", "src/docfeedback_mcp/") == mcp
    )
    assert _in_archive(packages / f"docfeedback-{VERSION}.tgz", "") == node


@needs_setuptools
@needs_npm
def test_what_is_there_already_is_not_published_again(packages: Path):
    again = subprocess.run(
        [sys.executable, CLIENTS / "pack.py", packages], capture_output=True, text=True
    )

    assert again.returncode == 1
    assert "is not empty." in again.stderr


@needs_setuptools
@needs_npm
@pytest.mark.parametrize("ending", ["-py3-none-any.whl", ".tar.gz"])
def test_the_python_package_installs_and_runs(packages: Path, tmp_path: Path, ending: str):
    clean = tmp_path / "clean"
    venv.create(clean, with_pip=False)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--quiet",
        "--no-input",
        "--python",
        clean / "bin" / "python",
    ]
    package = packages / f"docfeedback-{VERSION}{ending}"
    if ending == ".tar.gz":  # it is built here, and a clean environment has nothing to build with
        wheel = [sys.executable, "-m", "pip", "--quiet", "wheel", "--wheel-dir", tmp_path]
        _run(*wheel, *OFFLINE, package)
        (package,) = tmp_path.glob("*.whl")

    _run(*pip, "install", *OFFLINE, package)

    program = clean / "bin" / "docfeedback"
    _check_program([program], tmp_path)
    _check_program([clean / "bin" / "python", "-m", "docfeedback"], tmp_path)
    (installed,) = clean.glob("lib/python*/site-packages/docfeedback")
    assert (installed / "py.typed").exists()


@needs_setuptools
@needs_npm
def test_the_mcp_package_installs_beside_the_python_package(packages: Path, tmp_path: Path):
    wheels = sorted(packages.glob("*.whl"))
    pip = [sys.executable, "-m", "pip", "--quiet", "install", "--target", tmp_path / "clean"]

    _run(*pip, *OFFLINE, *wheels)

    started = ["-c", "from docfeedback_mcp.__main__ import main; main()", "--version"]
    environment = {"PYTHONPATH": str(tmp_path / "clean"), "PATH": os.environ["PATH"]}
    printed = _run(sys.executable, "-P", *started, cwd=tmp_path, env=environment)
    assert VERSION in printed


@needs_setuptools
@needs_npm
def test_the_node_package_installs_and_runs(packages: Path, tmp_path: Path):
    clean = tmp_path / "clean"
    clean.mkdir()
    npm = ["npm", "--offline", "--cache", tmp_path / "cache", "--userconfig", "/dev/null"]
    tarball = packages / f"docfeedback-{VERSION}.tgz"

    _run(*npm, "install", "--silent", "--no-audit", "--no-fund", tarball, cwd=clean)

    _check_program([clean / "node_modules" / ".bin" / "docfeedback"], tmp_path)
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


def _check_program(program: list[object], folder: Path) -> None:
    """It shows its version and help, and checks a report, with a home that has nothing."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    assert _run(*program, "--version", cwd=folder, env=environment) == f"docfeedback {VERSION}\n"
    assert _run(*program, "--help", cwd=folder, env=environment) == HELP
    checked = json.loads(_run(*program, *REPORT, cwd=folder, env=environment))
    assert checked["report"]["report"]["summary"] == "Step 3 fails"


def _sources(package: str, folder: str) -> set[str]:
    """The files below a folder of a package, as they are in the repository."""
    top = CLIENTS / package / folder
    found = (path for path in top.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path.relative_to(top)) for path in found}


def _in_wheel(packages: Path, name: str) -> set[str]:
    with zipfile.ZipFile(packages / f"{name}-{VERSION}-py3-none-any.whl") as wheel:
        names = wheel.namelist()
    assert all(each.startswith((f"{name}/", f"{name}-{VERSION}.dist-info/")) for each in names)
    return {each.removeprefix(f"{name}/") for each in names if each.startswith(f"{name}/")}


def _in_archive(path: Path, folder: str) -> set[str]:
    with tarfile.open(path) as archive:
        files = [each.name.partition("/")[2] for each in archive.getmembers() if each.isfile()]
    return {each.removeprefix(folder) for each in files if each.startswith(folder)}


def _run(*command: object, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout
