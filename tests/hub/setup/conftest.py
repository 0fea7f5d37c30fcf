"""A GitHub App as it should be, and the findings of a question."""

from collections.abc import Iterable

import pytest

from hub.setup.findings import Finding, Level
from sandbox import CodeHost


def said(found: Iterable[Finding], level: Level | None = None) -> str:
    """The lines of this level, or of all levels."""
    return "\n".join(each.text for each in found if level in (None, each.level))


def levels(found: Iterable[Finding]) -> set[Level]:
    return {each.level for each in found}


@pytest.fixture
def app(code_host: CodeHost):
    """The app on the code host, set up as the Hub needs it."""
    code_host.app.events = ("issues", "repository", "installation_target")
    code_host.app.webhook_url = "https://hub.example/v1/webhooks/github"
    code_host.app.webhook_secret = "a-long-random-text-of-a-test"
    return code_host.app
