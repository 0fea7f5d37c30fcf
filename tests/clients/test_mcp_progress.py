"""While a call goes on, a client that wants to hear of it does, so that it does not give up."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.clients.conftest import World
from tests.clients.mcp_desk import (
    CURRENT,
    OF_2025,
    REPORT,
    TOOL,
    YES,
    Desk,
    Person,
    anyio,
    hub_takes_reports,
    progress,
)

_hub = pytest.fixture(autouse=True)(hub_takes_reports)

WAITING, SENDING = (
    "Waiting for the person's answer.",
    "Sending the report.",
)


@pytest.fixture
def of_2025(world: World, tmp_path: Path) -> Desk:
    return Desk(world, OF_2025, tmp_path)


@pytest.fixture
def current(world: World, tmp_path: Path) -> Desk:
    return Desk(world, CURRENT, tmp_path)


def _heard(desk: Desk, person: Person) -> list[tuple[float, float | None, str | None]]:
    """Each notification about one call, in order."""
    heard: list[Any] = []

    async def hear(*said: Any) -> None:
        heard.append(said)

    async def run() -> None:
        async with desk.connect(person) as client:
            await client.call_tool(TOOL, REPORT, progress_callback=hear)

    anyio.run(run)
    assert desk.sent == person.reports
    return heard


def test_a_call_that_is_open_while_a_person_reads_says_so(of_2025: Desk):
    heard = _heard(of_2025, Person([YES]))

    assert heard == [(1, None, WAITING), (2, None, SENDING)]


def test_no_call_is_open_while_a_person_reads_in_the_current_protocol(current: Desk):
    heard = _heard(current, Person([YES]))

    assert [(number, doing) for number, _, doing in heard] == [(1, SENDING)]


def test_it_is_said_again_as_long_as_it_lasts(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(progress, "EVERY_SECONDS", 0)
    heard: list[tuple[float, str]] = []
    enough = anyio.Event()

    async def report_progress(number: float, *, message: str) -> None:
        heard.append((number, message))
        if len(heard) == 5:
            enough.set()

    async def work() -> str:
        await told.say(WAITING)
        await enough.wait()
        return "answered"

    told = progress.Progress(SimpleNamespace(report_progress=report_progress))

    assert anyio.run(told.during, work) == "answered"
    assert heard[:5] == [(number, WAITING) for number in range(1, 6)]


def test_a_client_that_has_gone_does_not_end_a_call():
    async def report_progress(number: float, *, message: str) -> None:
        raise anyio.ClosedResourceError

    async def work() -> str:
        await told.say(SENDING)
        return "sent"

    told = progress.Progress(SimpleNamespace(report_progress=report_progress))

    assert anyio.run(told.during, work) == "sent"
