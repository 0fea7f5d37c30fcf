"""Who reports: the client by its own name, unless the model says another; and what the server is for."""

from typing import Any

import pytest

from tests.clients.mcp_desk import (
    CURRENT,
    PROTOCOLS,
    REPORT,
    TOOL,
    YES,
    Desk,
    Person,
    anyio,
    at_desk,
    hub_takes_reports,
    types,
)

_hub = pytest.fixture(autouse=True)(hub_takes_reports)
desk = pytest.fixture(params=PROTOCOLS)(at_desk)

NO_AGENT = {name: value for name, value in REPORT.items() if name != "agent"}


def _agents(desk: Desk, name: str, *reports: dict[str, Any]) -> list[dict[str, str]]:
    """The agent of each report that a client of this name has sent; what was shown is what was sent."""
    person = Person([YES])

    async def run() -> None:
        async with desk.connect(person, types.Implementation(name=name, version="1")) as client:
            for report in reports:
                await client.call_tool(TOOL, report)

    anyio.run(run)
    assert desk.sent == person.reports
    return [body["agent"] for body in desk.sent]


def test_a_report_without_an_agent_has_the_clients_name(desk: Desk):
    version = {"version": "1.4.2"}

    agents = _agents(desk, "acme-code", NO_AGENT, {**NO_AGENT, "agent": version}, REPORT)

    assert agents == [{"name": "acme-code"}, {"name": "acme-code", **version}, REPORT["agent"]]


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("a\u202e\x1b[2J\r\n\u200bb\U000e0041", "a[2J b"),
        ("x" * 10_000, "x" * 119 + "…"),
        (" " * 10_000 + "x", "docfeedback-mcp"),
        ("\u3164\u2800", "docfeedback-mcp"),
        ("", "docfeedback-mcp"),
    ],
)
def test_a_clients_name_is_one_short_line(desk: Desk, given: str, name: str):
    assert _agents(desk, given, NO_AGENT) == [{"name": name}]


def test_a_secret_in_the_clients_name_is_not_sent(desk: Desk):
    assert _agents(desk, "ghp_" + "a8" * 18, NO_AGENT) == []


def test_the_client_is_told_what_the_server_is_for(desk: Desk):
    async def run() -> str | None:
        async with desk.connect() as client:
            if desk.protocol == CURRENT:
                return (await client.session.send_discover(CURRENT))["instructions"]
            return client.session.instructions

    said = anyio.run(run)

    assert said is not None
    assert len(said.split()) <= 80
    assert TOOL in said
    assert "The person reads the report and decides" in said
