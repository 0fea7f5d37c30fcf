"""The guarded connection goes to the very address that was checked, and speaks TLS to its name."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.clients import certificates
from tests.clients.conftest import Sdk, World
from tests.clients.stand_ins import HUB, Stage, TlsStandIn

OPTED_OUT = {"status": 200, "body": {"protocol_version": "0", "opt_in": False}}


@pytest.fixture
def doc_host(world: World) -> Iterator[TlsStandIn]:
    """A doc host on loopback that has opted out."""
    with TlsStandIn(certificates.context(world.pem)) as server:
        server.stage = Stage(answers={HUB: [OPTED_OUT]})
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def _send_about(host: str, server: TlsStandIn) -> dict[str, Any]:
    report = {
        "protocol_version": "0",
        "doc_url": f"https://{host}:{server.server_port}/install",
        "agent": {"name": "claude-code"},
        "report": {"kind": "other", "summary": "Step 3 fails"},
    }
    return {"do": "send", "report": report}


def test_a_public_host_is_asked_at_the_address_that_was_checked(
    sdk_for_which_loopback_is_public: Sdk, doc_host: TlsStandIn
):
    _, outcome = sdk_for_which_loopback_is_public.do(
        {"do": "resolve_as", "ips": ["127.0.0.1"]}, _send_about("docs.acme.com", doc_host)
    )

    assert outcome["raises"] == "OptedOut"
    (asked,) = doc_host.stage.asked[HUB]
    assert asked.path == "/.well-known/docs-feedback.json"
    assert asked.headers["Host"] == f"docs.acme.com:{doc_host.server_port}"


def test_its_certificate_must_be_for_its_name(
    sdk_for_which_loopback_is_public: Sdk,
    doc_host: TlsStandIn,
    world: World,
    examples: dict[str, Any],
):
    world.stage.answers = {HUB: [examples["a new report"]["answer"]]}

    _, outcome = sdk_for_which_loopback_is_public.do(
        {"do": "resolve_as", "ips": ["127.0.0.1"]}, _send_about("stranger.acme.com", doc_host)
    )

    assert "result" in outcome
    assert HUB not in doc_host.stage.asked
