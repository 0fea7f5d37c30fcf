"""An organization that is set up, and GitHub's webhooks."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.test import Client

from integrations.github_api import TimedOut, comments
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


@pytest.fixture
def slow_lists(monkeypatch) -> Callable[[int], None]:
    """From then on GitHub lists so many pages of comments in time."""
    left, bounded_by = 0, comments.bounded_by

    def until_none_is_left(call: partial[Any], *, deadline: float) -> Any:
        nonlocal left
        if call.func is comments._listed:
            left -= 1
            if left < 0:
                raise TimedOut("GitHub took too long to answer.")
        return bounded_by(call, deadline=deadline)

    def in_time(pages: int) -> None:
        nonlocal left
        left = pages

    monkeypatch.setattr(comments, "bounded_by", until_none_is_left)
    return in_time
