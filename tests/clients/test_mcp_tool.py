"""The tool as a model sees it, and the server as its client hears it."""

import ast
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from docfeedback import DocFeedbackError

from tests.clients.conftest import CLIENTS, HERE, World
from tests.clients.mcp_desk import (
    CURRENT,
    LOOK,
    OF_2025,
    PROTOCOLS,
    REPORT,
    TOOL,
    Desk,
    MCPError,
    anyio,
    arguments,
    at_desk,
    consent,
    jsonschema,
    schemas,
    tool,
    types,
)
from tests.clients.stand_ins import HUB
from tests.clients.test_sdk import PROTOCOL, needs_protocol
from tests.releasing.versions import VERSION_NOW

desk = pytest.fixture(params=PROTOCOLS)(at_desk)

ABSENT = {"$comment", "idempotency_key", "client_capabilities"}  # not for a model to fill in
FIELDS = (
    {"protocol_version", "doc_url", "agent", "report", "task_context", "submitted_at", "locale"}
    | {"name", "version", "vendor", "task_summary"}
    | {"kind", "summary", "details", "evidence", "suggested_fix", "text"}
)


def _tool(desk: Desk) -> types.Tool:
    async def run() -> list[types.Tool]:
        async with desk.connect() as client:
            return (await client.list_tools()).tools

    (tool, look) = anyio.run(run)
    assert look.name == LOOK
    return tool


def test_there_is_one_tool_that_reports_and_a_model_can_judge_it(desk: Desk):
    tool = _tool(desk)

    assert tool.name == TOOL
    assert len(tool.description.split()) <= 60
    assert "Use it when" in tool.description
    assert "Not for" in tool.description
    assert "The person sees" in tool.description
    assert tool.annotations.model_dump(exclude_none=True) == {
        "read_only_hint": False,
        "destructive_hint": False,
        "idempotent_hint": False,
        "open_world_hint": True,
    }
    assert (tool.input_schema, tool.output_schema) == (schemas.REPORT, schemas.OUTCOME)


def test_both_schemas_are_plain_and_closed():
    for schema in (schemas.REPORT, schemas.OUTCOME, schemas.PAGE, schemas.PROBLEMS):
        jsonschema.Draft202012Validator.check_schema(schema)
        assert "$ref" not in json.dumps(schema)
        assert schema["additionalProperties"] is False


def test_the_input_has_no_field_for_consent():
    assert set(_names(schemas.REPORT)) == FIELDS


def _names(schema: dict[str, Any]) -> list[str]:
    inner = [*schema.get("properties", {}).values(), schema.get("items", {})]
    return [
        *schema.get("properties", {}),
        *(name for part in inner if part for name in _names(part)),
    ]


@needs_protocol
def test_what_the_tool_takes_the_protocol_has():
    protocol = json.loads((Path(PROTOCOL) / "report.schema.json").read_text())

    for name in ("agent", "report"):
        theirs = protocol["properties"][name]["properties"]
        ours = schemas.REPORT["properties"][name]["properties"]
        assert set(ours) == set(theirs)
        for field in set(ours) - {"name", "evidence"}:  # a name may be a person's, so longer
            assert ours[field].get("maxLength") == theirs[field].get("maxLength")
            assert ours[field].get("enum") == theirs[field].get("enum")


@needs_protocol
def test_the_protocols_examples_are_reports_to_the_tool():
    for path in sorted((Path(PROTOCOL) / "examples").glob("*.json")):
        body = {k: v for k, v in json.loads(path.read_text()).items() if k not in ABSENT}
        body.get("task_context", {}).pop("transcript_excerpt", None)

        if path.stem == "invalid":
            with pytest.raises(DocFeedbackError):
                arguments.report(body, "acme")
        else:
            assert arguments.report(body, "acme") == body


def test_null_counts_as_absent():
    given = {**REPORT, "locale": None, "report": {**REPORT["report"], "details": None}}

    assert arguments.report(given, "acme") == {"protocol_version": "0", **REPORT}


@pytest.mark.parametrize(
    ("change", "path", "sentence"),
    [
        ({"doc_url": 1}, "/doc_url", "Must be of type string."),
        ({"doc_url": "x" * 2049}, "/doc_url", "Must be at most 2048 characters."),
        ({"agent": {"name": ""}}, "/agent/name", "Must be a string that is not empty."),
        ({"report": {"kind": "other"}}, "/report", "Missing fields: summary."),
        (
            {"report": {**REPORT["report"], "evidence": [{"kind": "quote", "text": "x"}] * 21}},
            "/report/evidence",
            "Must have at most 20 items.",
        ),
        (
            {"priority": 1},
            "",
            f"Unknown fields; allowed are: {', '.join(schemas.REPORT['properties'])}.",
        ),
        (
            {"report": {"kind": "bad", "summary": "x"}},
            "/report/kind",
            "Must be one of: broken, incorrect, outdated, missing, unclear, other.",
        ),
    ],
)
def test_a_wrong_shape_is_said_in_words(change: dict[str, Any], path: str, sentence: str):
    with pytest.raises(DocFeedbackError) as caught:
        arguments.report({**REPORT, **change}, "acme")

    assert caught.value.details == [{"path": path, "message": sentence}]


