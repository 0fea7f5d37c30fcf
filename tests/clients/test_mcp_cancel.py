"""When the client gives up a call, nothing is sent from then on, and nothing stays open."""

from typing import Any

import pytest

from tests.clients.conftest import World
from tests.clients.mcp_desk import (
    LOOK,
    OF_2025,
    PROTOCOLS,
    REPORT,
    TOOL,
    YES,
    Desk,
    Person,
    anyio,
    at_desk,
)
from tests.clients.stand_ins import HUB

desk = pytest.fixture(params=PROTOCOLS)(at_desk)

HOST = "docs.acme.com"
OPTED_IN = {"status": 200, "body": {"protocol_version": "0", "opt_in": True}}


def test_what_is_given_up_before_it_is_sent_is_not_sent(desk: Desk, examples: dict[str, Any]):
    stage = desk.world.stage
    stage.answers = {
        HUB: [examples["a new report"]["answer"]],
        HOST: [{"do": "hang"}],
    }  # after the yes
    person = Person([YES])

    async def run() -> None:
        async with desk.connect(person) as client, anyio.create_task_group() as group:
            group.start_soon(client.call_tool, TOOL, REPORT)
            await anyio.to_thread.run_sync(stage.arrived.wait)
            group.cancel_scope.cancel()
        stage.over.set()

    anyio.run(run)

    assert len(person.saw) == 1
    assert desk.sent == []


def test_a_look_up_that_is_given_up_follows_no_redirect(desk: Desk):
    stage, other = desk.world.stage, "moved.acme.com"
    there = {"Location": f"https://{other}/.well-known/docs-feedback.json"}
    stage.answers = {
        HOST: [{"do": "answer late", "status": 302, "text": "", "headers": there}],
        other: [OPTED_IN],
    }
    del desk.environment["DOCFEEDBACK_HUB_URL"]

    async def run() -> None:
        async with desk.connect(Person([YES])) as client:
            async with anyio.create_task_group() as group:
                group.start_soon(client.call_tool, TOOL, REPORT)
                await anyio.to_thread.run_sync(stage.arrived.wait)
                group.cancel_scope.cancel()
            await client.list_tools()  # the server has heard that the call was given up
            stage.over.set()
            await client.call_tool(TOOL, REPORT | {"doc_url": "https://docs.example.com/"})

    anyio.run(run)

    assert list(stage.asked) == [HOST]


def test_a_question_that_is_given_up_can_be_asked_again(
    world: World, tmp_path: Any, examples: dict[str, Any]
):
    world.stage.answers = {HUB: [examples["a new report"]["answer"]], HOST: [OPTED_IN]}
    desk, asked = Desk(world, OF_2025, tmp_path), anyio.Event()
    replies = []

    async def person(context: object, params: Any) -> Any:
        replies.append(params.message)
        if len(replies) == 1:
            asked.set()
            await anyio.sleep_forever()
        return YES

    async def run() -> str:
        async with desk.connect(person) as client:
            async with anyio.create_task_group() as group:
                group.start_soon(client.call_tool, TOOL, REPORT)
                await asked.wait()
                group.cancel_scope.cancel()
            return (await client.call_tool(TOOL, REPORT)).structured_content["status"]

    assert anyio.run(run) == "sent"
    assert len(replies) == 2
    assert len(desk.sent) == 1


def test_calls_that_hang_leave_the_client_its_threads(desk: Desk):
    stage, url = desk.world.stage, REPORT["doc_url"]
    stage.answers = {HUB: [{"do": "hang"}]}
    ended = []

    async def ask(client: Any) -> None:
        await client.call_tool(LOOK, {"url": url})
        ended.append(LOOK)

    async def run() -> list[str]:
        stage.awaited = int(anyio.to_thread.current_default_thread_limiter().total_tokens)
        async with desk.connect() as client, anyio.create_task_group() as group:
            for _ in range(stage.awaited + 5):
                group.start_soon(ask, client)
            await anyio.to_thread.run_sync(stage.arrived.wait)
            await client.list_tools()
            before = list(ended)
            group.cancel_scope.cancel()
        stage.over.set()
        return before

    assert anyio.run(run) == []
