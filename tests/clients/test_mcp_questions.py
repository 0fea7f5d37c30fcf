"""Where the two protocol versions ask differently, each has its own ways to go wrong."""

import json
from pathlib import Path
from typing import Any

import pytest
from docfeedback import Client

from tests.clients.conftest import World
from tests.clients.mcp_desk import (
    BODY,
    CURRENT,
    OF_2025,
    REPORT,
    TOOL,
    YES,
    Desk,
    Person,
    anyio,
    consent,
    types,
)
from tests.clients.stand_ins import HUB

CANNOT = types.ErrorData(code=types.METHOD_NOT_FOUND, message="No forms here.")
OTHER = {**REPORT, "report": {"kind": "other", "summary": "Something else"}}


@pytest.fixture(autouse=True)
def _hub(world: World, examples: dict[str, Any]) -> None:
    world.stage.answers = {HUB: [examples["a new report"]["answer"]]}


def _sent(world: World) -> list[Any]:
    return [json.loads(asked.body)["report"] for asked in world.stage.asked.get(HUB, [])]


def test_a_client_that_cannot_ask_after_all_gets_other_ways(world: World, tmp_path: Path):
    desk = Desk(world, OF_2025, tmp_path)

    (outcome,) = desk.call(REPORT, person=Person([CANNOT]))

    assert outcome["status"] == "needs_approval"
    assert _sent(world) == []


def _answers(
    world: World, tmp_path: Path, *answered: tuple[dict[str, Any], int | None]
) -> list[str]:
    """How the server takes yeses that come with calls, each with the state of an earlier result.

    `answered`: arguments, and the number of the result whose state comes along; None: made up.
    """

    async def run() -> list[str]:
        states: list[str | None] = []
        kinds: list[str] = []
        async with Desk(world, CURRENT, tmp_path).connect(Person([YES])) as client:
            asked = await client.session.call_tool(TOOL, REPORT, allow_input_required=True)
            states.append(asked.request_state)
            for arguments, number in answered:
                result = await client.session.call_tool(
                    TOOL,
                    arguments,
                    input_responses={"consent": YES},
                    request_state="made up" if number is None else states[number],
                    allow_input_required=True,
                )
                states.append(getattr(result, "request_state", None))
                kinds.append(result.result_type)
        return kinds

    return anyio.run(run)


def test_a_yes_to_the_question_that_was_asked_counts(world: World, tmp_path: Path):
    kinds = _answers(world, tmp_path, (REPORT, 0))

    assert kinds == ["complete"]
    assert _sent(world) == [REPORT["report"]]


def test_a_yes_to_no_question_is_asked_about(world: World, tmp_path: Path):
    kinds = _answers(world, tmp_path, (REPORT, None))

    assert kinds == ["input_required"]
    assert _sent(world) == []


def test_a_yes_to_another_report_is_asked_about(world: World, tmp_path: Path):
    kinds = _answers(world, tmp_path, (OTHER, 0), (OTHER, 1))

    assert kinds == ["input_required", "complete"]
    assert _sent(world) == [OTHER["report"]]


def test_a_yes_to_a_form_that_was_still_open_does_not_undo_a_no():
    session, draft = consent.Session(), Client("https://hub.acme.com").draft(BODY)
    answers = [consent.Answer.YES, consent.Answer.NO, consent.Answer.YES]

    settled = [session.settle(draft, answer) for answer in answers]

    assert settled == [True, False, False]


def test_a_yes_counts_once(world: World, tmp_path: Path):
    kinds = _answers(world, tmp_path, (REPORT, 0), (REPORT, 0))

    assert kinds == ["complete", "input_required"]
    assert _sent(world) == [REPORT["report"]]
