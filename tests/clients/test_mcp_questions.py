"""Where the two protocol versions ask differently, each has its own ways to go wrong."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from docfeedback import Client

from tests.clients.conftest import World
from tests.clients.mcp_desk import (
    BODY,
    CURRENT,
    NO,
    OF_2025,
    PROTOCOLS,
    REPORT,
    TOOL,
    YES,
    Desk,
    Person,
    anyio,
    at_desk,
    consent,
    hub_takes_reports,
    question,
    reply,
    types,
)

_hub = pytest.fixture(autouse=True)(hub_takes_reports)
desk = pytest.fixture(params=PROTOCOLS)(at_desk)

CANNOT = types.ErrorData(code=types.METHOD_NOT_FOUND, message="No forms here.")
OTHER = {**REPORT, "report": {"kind": "other", "summary": "Something else"}}
ELSEWHERE = {**REPORT, "doc_url": "https://docs.acme.com/upgrade"}


@pytest.fixture
def current(world: World, tmp_path: Path) -> Desk:
    return Desk(world, CURRENT, tmp_path)


def _question(doc_url: str = BODY["doc_url"]) -> question.Question:
    client = Client("https://hub.acme.com")
    draft = client.draft({**BODY, "doc_url": doc_url})
    return question.Question(draft, client.resolve(draft._replace(page=None)))


def test_a_client_that_cannot_ask_after_all_gets_other_ways(world: World, tmp_path: Path):
    desk = Desk(world, OF_2025, tmp_path)

    (outcome,) = desk.call(REPORT, person=Person([CANNOT]))

    assert outcome["status"] == "needs_approval"
    assert desk.sent == []


def _answers(
    desk: Desk,
    *answered: tuple[dict[str, Any], int | None],
    answer: types.ElicitResult = YES,
) -> list[str]:
    """How the server takes answers that come with calls, each with the state of an earlier result.

    `answered`: arguments, and the number of the result whose state comes along; None: made up.
    """

    async def run() -> list[str]:
        states: list[str | None] = []
        kinds: list[str] = []
        async with desk.connect(Person([YES])) as client:
            asked = await client.session.call_tool(TOOL, REPORT, allow_input_required=True)
            states.append(asked.request_state)
            for arguments, number in answered:
                result = await client.session.call_tool(
                    TOOL,
                    arguments,
                    input_responses={"consent": answer},
                    request_state="made up" if number is None else states[number],
                    allow_input_required=True,
                )
                states.append(getattr(result, "request_state", None))
                kinds.append(result.result_type)
        return kinds

    return anyio.run(run)


def test_a_yes_to_the_question_that_was_asked_counts(current: Desk):
    kinds = _answers(current, (REPORT, 0))

    assert kinds == ["complete"]
    assert current.sent == [BODY]


def test_a_yes_to_no_question_is_asked_about(current: Desk):
    kinds = _answers(current, (ELSEWHERE, None))

    assert kinds == ["input_required"]
    assert current.sent == []


def test_a_yes_to_another_report_is_asked_about(current: Desk):
    kinds = _answers(current, (OTHER, 0), (OTHER, 1))

    assert kinds == ["input_required", "complete"]
    assert [body["report"] for body in current.sent] == [OTHER["report"]]


def test_a_no_counts_to_whatever_question_it_belongs(current: Desk):
    kinds = _answers(current, (ELSEWHERE, 0), (REPORT, None), (ELSEWHERE, None), answer=NO)

    assert kinds == ["complete"] * 3
    assert current.sent == []


def test_a_no_that_comes_again_is_one_no(current: Desk):
    kinds = _answers(current, *[(REPORT, 0)] * 5, answer=NO)
    history, asked = consent.History(), _question()

    for _ in range(5):
        history.settle(consent.Answered(asked, consent.Answer.NO))

    assert kinds == ["complete"] * 5
    assert not history.is_over(asked.draft)


def test_a_yes_to_a_form_that_was_still_open_does_not_undo_a_no():
    history, asked = consent.History(), _question()
    answers = [consent.Answer.YES, consent.Answer.NO, consent.Answer.YES]

    settled = [history.settle(consent.Answered(asked, answer)) for answer in answers]

    assert settled == [True, False, False]


def test_a_yes_counts_once(current: Desk):
    kinds = _answers(current, (REPORT, 0), (REPORT, 0))

    assert kinds == ["complete", "input_required"]
    assert current.sent == [BODY]


def test_nobody_is_asked_about_a_page_again_who_has_closed_the_form_twice(desk: Desk):
    person = Person([reply("cancel"), reply("accept", {}), YES])

    outcomes = desk.call(REPORT, OTHER, REPORT, OTHER, ELSEWHERE, person=person)

    assert [outcome["status"] for outcome in outcomes] == [*["not_sent"] * 4, "sent"]
    assert "not be asked about this page again" in outcomes[2]["message"]
    assert len(person.saw) == 3


@pytest.mark.parametrize("reply_", [NO, reply("cancel")], ids=["no", "closed"])
@pytest.mark.parametrize("many", [5, 40])
def test_who_declines_three_questions_about_a_host_is_not_asked_about_it_again(
    desk: Desk, reply_: Any, many: int
):
    person = Person([reply_] * 3 + [YES])
    pages = [{**REPORT, "doc_url": f"https://docs.acme.com/{number}"} for number in range(many)]

    *outcomes, other = desk.call(
        *pages, {**REPORT, "doc_url": "https://docs.acme.org/1"}, person=person
    )

    assert len(person.saw) == 4
    assert {outcome["status"] for outcome in outcomes} == {"not_sent"}
    assert "several questions about this host or repository" in outcomes[3]["message"]
    assert "with docfeedback report, in a terminal" in outcomes[3]["message"]
    assert other["status"] == "sent"


def test_on_a_code_host_that_is_a_repository(desk: Desk):
    person = Person([NO] * 3 + [YES])
    pages = [f"https://github.com/acme/docs/blob/main/{number}.md" for number in range(5)]
    other = "https://raw.githubusercontent.com/acme/handbook/main/1.md"

    outcomes = desk.call(*({**REPORT, "doc_url": page} for page in [*pages, other]), person=person)

    assert len(person.saw) == 4
    assert [outcome["status"] for outcome in outcomes] == [*["not_sent"] * 5, "sent"]


@pytest.mark.parametrize("reply_", [NO, reply("cancel")], ids=["no", "closed"])
@pytest.mark.parametrize("many", [12, 96])
@pytest.mark.parametrize("page", ["https://{}.acme.com/", "https://github.com/acme/{}"])
def test_who_declines_nine_questions_is_asked_nothing_more(
    desk: Desk, page: str, many: int, reply_: Any
):
    person = Person([reply_] * 9 + [YES])
    pages = [{**REPORT, "doc_url": page.format(f"a{number}")} for number in range(many)]

    outcomes = desk.call(*pages, person=person)

    assert len(person.saw) == 9
    assert (desk.sent, {outcome["status"] for outcome in outcomes}) == ([], {"not_sent"})
    assert "not be asked about any page again" in outcomes[9]["message"]
    assert "with docfeedback report, in a terminal" in outcomes[9]["message"]


def test_a_form_that_was_closed_twice_counts_twice(desk: Desk):
    person = Person([reply("cancel")] * 9 + [YES])
    pages = [{**REPORT, "doc_url": f"https://{number}.acme.com/"} for number in range(6)]

    outcomes = desk.call(*pages, *pages, person=person)

    assert (len(person.saw), len(outcomes), desk.sent) == (9, 12, [])


def test_paths_are_no_way_around_that(desk: Desk):
    person = Person([NO])

    desk.call(*({**REPORT, "doc_url": f"docs/{number}.md"} for number in range(9)), person=person)

    assert len(person.saw) == 3


@pytest.mark.parametrize("many", [2, 16])
def test_one_form_is_open_at_a_time(world: World, tmp_path: Path, many: int):
    desk, now_open, most = Desk(world, OF_2025, tmp_path), 0, 0

    async def person(context: object, params: types.ElicitRequestParams) -> Any:
        nonlocal now_open, most
        now_open += 1
        most = max(most, now_open)
        await desk_is_busy()
        now_open -= 1
        return YES

    async def run() -> None:
        async with desk.connect(person) as client, anyio.create_task_group() as group:
            for number in range(many):
                page = {**REPORT, "doc_url": f"https://docs.acme.com/{number}"}
                group.start_soon(client.call_tool, TOOL, page)

    async def desk_is_busy() -> None:
        """Long enough for what has come to be read."""
        for _ in range(100):
            await anyio.lowlevel.checkpoint()

    anyio.run(run)

    assert (most, len(desk.sent)) == (1, many)


def test_a_form_that_nobody_answers_keeps_others_waiting_for_a_while_only(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(consent, "OPEN_SECONDS", 0.05)
    history, entered = consent.History(), []

    async def enter(name: str) -> None:
        async with history.alone():
            entered.append(name)
            await anyio.sleep_forever()

    async def run() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(enter, "dropped")
            group.start_soon(enter, "next")
            while len(entered) < 2:
                await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()

    anyio.run(run)

    assert entered == ["dropped", "next"]


def test_two_questions_about_a_page_are_not_open_at_once(desk: Desk):
    meanwhile: list[Any] = []

    async def run() -> types.CallToolResult:
        async def ask_again(context: object, params: types.ElicitRequestParams) -> Any:
            meanwhile.append((await client.call_tool(TOOL, OTHER)).structured_content)
            return YES

        async with desk.connect(ask_again) as client:
            return await client.call_tool(TOOL, REPORT)

    first = anyio.run(run)

    assert first.structured_content["status"] == "sent"
    assert [outcome["status"] for outcome in meanwhile] == ["not_sent"]
    assert "is being asked about this page already" in meanwhile[0]["message"]
    assert desk.sent == [BODY]


def test_a_question_that_nobody_answered_does_not_stand_in_the_way_for_ever(
    monkeypatch: pytest.MonkeyPatch,
):
    history, asked = consent.History(), _question()

    history.open(asked)

    assert history.is_asked(asked.draft)
    monkeypatch.setattr(consent, "OPEN_SECONDS", 0)
    assert not history.is_asked(asked.draft)


@pytest.mark.parametrize(
    ("page", "most"), [("https://{}.acme.com/", 9), ("https://docs.acme.com/{}", 3)]
)
def test_a_repeat_is_told_that_it_is_asked_about_also_where_there_is_no_room(
    current: Desk, page: str, most: int
):
    pages = [{**REPORT, "doc_url": page.format(f"a{number}")} for number in range(most)]

    async def run() -> list[Any]:
        async with current.connect(Person([YES])) as client:
            call = partial(client.session.call_tool, TOOL, allow_input_required=True)
            return [await call(each) for each in [*pages, pages[0]]]

    *asked, again = anyio.run(run)

    assert {result.result_type for result in asked} == {"input_required"}
    assert "is being asked about this page already" in again.structured_content["message"]


@pytest.mark.parametrize("answer", [NO, reply("cancel"), YES], ids=["no", "closed", "yes"])
@pytest.mark.parametrize("many", [12, 96])
@pytest.mark.parametrize(
    ("page", "most"), [("https://{}.acme.com/", 9), ("https://docs.acme.com/{}", 3)]
)
def test_as_many_questions_are_open_as_may_be_declined(
    current: Desk, page: str, most: int, many: int, answer: types.ElicitResult
):
    pages = [{**REPORT, "doc_url": page.format(f"a{number}")} for number in range(many)]

    async def run() -> tuple[list[Any], Any]:
        async with current.connect(Person([YES])) as client:
            call = partial(client.session.call_tool, TOOL, allow_input_required=True)
            asked = [await call(each) for each in pages]
            for each, open_ in zip(pages, asked[:most], strict=False):
                state = open_.request_state
                await call(each, input_responses={"consent": answer}, request_state=state)
            return asked, await call(pages[-1])

    asked, last = anyio.run(run)

    kinds = [result.result_type for result in asked]
    assert kinds == ["input_required"] * most + ["complete"] * (many - most)
    assert "Call again once they have answered" in asked[-1].structured_content["message"]
    assert last.result_type == ("input_required" if answer is YES else "complete")
    assert len(current.sent) == (most if answer is YES else 0)


def _answer(answer: types.ElicitResult | None, state: str) -> types.CallToolRequestParams:
    """A call with this answer to the question with this state."""
    responses = {"consent": answer} if answer else None
    return types.CallToolRequestParams(name=TOOL, request_state=state, input_responses=responses)


@pytest.mark.parametrize("answer", [YES, reply("cancel"), None], ids=["yes", "closed", "nothing"])
@pytest.mark.parametrize("state", ["made up", "another report's"])
def test_what_comes_back_to_no_open_question_counts_as_a_closed_form(
    state: str, answer: types.ElicitResult | None
):
    history, asked, other = consent.History(), _question(), _question(ELSEWHERE["doc_url"])

    for _ in range(2):
        given = _answer(answer, state if state == "made up" else history.open(other))
        assert history.answered(asked.draft, given) is None

    assert history.ended(asked.draft) is consent.Answer.NONE
    assert history.ended(other.draft) is (None if state == "made up" else consent.Answer.NONE)


@pytest.mark.parametrize("answer", [NO, reply("cancel"), YES], ids=["no", "closed", "yes"])
def test_a_question_that_was_dropped_leaves_room_and_can_be_answered(
    monkeypatch: pytest.MonkeyPatch, answer: types.ElicitResult
):
    history, asked = consent.History(), _question()
    questions = [_question(f"docs/{number}.md") for number in range(3)]

    states = [history.open(each) for each in questions]

    draft = questions[0].draft
    assert not history.has_room(draft, at_once=True)
    assert history.has_room(asked.draft, at_once=True)
    monkeypatch.setattr(consent, "OPEN_SECONDS", 0)
    assert history.has_room(draft, at_once=True)
    assert list(history.asked) == states
    answered = history.answered(draft, _answer(answer, states[0]))
    assert answered is not None
    assert history.settle(answered) is (answer is YES)


def test_a_yes_to_a_question_that_was_forgotten_is_none(monkeypatch: pytest.MonkeyPatch):
    history, asked = consent.History(), _question()

    state = history.open(asked)

    monkeypatch.setattr(consent, "FORGOTTEN_SECONDS", 0)
    assert history.answered(asked.draft, _answer(YES, state)) is None
    assert history.asked == {}


def test_a_hundred_calls_wait_for_a_form():
    history, asked = consent.History(), _question()

    room = []
    while len(room) < 120 and history.has_room(asked.draft, at_once=False):
        room.append(history.open(_question(f"docs/{len(room)}.md")))

    assert (len(room), list(history.asked)) == (100, room)
