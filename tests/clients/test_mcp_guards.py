"""What stops a report, in which order, and that it stops it before any socket."""

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.clients.conftest import World
from tests.clients.mcp_desk import PROTOCOLS, REPORT, YES, Desk, Person, anyio, at_desk
from tests.clients.stand_ins import HUB

desk = pytest.fixture(params=PROTOCOLS)(at_desk)

HOST = "docs.acme.com"
TOKEN = "ghp_" + "a8" * 18
PRIVATE = {**REPORT, "doc_url": f"https://wiki.internal/{TOKEN}"}
SECRET = {**REPORT, "report": {"kind": "other", "summary": f"It fails with {TOKEN}"}}
DIVIDED = ["ghp_\u200b" + "a8" * 18, "ghp\\_" + "a8" * 18, "\x1b[01;31mghp_\x1b[m" + "a8" * 18]
OPTED_OUT = {"status": 200, "body": {"protocol_version": "0", "opt_in": False}}
UNCONFIRMED = (
    " The Hub did not confirm it; it may have been received. Sending it again only counts it again."
)
IDLE_SECONDS = 3


@pytest.fixture(autouse=True)
def _hub(world: World, examples: dict[str, Any]) -> None:
    world.stage.answers = {HUB: [examples["a new report"]["answer"]], HOST: [OPTED_OUT]}


def test_what_is_switched_off_stays_off(desk: Desk):
    desk.environment |= {"DOCFEEDBACK_DISABLED": "1", "DOCFEEDBACK_CONSENT": "preapproved"}
    person = Person([YES])

    outcomes = desk.call(REPORT, PRIVATE, SECRET, {"nonsense": 1}, person=person)

    assert {(outcome["status"], outcome["error"]) for outcome in outcomes} == {
        ("refused", "disabled")
    }
    assert (person.saw, desk.network) == ([], [])


def test_what_stands_in_a_secret_does_not_hide_it(desk: Desk):
    person = Person([YES])
    reports = [{**REPORT, "report": {"kind": "other", "summary": text}} for text in DIVIDED]

    outcomes = desk.call(*reports, person=person)

    assert [outcome["error"] for outcome in outcomes] == ["secret_found"] * 3
    assert (person.saw, desk.network) == ([], [])


def test_address_and_secrets_are_judged_before_any_socket(desk: Desk):
    person = Person([YES])
    addresses = ["http://docs.acme.com/", "https://127.1/", "https://localhost/", "docs.acme.com/x"]

    outcomes = desk.call(
        PRIVATE, SECRET, *({**SECRET, "doc_url": url} for url in addresses), person=person
    )

    assert {outcome["status"] for outcome in outcomes} == {"refused"}
    assert [outcome["error"] for outcome in outcomes] == [
        "private_address",
        "secret_found",
        *["private_address"] * 3,
        "invalid_doc_url",
    ]
    assert outcomes[1]["details"] == [
        {"path": "/report/summary", "message": "This looks like: GitHub token."}
    ]
    assert (person.saw, desk.network) == ([], [])


def test_an_opt_out_is_looked_up_after_a_yes_and_beats_it(desk: Desk):
    person = Person([YES])

    results = desk.results(REPORT, REPORT, person=person)

    for result in results:
        assert result.is_error
        assert result.structured_content["status"] == "refused"
        assert result.structured_content["error"] == "opted_out"
        assert result.structured_content["message"] == (
            f"The owner of {HOST} does not want reports, so nothing was sent."
        )
    assert len(person.saw) == 1  # from then on it is cached
    assert set(desk.world.stage.asked) == {HOST}


def test_consent_beforehand_does_not_beat_an_opt_out(desk: Desk):
    desk.environment["DOCFEEDBACK_CONSENT"] = "preapproved"

    (outcome,) = desk.call(REPORT)

    assert (outcome["status"], outcome["error"]) == ("refused", "opted_out")
    assert HUB not in desk.world.stage.asked


