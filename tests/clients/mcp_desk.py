"""A client of the official SDK with a person at it, and the server as its process."""

import atexit
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.clients.conftest import CLIENTS, HERE, World
from tests.clients.stand_ins import HUB

pytest.importorskip("mcp", reason="THE MCP SDK IS MISSING: the MCP server is untested")

import anyio
import jsonschema
import mcp_types as types
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

SOURCES = [str(CLIENTS / name / "src") for name in ("python", "mcp")]
sys.path.extend(SOURCES[1:])

from docfeedback_mcp import (  # noqa: E402
    arguments,
    asking,
    canonical,
    consent,
    kept,
    known,
    legible,
    outcome,
    places,
    progress,
    question,
    schemas,
    tool,
)

__all__ = [  # what a test can import only once the SDK and the server have been found
    "MCPError",
    "anyio",
    "arguments",
    "asking",
    "canonical",
    "consent",
    "jsonschema",
    "kept",
    "known",
    "legible",
    "outcome",
    "places",
    "progress",
    "question",
    "schemas",
    "tool",
    "types",
]

TOOL = "file_doc_feedback"
LOOK = "known_doc_problems"
SLOW = "30"  # seconds: these tests are about what is answered, not about when
CURRENT, OF_2025 = "2026-07-28", "2025-11-25"
PROTOCOLS = [CURRENT, OF_2025]
MODES = {CURRENT: CURRENT, OF_2025: "legacy"}

REPORT = {
    "doc_url": "https://docs.acme.com/install",
    "agent": {"name": "claude-code"},
    "report": {"kind": "incorrect", "summary": "Step 3 names a flag that does not exist"},
}
BODY = {"protocol_version": "0", **REPORT}


def reply(action: str, content: dict[str, Any] | None = None) -> types.ElicitResult:
    return types.ElicitResult(action=action, content=content)


YES = reply("accept", {"send": True})
NO = reply("decline")


@dataclass
class Person:
    """Gives the replies in order, the last one again and again, and keeps what was shown."""

    replies: list[types.ElicitResult | types.ErrorData]
    meanwhile: Callable[[], None] = lambda: None  # what happens while a form is open
    during: int = 1  # which form
    saw: list[str] = field(default_factory=list)

    async def __call__(
        self, context: object, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        self.saw.append(params.message)
        if len(self.saw) == self.during:
            self.meanwhile()
        return self.replies[min(len(self.saw), len(self.replies)) - 1]

    @property
    def reports(self) -> list[Any]:
        """The JSON in each question."""
        return [as_shown(text) for text in self.saw]


def as_shown(text: str) -> Any:
    """The JSON in a text for people, whose long texts go on in the quotes of the next line."""
    shown = text.split("```json\n")[1].split("\n```")[0]
    return json.loads(re.sub(r'"\n *"', "", re.sub(r'": *\n *"', '": "', shown)))


@dataclass
class Desk:
    """Where tools are called, over one protocol version."""

    world: World
    protocol: str
    folder: Path

    def __post_init__(self) -> None:
        self.environment = {**self.world.environment, "PYTHONPATH": ":".join(SOURCES)}
        self.environment["DOCFEEDBACK_TIMEOUT"] = SLOW
        self.environment["WATCH"] = str(self.folder / "watch.log")
        self.server = [sys.executable, "-S", str(HERE / "mcp_enter.py"), watched_server()]

    def call(self, *calls: dict[str, Any], person: Person | None = None) -> list[dict[str, Any]]:
        """The fields of each result, in one session; None: the client cannot ask."""
        return [result.structured_content for result in self.results(*calls, person=person)]

    def results(
        self, *calls: dict[str, Any], person: Person | None = None
    ) -> list[types.CallToolResult]:
        async def run() -> list[types.CallToolResult]:
            async with self.connect(person) as client:
                return [await client.call_tool(TOOL, arguments) for arguments in calls]

        results = anyio.run(run)
        for result in results:
            jsonschema.validate(result.structured_content, schemas.OUTCOME)
        return results

    @asynccontextmanager
    async def connect(
        self,
        person: Person | None = None,
        info: types.Implementation | None = None,
        roots: Any = None,
    ) -> AsyncIterator[Client]:
        command, *args = self.server
        server = StdioServerParameters(
            command=command, args=args, env=self.environment, cwd=self.world.folder
        )
        with (self.folder / "stderr.log").open("w") as errors:
            transport = stdio_client(server, errlog=errors)
            mode = MODES[self.protocol]
            async with Client(
                transport,
                mode=mode,
                elicitation_callback=person,
                client_info=info,
                list_roots_callback=roots,
            ) as client:
                assert client.session.protocol_version == self.protocol
                yield client

    @property
    def sent(self) -> list[Any]:
        """The report in each request that the Hub got."""
        return [json.loads(asked.body) for asked in self.world.stage.asked.get(HUB, [])]

    @property
    def network(self) -> list[str]:
        """Each time that the server went to the network."""
        ready, *ways = (self.folder / "watch.log").read_text().splitlines()
        assert ready == "ready"
        return ways


@cache
def watched_server() -> str:
    """The socket of the process that forks for each test."""
    folder = tempfile.mkdtemp(prefix="hub-mcp-")
    path = f"{folder}/door"
    process = subprocess.Popen(
        [sys.executable, str(HERE / "mcp_watched.py"), path],
        env={**os.environ, "PYTHONPATH": ":".join(SOURCES)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout
    assert process.stdout.readline() == b"listening\n"
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(process.communicate)  # its standard input ends, and so does it
    return path


def at_desk(request: pytest.FixtureRequest, world: World, tmp_path: Path) -> Desk:
    """For `pytest.fixture(params=PROTOCOLS)`."""
    return Desk(world, request.param, tmp_path)


def hub_takes_reports(world: World, examples: dict[str, Any]) -> None:
    """For `pytest.fixture(autouse=True)`."""
    world.stage.answers = {HUB: [examples["a new report"]["answer"]]}
