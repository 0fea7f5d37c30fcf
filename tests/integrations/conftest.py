"""An organization that is set up, and GitHub's webhooks."""

import pytest
from django.test import Client

from tests import build
from tests.integrations.world import delivery


@pytest.fixture
def acme(code_host):
    """An organization that is set up; one of its reports waits."""
    owner = build.organization()
    build.integration(owner, code_host)
    build.site(owner, "acme.github.io", "/docs/")
    code_host.fail("500", path="token")
    build.send(Client(), build.report("https://acme.github.io/docs/install"))
    assert delivery().status == "pending"
    return owner


@pytest.fixture
def webhooks(acme, code_host, live_server) -> None:
    """GitHub's webhooks arrive at the Hub, over HTTP."""
    code_host.app.webhook_url = f"{live_server.url}/v1/webhooks/github"
