"""Sign-in from a terminal, from the first request to the last."""

import pytest

from tests import build
from tests.orgs.terminals import terminal

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice():
    return build.member(build.organization())


def test_a_terminal_signs_in_reads_refreshes_and_signs_out(alice, client, monkeypatch):
    monkeypatch.setattr("orgs.terminals.codes.INTERVAL", 0)
    known = client.get("/.well-known/openid-configuration").json()
    assert known["device_authorization_endpoint"] == "https://hub.example/oauth/device"

    codes = terminal.begin()
    assert codes["verification_uri"] == "https://hub.example/device/"
    waiting = terminal.poll(codes)
    assert (waiting.status_code, waiting.json()["error"]) == (400, "authorization_pending")

    page = terminal.browser(alice).get(f"/device/?user_code={codes['user_code']}")
    assert "acme" in page.content.decode()
    done = terminal.answer(alice, codes)
    assert "Approved." in done.content.decode()

    tokens = terminal.poll(codes).json()
    assert tokens["scope"] == "orgs:read orgs:write"
    assert terminal.me(tokens).json()["name"] == "acme"

    new = terminal.refresh(tokens).json()
    assert terminal.me(new).status_code == 200
    assert (
        terminal.post(
            "/oauth/revoke", client_id=terminal.CLI, token=new["refresh_token"]
        ).status_code
        == 200
    )
    assert terminal.me(new).status_code == 401
    assert terminal.refresh(new).json()["error"] == "invalid_grant"
