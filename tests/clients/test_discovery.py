"""What a doc host says of itself is asked once a day, and both clients keep it in one place."""

import hashlib
import json
import os
import time
from typing import Any

import pytest

from tests.clients.conftest import DRIVERS, Sdk, World, needs_node
from tests.clients.stand_ins import HUB

HOST = "docs.acme.com"
NAME = hashlib.sha256(f"https://{HOST}".encode()).hexdigest()[:32]  # of its file in the cache
NOBODY = 65534
only_root = pytest.mark.skipif(os.geteuid() != 0, reason="nobody else can give a file away")
OPTED_OUT = {"status": 200, "body": {"protocol_version": "0", "opt_in": False}}
SEND = {
    "do": "send",
    "report": {
        "protocol_version": "0",
        "doc_url": f"https://{HOST}/install",
        "agent": {"name": "claude-code"},
        "report": {"kind": "other", "summary": "Step 3 fails"},
    },
}


@pytest.fixture(autouse=True)
def _hub(world: World, examples: dict[str, Any]) -> None:
    world.stage.answers = {HUB: [examples["a new report"]["answer"]], HOST: [OPTED_OUT]}


def _asked(world: World, host: str = HOST) -> int:
    return len(world.stage.asked.get(host, []))


def test_an_opt_out_is_asked_for_once(sdk: Sdk, world: World):
    first, second = sdk.do(SEND, SEND)

    assert first == second
    assert (first["raises"], first["code"]) == ("OptedOut", "opted_out")
    assert (_asked(world), _asked(world, HUB)) == (1, 0)


def test_so_is_the_absence_of_a_document(sdk: Sdk, world: World):
    world.stage.answers[HOST] = [{"status": 404, "text": "none"}]

    sdk.do(SEND, SEND)

    assert (_asked(world), _asked(world, HUB)) == (1, 2)


def test_what_a_private_host_says_is_kept_for_nobody_who_may_not_ask_it(sdk: Sdk, world: World):
    world.stage.answers[HOST] = [{"status": 404, "text": "none"}]
    resolved = {"do": "resolve_as", "ips": ["10.0.0.7"]}

    first, _, second = sdk.do(SEND | {"client": {"allow_private": True}}, resolved, SEND)

    assert "result" in first
    assert (second["raises"], second["code"]) == ("PrivateAddress", "private_address")
    assert (_asked(world), _asked(world, HUB)) == (1, 1)


@needs_node
def test_what_one_client_kept_the_other_reads(world: World):
    Sdk(DRIVERS["python"], world.environment).do(SEND)

    (outcome,) = Sdk(DRIVERS["node"], world.environment).do(SEND)

    assert outcome["raises"] == "OptedOut"
    assert _asked(world) == 1


@pytest.mark.parametrize(
    "content",
    [
        json.dumps({"fetched_at": int(time.time()) - 24 * 60 * 60 - 1, "document": {}}),
        json.dumps({"fetched_at": int(time.time()) + 60 * 60, "document": {}}),
        json.dumps({"fetched_at": "now", "document": None}),
        "{",
    ],
    ids=["stale", "from the future", "strange", "cut off"],  # the same in every worker
)
def test_what_is_stale_or_strange_is_asked_again(sdk: Sdk, world: World, content: str):
    path = world.home / "cache" / "docfeedback" / "well-known" / f"{NAME}.json"
    path.parent.mkdir(parents=True)
    path.write_text(content)
    path.chmod(0o600)

    (outcome,) = sdk.do(SEND)

    assert outcome["raises"] == "OptedOut"
    assert json.loads(path.read_text())["document"] == OPTED_OUT["body"]


@pytest.mark.parametrize(
    "answer", [{"status": 500, "text": ""}, {"status": 429, "text": ""}, {"do": "break"}]
)
def test_a_failure_is_not_kept(sdk: Sdk, world: World, answer: dict[str, Any]):
    world.stage.answers[HOST] = [answer, OPTED_OUT]

    sent, refused = sdk.do(SEND, SEND)

    assert "result" in sent
    assert refused["raises"] == "OptedOut"


def test_others_can_neither_read_nor_write_the_cache(sdk: Sdk, world: World):
    before = os.umask(0)
    try:
        sdk.do(SEND)
    finally:
        os.umask(before)

    cache = world.home / "cache"
    paths = [cache, *cache.rglob("*")]
    assert len(paths) == 4
    assert [path for path in paths if path.stat().st_mode & 0o077] == []


def test_what_others_could_have_written_is_asked_again(sdk: Sdk, world: World):
    path = world.home / "cache" / "docfeedback" / "well-known" / f"{NAME}.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"fetched_at": int(time.time()), "document": {"opt_in": True}}))
    path.chmod(0o666)

    (outcome,) = sdk.do(SEND)

    assert outcome["raises"] == "OptedOut"
    assert path.stat().st_mode & 0o077 == 0


def test_a_cache_that_cannot_be_written_is_none(sdk: Sdk, world: World):
    (world.home / "cache").write_text("a file, not a folder")

    first, second = sdk.do(SEND, SEND)

    assert first["raises"] == second["raises"] == "OptedOut"
    assert _asked(world) == 2


def test_a_fifo_in_the_place_of_the_document_is_not_waited_for(sdk: Sdk, world: World):
    path = world.home / "cache" / "docfeedback" / "well-known" / f"{NAME}.json"
    path.parent.mkdir(parents=True)
    os.mkfifo(path, 0o600)

    (outcome,) = sdk.do(SEND)

    assert outcome["raises"] == "OptedOut"
    assert json.loads(path.read_text())["document"] == OPTED_OUT["body"]


@only_root
@pytest.mark.parametrize("link", ["cache", "cache/docfeedback", "cache/docfeedback/well-known"])
def test_nothing_is_written_where_the_link_of_another_user_leads(sdk: Sdk, world: World, link: str):
    (world.home / link).parent.mkdir(parents=True, exist_ok=True)
    (world.home / link).symlink_to(world.folder)
    os.chown(world.home / link, NOBODY, NOBODY, follow_symlinks=False)

    first, second = sdk.do(SEND, SEND)

    assert first["raises"] == second["raises"] == "OptedOut"
    assert _asked(world) == 2
    assert [*world.folder.iterdir()] == []


@only_root
@pytest.mark.parametrize("folder", ["cache", "cache/docfeedback", "cache/docfeedback/well-known"])
def test_nothing_is_kept_in_a_folder_of_another_user(sdk: Sdk, world: World, folder: str):
    (world.home / folder).mkdir(parents=True)
    os.chown(world.home / folder, NOBODY, NOBODY)

    first, second = sdk.do(SEND, SEND)

    assert first["raises"] == second["raises"] == "OptedOut"
    assert _asked(world) == 2
    assert [*(world.home / folder).iterdir()] == []


@pytest.mark.parametrize("link", ["cache", "cache/docfeedback", "cache/docfeedback/well-known"])
def test_a_link_of_ones_own_is_followed(sdk: Sdk, world: World, link: str):
    (world.home / link).parent.mkdir(parents=True, exist_ok=True)
    (world.home / link).symlink_to(world.folder)

    first, second = sdk.do(SEND, SEND)

    assert first["raises"] == second["raises"] == "OptedOut"
    assert _asked(world) == 1
    assert [*world.folder.rglob(f"{NAME}.json")]


def test_a_host_that_hangs_leaves_time_for_the_report(sdk: Sdk, world: World):
    world.stage.answers[HOST] = [{"do": "hang"}]

    (outcome,) = sdk.do(SEND)

    assert outcome["result"]["id"]
