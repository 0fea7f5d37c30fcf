"""The reference of the MCP server names what it has, and nothing else."""

import ast
import re

from tests.clients.conftest import CLIENTS
from tests.clients.mcp_desk import schemas, tool
from tests.clients.test_reference import _read_from_environment
from tests.docs import tables, written

PROXIES = {"https_proxy", "http_proxy", "no_proxy"}
FOLDERS = {"XDG_CONFIG_HOME", "XDG_CACHE_HOME"}
SHARED = {  # which the library reads for it
    "DOCFEEDBACK_CODE_HOST",
    "DOCFEEDBACK_HUB_URL",
    "DOCFEEDBACK_TIMEOUT",
}

ERRORS = ("PolicyRejected", "ValidationError")  # that it raises itself


def test_every_argument_is_in_the_table_with_its_limit():
    rows = tables.rows("mcp", "argument", "required", "limit")

    named = {tables.codes(name)[0]: (required, limit) for name, required, limit in rows}
    assert named == written.fields(schemas.REPORT)


def test_every_field_and_status_of_the_result_is_in_a_table():
    assert tables.column("mcp", "field", "type") == list(schemas.OUTCOME["properties"])
    assert tables.column("mcp", "status", "meaning") == list(schemas.STATUSES)


def test_every_annotation_is_in_the_table():
    rows = tables.rows("mcp", "annotation")

    known = tool.TOOL.annotations.model_dump(by_alias=True, exclude_none=True)
    assert {tables.codes(name)[0]: tables.codes(value)[0] for name, value in rows} == {
        name: str(value).lower() for name, value in known.items()
    }
    assert f"`{tool.TOOL.name}`" in tables.page("mcp").read_text()


def test_every_error_code_of_its_own_is_in_the_table():
    raised = {
        call.args[0].value
        for path in (CLIENTS / "mcp/src").rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ERRORS
        if call.args and isinstance(call.args[0], ast.Constant)
    }

    shared = tables.column("command-line", "code", "exit")
    assert set(tables.column("mcp", "code", "status")) == raised.difference(shared)


def test_every_variable_is_in_the_table():
    own = _read_from_environment("docfeedback_mcp")

    assert set(tables.column("mcp", "variable")) == own | SHARED | PROXIES | FOLDERS
    assert _read_from_environment("docfeedback") >= SHARED | FOLDERS


def test_its_name_is_the_command():
    (name,) = re.findall(r"(?m)^(docfeedback-mcp) =", (CLIENTS / "mcp/pyproject.toml").read_text())

    assert tables.column("mcp", "command") == [name, f"{name} --version"]