def test_a_wrong_value_is_never_repeated():
    token = "ghp_" + "a8" * 18
    wrong = {
        "doc_url": [token],
        "protocol_version": token,
        "agent": {"name": {token: token}, token: token},
        "report": {"kind": token, "summary": token * 100, "evidence": [{token: token}] * 30},
        "locale": token,
    }

    with pytest.raises(DocFeedbackError) as caught:
        arguments.report(wrong, "acme")

    assert len(caught.value.details) == 20
    assert token not in json.dumps(caught.value.details)
    assert max(len(fault["message"]) for fault in caught.value.details) <= 200


def test_what_goes_wrong_inside_is_an_answer_and_no_report_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setenv("DOCFEEDBACK_HUB_URL", "https://hub.acme.com")
    given = {**REPORT, "doc_url": "docs/install.md"}
    params = types.CallToolRequestParams(name=TOOL, arguments=given)

    broken = SimpleNamespace(session=SimpleNamespace(report_progress=_nothing))
    result = anyio.run(tool.call, broken, params, consent.History())

    jsonschema.validate(result.structured_content, schemas.OUTCOME)
    assert result.structured_content["error"] == "internal_error"
    assert result.content[0].text.startswith("Internal error in the MCP server.")
    assert "AttributeError in agent.py" in caplog.text
    assert REPORT["report"]["summary"] not in caplog.text


async def _nothing(*_: Any, **__: Any) -> None:
    pass


def test_no_doc_host_can_end_the_call(desk: Desk, examples: dict[str, Any]):
    moved = {"status": 302, "text": "", "headers": {"Location": "https://[docs.acme.com/"}}
    desk.world.stage.answers = {
        HUB: [examples["a new report"]["answer"]],
        "docs.acme.com": [moved],
    }

    (outcome,) = desk.call(REPORT)

    assert outcome["status"] in ("needs_approval", "not_sent")


@pytest.mark.parametrize("protocol", [CURRENT, OF_2025])
def test_an_unknown_tool_is_an_error_of_the_protocol(protocol: str, world: World, tmp_path: Path):
    async def run() -> None:
        async with Desk(world, protocol, tmp_path).connect() as client:
            with pytest.raises(MCPError, match="There is no tool 'send_everything'"):
                await client.call_tool("send_everything", {})

    anyio.run(run)


def test_only_the_protocol_is_on_standard_output(
    world: World, tmp_path: Path, examples: dict[str, Any]
):
    world.stage.answers = {HUB: [examples["a new report"]["answer"]]}
    desk = Desk(world, OF_2025, tmp_path)
    desk.environment["DOCFEEDBACK_CONSENT"] = "preapproved"

    lines = _speak(desk, {"elicitation": {}})

    text = json.loads(lines[1])["result"]["content"][0]["text"]
    assert text.startswith("Sent. Nobody has claimed this page on this Hub yet; it is kept.")
    assert [json.loads(line)["id"] for line in lines] == [1, 2]
    assert desk.network != []  # each time it spoke on standard output


def test_a_client_that_opens_addresses_only_cannot_show_a_form(world: World, tmp_path: Path):
    lines = _speak(Desk(world, OF_2025, tmp_path), {"elicitation": {"url": {}}})

    assert json.loads(lines[-1])["result"]["structuredContent"]["status"] == "needs_approval"


def _speak(desk: Desk, capabilities: dict[str, Any]) -> list[str]:
    """All lines of a session without an SDK: the handshake and one call."""
    hello = {
        "protocolVersion": OF_2025,
        "capabilities": capabilities,
        "clientInfo": {"name": "x", "version": "1"},
    }
    call = {"name": TOOL, "arguments": REPORT}
    with subprocess.Popen(
        desk.server,
        env=desk.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:

        def say(**message: Any) -> None:
            print(json.dumps({"jsonrpc": "2.0", **message}), file=process.stdin, flush=True)

        say(id=1, method="initialize", params=hello)
        first = process.stdout.readline()
        say(method="notifications/initialized")
        say(id=2, method="tools/call", params=call)
        second = process.stdout.readline()
        rest, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    return [first, second, *rest.splitlines()]


def test_it_says_its_version_and_refuses_other_words():
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "docfeedback_mcp", *words],
            cwd=HERE,
            env={"PYTHONPATH": f"{CLIENTS}/python/src:{CLIENTS}/mcp/src"},
            capture_output=True,
            text=True,
        )

    version, wrong = run("--version"), run("--preapproved")

    assert (version.returncode, version.stdout) == (0, f"{VERSION_NOW}\n")
    assert (wrong.returncode, wrong.stdout) == (2, "")


def test_the_package_is_written_in_python_3_10():
    for path in (CLIENTS / "mcp" / "src").rglob("*.py"):
        ast.parse(path.read_text(), filename=str(path), feature_version=(3, 10))
