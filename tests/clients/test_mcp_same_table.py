"""The tool's schema offers what the table of a report allows: the same lengths, values and types."""

import json
from collections.abc import Iterator
from typing import Any

from tests.clients.conftest import CONTRACT
from tests.clients.mcp_desk import schemas

TABLE = json.loads((CONTRACT / "report.json").read_text())["body"]
BOUNDS = ("type", "enum", "minLength", "maxLength", "maxItems")
NOT_OFFERED = {
    "/$comment",
    "/idempotency_key",
    "/client_capabilities",
    "/task_context/transcript_excerpt",
}


def test_each_field_of_the_tool_has_the_bounds_of_the_table():
    table, offered = dict(_bounds(TABLE, "")), dict(_bounds(schemas.REPORT, ""))

    assert set(table) - set(offered) == NOT_OFFERED | {"/client_capabilities/0"}
    for path, bounds in offered.items():
        nothing_less = {"minLength": 1} if path == "/doc_url" else {}
        assert bounds == table[path] | nothing_less, path


def _bounds(schema: dict[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """What a field and those in it may hold, by their places."""
    yield path, {name: schema[name] for name in BOUNDS if name in schema}
    for name, each in schema.get("properties", {}).items():
        yield from _bounds(each, f"{path}/{name}")
    if "items" in schema:
        yield from _bounds(schema["items"], f"{path}/0")
