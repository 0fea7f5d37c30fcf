"""Finds each place where a client reaches out of itself, by reading its code."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

NETWORK = {"create_connection", "connect", "getaddrinfo", "getproxies", "socket", "urlopen"}
PROGRAMS = {"execv", "execvp", "kill", "killpg", "popen", "startfile", "system"}
READS = {"fdopen", "get_data", "open", "read_bytes", "read_text"}
WRITES = {
    "chmod",
    "chown",
    "copy",
    "fchmod",
    "fchown",
    "touch",
    "truncate",
    "write_bytes",
    "write_text",
}
FOLDERS = {"link", "mkdir", "rename", "rmdir", "rmtree", "symlink_to", "unlink"}
PEOPLE = {"input", "print", "readline", "write"}
CALLED = NETWORK | PROGRAMS | READS | WRITES | FOLDERS | PEOPLE
MODULES = {"shutil", "socket", "subprocess", "tempfile", "webbrowser"}  # each call of theirs
BUILT_IN = {"input", "open", "print"}
NO_FILE = "history.open"  # a question
JAVASCRIPT = re.compile(
    r"process\.env|process\.std(?:out|err)\.write|createInterface\("
    r"|(?<![#\w])(?:connect|execFile|fetch|open|request|spawn|dns\.lookup|stream\.write|process\.kill)\("
    r"|\b(?:append|f?chmod|f?chown|copy|cp|exec|link|mk|open|readFile|rename|rm|spawn|symlink|trunc|unlink|write)"
    r"\w*Sync\(|create(?:Read|Write)Stream\(|fs/promises"
)
FUNCTION = re.compile(r"^(?:export )?(?:async )?(?:function\*? |const )(\w+)")


def of_python(folder: Path) -> set[str]:
    """As `module.function`, of all modules of a package."""
    return {place for path in folder.glob("*.py") for place in _of_module(path)}


def of_node(folder: Path) -> set[str]:
    """The same of JavaScript."""
    return {place for path in folder.glob("*.js") for place in _of_script(path)}


def _of_module(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text())
    ours = {
        name.asname or name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.level or "docfeedback" in (node.module or ""))
        for name in node.names
    }
    yield from _below(tree, path.stem, ours)


def _below(node: ast.AST, place: str, ours: set[str]) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if _is_sink(child, ours):
            yield place
        is_named = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        yield from _below(child, f"{place}.{child.name}" if is_named else place, ours)


def _is_sink(node: ast.AST, ours: set[str]) -> bool:
    """A call of something outside, or a look at the environment; `ours` are the names of our modules."""
    if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv"):
        return True
    if not isinstance(node, ast.Call):
        return False
    called = node.func
    if isinstance(called, ast.Name):
        return called.id in BUILT_IN
    if not isinstance(called, ast.Attribute):
        return False
    if isinstance(called.value, ast.Name) and called.value.id in MODULES | ours:
        return called.value.id in MODULES
    is_renamed = called.attr == "replace" and len(node.args) == 1 and not node.keywords  # a path
    return is_renamed or (called.attr in CALLED and ast.unparse(called) != NO_FILE)


def _of_script(path: Path) -> Iterator[str]:
    place = path.stem
    for line in path.read_text().splitlines():
        if found := FUNCTION.match(line):
            place = f"{path.stem}.{found[1]}"
        if JAVASCRIPT.search(line) and not line.lstrip().startswith(("*", "/*", "//")):
            yield place
