"""A call that has failed is over: nothing is sent later, and nothing stays open."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.clients import certificates
from tests.clients.conftest import Sdk, World
from tests.clients.stand_ins import HUB, Stage, TlsStandIn

REPORT = {
    "protocol_version": "0",
    "doc_url": "docs/install.md",
    "agent": {"name": "claude-code"},
    "report": {"kind": "other", "summary": "Step 3 fails"},
}


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


@pytest.mark.parametrize("does", ["drip body", "drip headers", "hang"])
def test_a_server_that_drips_keeps_no_connection(sdk: Sdk, world: World, does: str):
    world.stage.answers = {HUB: [{"do": does}]}

    outcome, left = sdk.do(_send(world.hub), {"do": "connections", "after": 0.4})

    assert outcome["raises"] == "Unreachable"
    assert left == {"result": 0}