def test_the_hub_that_the_page_names_is_shown_and_used(desk: Desk, examples: dict[str, Any]):
    del desk.environment["DOCFEEDBACK_HUB_URL"]
    listing = {
        "protocol_version": "0",
        "opt_in": True,
        "endpoint": "https://hub.acme.com/v1/reports",
    }
    desk.world.stage.answers = {
        HOST: [{"status": 200, "body": listing}],
        "hub.acme.com": [examples["a new report"]["answer"]],
    }
    person = Person([YES])

    (outcome,) = desk.call(REPORT, person=person)

    assert outcome["status"] == "sent"
    assert "Send this report to https://hub.acme.com?" in person.saw[1]
    assert len(desk.world.stage.asked["hub.acme.com"]) == 1


def test_nobody_is_asked_to_send_where_no_hub_is_known(desk: Desk):
    del desk.environment["DOCFEEDBACK_HUB_URL"]
    desk.world.stage.answers[HOST] = [{"status": 404, "text": ""}]
    person = Person([YES])

    outcomes = desk.call(REPORT, {**REPORT, "doc_url": "docs/install.md"}, person=person)

    assert {(outcome["status"], outcome["error"]) for outcome in outcomes} == {
        ("not_sent", "no_hub_url")
    }
    assert "Set DOCFEEDBACK_HUB_URL in the environment of this MCP server" in outcomes[0]["message"]
    assert "--hub-url" not in outcomes[0]["message"]  # a flag of the command line
    assert [text.split("?")[0] for text in person.saw] == [
        f"Ask {HOST} which Hub takes reports about its pages"
    ]


def test_an_answer_of_the_hub_arrives_in_its_words(desk: Desk, examples: dict[str, Any]):
    refused = {name: example["answer"] for name, example in examples.items() if "raises" in example}
    desk.world.stage.answers = {HUB: list(refused.values())}
    desk.environment["DOCFEEDBACK_CONSENT"] = "preapproved"

    results = desk.results(*[{**REPORT, "doc_url": "docs/install.md"}] * len(refused))

    for result, answer in zip(results, refused.values(), strict=True):
        assert result.is_error
        assert result.content[0].text == result.structured_content["message"]
        words = f'The Hub says: "{answer["body"]["message"]}"'
        said = result.content[0].text.removesuffix(UNCONFIRMED)
        assert said == words or said.startswith("Sending failed for now. ")
        assert said.endswith(words)
        assert result.structured_content["error"] == answer["body"]["error"]
    limited = list(refused).index("too many reports")
    assert results[limited].structured_content["retry_after"] == 30


def test_a_repeat_is_a_duplicate(desk: Desk, examples: dict[str, Any]):
    desk.world.stage.answers = {HUB: [examples["a duplicate"]["answer"]]}

    (outcome,) = desk.call({**REPORT, "doc_url": "docs/install.md"}, person=Person([YES]))

    assert outcome["status"] == "duplicate"
    assert outcome["report_id"] == examples["a duplicate"]["answer"]["body"]["id"]


def test_a_hub_that_is_away_is_an_error_in_words(desk: Desk):
    desk.environment["DOCFEEDBACK_HUB_URL"] = desk.world.dead

    (result,) = desk.results({**REPORT, "doc_url": "docs/install.md"}, person=Person([YES]))

    assert result.is_error
    assert result.structured_content["status"] == "not_sent"
    assert result.content[0].text.endswith("cannot be reached: the connection was refused.")


def test_a_wrong_hub_address_is_not_repeated(desk: Desk):
    desk.environment["DOCFEEDBACK_HUB_URL"] = "https://alice:open-sesame@hub.acme.com/"

    (result,) = desk.results(REPORT)

    assert result.structured_content["error"] == "invalid_hub_url"
    assert "DOCFEEDBACK_HUB_URL" in result.content[0].text
    assert "open-sesame" not in result.model_dump_json()


def test_it_opens_no_connection_while_it_waits(world: World, tmp_path: Path):
    folders = [tmp_path / protocol for protocol in PROTOCOLS]
    desks = [Desk(world, folder.name, folder) for folder in folders]

    async def run() -> None:
        async with AsyncExitStack() as stack:
            for desk in desks:
                desk.folder.mkdir()
                client = await stack.enter_async_context(desk.connect(Person([YES])))
                await client.list_tools()
            await anyio.sleep(IDLE_SECONDS)

    anyio.run(run)

    assert [desk.network for desk in desks] == [[], []]
    assert world.stage.asked == {}
