"""The types of both packages: what a type checker accepts, refuses, and knows of a report."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import docfeedback
import pytest

from tests.clients.conftest import CLIENTS, CONTRACT

TABLE = json.loads((CONTRACT / "report.json").read_text())["body"]["properties"]
EVIDENCE = TABLE["report"]["properties"]["evidence"]["items"]["properties"]
TYPES = (CLIENTS / "node" / "index.d.ts").read_text()

ACCEPTED = """
from typing import Mapping, Sequence
from docfeedback import Client, Kind, Report

def build(kind: Kind, evidence: Sequence[Mapping[str, str]]) -> Report:
    return Report.create(
        doc_url="x.md", summary="x", kind=kind, agent="x", evidence=evidence, details=None
    )

Report("x.md", "x", "other", "x")
report = build("broken", ({"kind": "quote", "text": "x"},))
Client().send(report)
Client().send(report.body())
"""
REFUSED = {
    'Report("x.md", "x", "bug", "x")': "arg-type",
    'Report.create(doc_url="x.md", summary="x", kind=str(1), agent="x")': "arg-type",
    'Report.create(doc_url="x.md", summary="x", kind="other", agent="x", detail="x")': "call-arg",
    'Report.create(doc_url="x.md", summary="x", kind="other")': "call-arg",
    "Client().send([])": "arg-type",
}


def test_what_is_right_passes_a_strict_checker(tmp_path: Path):
    assert _mypy(tmp_path, ACCEPTED) == []


def test_what_is_wrong_does_not(tmp_path: Path):
    lines = ["from docfeedback import Client, Report", *REFUSED]

    assert _mypy(tmp_path, "\n".join(lines)) == [
        (place, code) for place, code in enumerate(REFUSED.values(), start=2)
    ]


def test_a_kind_is_one_of_the_table():
    assert list(get_args(docfeedback.Kind)) == TABLE["report"]["properties"]["kind"]["enum"]
    assert _union("Kind") == TABLE["report"]["properties"]["kind"]["enum"]
    assert _union("EvidenceKind") == EVIDENCE["kind"]["enum"]


def test_the_declared_report_has_the_fields_of_the_table():
    declared = TYPES.partition("export interface Report {")[2].partition("\n}")[0]

    assert re.findall(r"(\$?\w+)(\??): ", declared) == list(_declarations(TABLE, set()))


@pytest.mark.parametrize("name", ["ReportFields", "Report"])
def test_lists_that_are_given_may_be_read_only(name: str):
    declared = TYPES.partition(f"export interface {name} {{")[2].partition("\n}")[0]

    assert re.findall(r"(?<!readonly )\b\w+\[\]", declared) == []


def test_a_transport_may_return_what_fetch_returns():
    returned = TYPES.partition("export type Transport = ")[2].partition("=> Promise<")[2]

    assert returned.split()[:2] == ["|", "Response"]


def _declarations(properties: dict[str, Any], required: set[str]) -> Any:
    """Each field with a question mark if it may be absent."""
    required = required or {"protocol_version", "doc_url", "agent", "report"}
    for name, spec in properties.items():
        yield name, "" if name in required else "?"
        if "properties" in spec:
            yield from _declarations(spec["properties"], set(spec["required"]) or {"none"})


def _union(name: str) -> list[str]:
    found = re.search(rf"export type {name} =([^;]*);", TYPES)
    assert found
    return re.findall(r'"(\w+)"', found[1])


def _mypy(folder: Path, program: str) -> list[tuple[int, str]]:
    """The lines with errors, and their codes."""
    path = folder / "program.py"
    path.write_text(program)
    options = ["--strict", "--config-file=", "--cache-dir", folder / "cache", "--no-error-summary"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *map(str, options), "--hide-error-context", str(path)],
        env={"MYPYPATH": str(CLIENTS / "python" / "src"), "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""
    found = re.findall(
        r"^[^:]*program\.py:(\d+): error: .*\[([a-z-]+)\]$", done.stdout, re.MULTILINE
    )
    return [(int(line), code) for line, code in found]
