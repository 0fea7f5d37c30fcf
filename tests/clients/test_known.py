"""Both libraries ask what is known of a page."""

import json
from typing import Any

import pytest

from tests.clients.conftest import CONTRACT, Sdk, World
from tests.clients.stand_ins import HUB

ANSWERS = json.loads((CONTRACT / "known.json").read_text())["answers"]
HOST = "docs.acme.com"
PAGE = f"https://{HOST}/install"
TOKEN = "ghp" + "_abcdefghijklmnopqrstuvwABC0123456789"


@pytest.mark.parametrize("how", ["known", "known_async"])
def test_the_known_problems_of_a_page_are_told_as_the_hub_tells_them(
    sdk: Sdk, world: World, how: str
):
    world.stage.answers = {HUB: [ANSWERS["two problems"]]}

    (told,) = sdk.do({"do": how, "client": {"token": "t-1"}, "url": PAGE})

    assert told["result"] == ANSWERS["two problems"]["body"]
    [asked] = world.stage.asked[HUB]
    assert asked.path == "/v1/pages?url=https%3A%2F%2Fdocs.acme.com%2Finstall"
    assert "Authorization" not in asked.headers


@pytest.mark.parametrize(
    ("url", "error", "code"),
    [
        ("http://wiki.corp/x", "PrivateAddress", "private_address"),
        ("docs/install.md", "ValidationError", "not_a_page"),
        ("", "ValidationError", "invalid_doc_url"),
        (f"{PAGE}?token={TOKEN}", "PolicyRejected", "secret_found"),
        (7, "ValidationError", "wrong_type"),
        (None, "ValidationError", "wrong_type"),
    ],
)
def test_what_must_not_leave_is_not_asked_about(
    sdk: Sdk, world: World, url: Any, error: str, code: str
):
    (told,) = sdk.do({"do": "known", "url": url})

    assert (told["raises"], told["code"]) == (error, code)
    assert HUB not in world.stage.asked


@pytest.mark.parametrize("how", ["known", "known_async"])
@pytest.mark.parametrize(("options", "hosts"), [({}, {HUB, HOST}), ({"look_up": False}, {HUB})])
def test_the_host_is_asked_too_unless_it_is_to_be_left_alone(
    sdk: Sdk, world: World, how: str, options: dict[str, bool], hosts: set[str]
):
    world.stage.answers = {HUB: [ANSWERS["two problems"]], HOST: [{"status": 404, "text": ""}]}

    sdk.do({"do": how, "url": PAGE, "options": options})

    assert set(world.stage.asked) == hosts


def test_a_page_whose_owner_shows_nothing_is_an_error_of_its_own(sdk: Sdk, world: World):
    world.stage.answers = {HUB: [ANSWERS["not shown"]]}

    (told,) = sdk.do({"do": "known", "url": PAGE})

    assert (told["raises"], told["code"]) == ("NotFound", "not_found")


def test_what_is_known_comes_with_what_was_sent(sdk: Sdk, world: World, examples: dict[str, Any]):
    world.stage.answers = {HUB: [ANSWERS["a known problem"]]}
    report = examples["a new report"]["request"]["body"]

    (sent,) = sdk.do({"do": "send", "report": report})

    body = ANSWERS["a known problem"]["body"]
    assert sent["result"]["known_issue"] == body["known_issue"]
    assert sent["result"]["answer"] == body["answer"]
