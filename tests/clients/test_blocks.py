"""The instruction blocks in a text: both clients write the same bytes, whatever the text is."""

import random
from typing import Any

import pytest

from tests.clients.conftest import DRIVERS, Sdk, World, needs_node

BOM = "\xef\xbb\xbf"  # the texts are bytes read as Latin-1
PARTS = [
    "<!-- docfeedback:begin first-party v0 -->\nx\n<!-- docfeedback:end first-party -->",
    "<!-- docfeedback:begin first-party v0-a -->\r\nx\r\n<!-- docfeedback:end first-party -->",
    "<!-- docfeedback:begin consumer v2.1 -->\n```\nx\n```\n<!-- docfeedback:end consumer -->",
    (
        "<!-- docfeedback:begin first-party v0 -->\r\nDocs Feedback Hub: https://x.example \t\r\n"
        "<!-- docfeedback:end first-party -->"
    ),
    (
        "<!-- docfeedback:begin consumer v0 -->\n```\nDocs Feedback Hub: a\n```\n"
        "Docs Feedback Hub:\n<!-- docfeedback:end consumer -->"
    ),
    "<!-- Docs-Feedback:START -->",
    "```sh\nx\n```",
    "",
    " ",
    "text",
    "# Rules",
    "## Next",
    "### Part",
    "## Feedback on this repository's documentation",
    "# Feedback on this repository's documentation  ",
    "## Feedback on third-party documentation",
    "Docs Feedback Hub: https://x.example",
    "```",
    "````",
    "``` `md`",
    "~~~",
    "~~~ md",
    "<!-- docfeedback:begin first-party v0 -->",
    "\t<!-- docfeedback:begin first-party v0 -->",
    "<!-- docfeedback:end first-party -->",
    "    <!-- docfeedback:end first-party -->",
    "<!-- docfeedback:end consumer -->",
    "<!-- docfeedback:begin other v0 -->",
    "\xc3\xa9\xff\x00\x85\xa0",
]


def _documents(count: int) -> list[str]:
    dice = random.Random(7)  # the same documents in each run
    return [
        dice.choice(["", BOM])
        + "".join(
            dice.choice(PARTS) + dice.choice(["\n", "\n", "\r\n"])
            for _ in range(dice.randint(0, 6))
        )
        + dice.choice(["", "last"])
        for _ in range(count)
    ]


CALLS = [
    {"do": "put", "document": document, "name": name}
    for document in _documents(400)
    for name in ("first-party", "consumer")
]


def _outcomes(client: str, world: World) -> list[dict[str, Any]]:
    return Sdk(DRIVERS[client], world.environment).do(*CALLS)


def _state(outcome: dict[str, Any]) -> str:
    if "damaged" in outcome:
        return outcome["damaged"]
    place = outcome["result"]["place"]
    return place["state"] if place else "absent"


@needs_node
def test_both_clients_do_the_same(world: World):
    outcomes = _outcomes("python", world)

    assert outcomes == _outcomes("node", world)
    assert {_state(outcome) for outcome in outcomes} == {
        *("absent", "edited", "older", "newer", "pasted_older"),
        *("begin_without_end", "end_without_begin", "block_twice", "blocks_mixed"),
        *("marker_in_code", "code_without_end"),
    }


@pytest.mark.parametrize("client", ["python", pytest.param("node", marks=needs_node)])
def test_everything_around_a_block_is_untouched(client: str, world: World):
    outcomes = _outcomes(client, world)

    for call, outcome in zip(CALLS, outcomes, strict=True):
        result, document = outcome.get("result"), call["document"]
        if result is None:
            continue
        place = result["place"]
        start, end = (place["start"], place["end"]) if place else (len(document), len(document))
        assert result["written"].startswith(document[:start])
        assert result["written"].endswith(document[end:])
        if place is None:
            assert result["removed"] == document


@pytest.mark.parametrize("client", ["python", pytest.param("node", marks=needs_node)])
def test_another_hub_changes_one_line_and_no_other_byte(client: str, world: World):
    changed = 0
    for call, outcome in zip(CALLS, _outcomes(client, world), strict=True):
        result, document = outcome.get("result"), call["document"]
        if result is None or result["place"] is None:
            continue
        before, after = document.split("\n"), result["named"].split("\n")
        differing = [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]]
        changed += len(differing)
        assert len(differing) <= 1
        for old, new in differing:
            assert old.startswith("Docs Feedback Hub:")
            end = "\r" if old.endswith("\r") else ""
            assert new == f"Docs Feedback Hub: https://elsewhere.acme.com{end}"
    assert changed > 10


@pytest.mark.parametrize("content", ["\n", "\r\n", " \n", "x\n", "    x\n", "#\n"])
def test_lines_that_cannot_matter_are_not_read_one_by_one(sdk: Sdk, content: str):
    heading = "# Feedback on this repository's documentation\n"

    few, many = sdk.do(
        *(
            {"do": "lines_read", "document": heading + content * count, "name": "first-party"}
            for count in (1_000, 8_000)
        )
    )

    assert few == many
    assert 0 < few["result"] < 20
