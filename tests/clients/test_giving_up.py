"""A call that has failed is over: nothing is sent later, and nothing stays open."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.clients import certificates
from tests.clients.conftest import Sdk, World
from tests.clients.stand_ins import HUB, REPORT, Stage, TlsStandIn


@pytest.fixture
def tls_hub(world: World) -> Iterator[TlsStandIn]:
    with TlsStandIn(certificates.context(world.pem)) as server:
        server.stage = Stage()
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def _send(hub_url: str) -> dict[str, Any]:
    return {"do": "send", "report": REPORT, "client": {"hub_url": hub_url, "timeout": 0.4}}


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_name_that_is_found_too_late_gets_no_report(
    sdk: Sdk, world: World, tls_hub: TlsStandIn, scheme: str
):
    del sdk.environment["https_proxy"]
    hub = world.server if scheme == "http" else tls_hub

    _, outcome, left = sdk.do(
        {"do": "resolve_slowly", "seconds": 0.8},
        _send(f"{scheme}://hub.acme.com:{hub.server_port}"),
        {"do": "connections", "after": 1.2},
    )

    assert outcome["raises"] == "Unreachable"
    assert left == {"result": 0}
    assert HUB not in hub.stage.asked


@pytest.fixture
def silent_port() -> Iterator[int]:
    """One where no address of loopback answers: the queue of whoever listens is full (Linux)."""
    with socket.socket() as full, contextlib.ExitStack() as waiting:
        full.bind(("0.0.0.0", 0))
        full.listen(0)
        port = full.getsockname()[1]
        for _ in range(2):
            client = waiting.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", port))
        yield port


def _resolve_as_many(count: int) -> dict[str, Any]:
    return {"do": "resolve_as", "ips": [f"127.0.0.{number}" for number in range(1, count + 1)]}


def _send_about_host(port: int | str) -> dict[str, Any]:
    report = {**REPORT, "doc_url": f"https://docs.acme.com:{port}/install"}
    return {"do": "send", "report": report, "client": {"timeout": 3}}


def test_of_a_name_with_many_addresses_a_few_are_tried(
    sdk_for_which_loopback_is_public: Sdk, world: World, examples: dict[str, Any]
):
    world.stage.answers = {HUB: [examples["a new report"]["answer"]]}
    port = world.dead.rpartition(":")[2]

    _, outcome, sockets = sdk_for_which_loopback_is_public.do(
        _resolve_as_many(64), _send_about_host(port), {"do": "sockets"}
    )

    assert "result" in outcome
    assert 0 < sockets["result"] < 32  # for each of four and for the Hub, some of them twice


def test_a_host_that_is_given_up_is_not_looked_for_at_its_other_addresses(
    sdk_for_which_loopback_is_public: Sdk,
    world: World,
    examples: dict[str, Any],
    silent_port: int,
):
    world.stage.answers = {HUB: [examples["a new report"]["answer"]]}

    _, outcome, left = sdk_for_which_loopback_is_public.do(
        _resolve_as_many(4), _send_about_host(silent_port), {"do": "connections", "after": 0.2}
    )

    assert "result" in outcome
    assert left == {"result": 0}


@pytest.mark.parametrize("does", ["drip body", "drip headers", "hang"])
def test_a_server_that_drips_keeps_no_connection(sdk: Sdk, world: World, does: str):
    world.stage.answers = {HUB: [{"do": does}]}

    outcome, left = sdk.do(_send(world.hub), {"do": "connections", "after": 0.4})

    assert outcome["raises"] == "Unreachable"
    assert left == {"result": 0}
