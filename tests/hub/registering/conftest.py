"""A Hub without an app, a code host without one, and somebody who registers it."""

import re
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from hub.management.commands import setup_github
from hub.registering import credentials
from integrations import github_api
from sandbox import CodeHost
from tests.plain_browser import Browser

ADDRESS = re.compile(r"https?://\S+/")


@pytest.fixture
def code_host(settings, tmp_path) -> Iterator[CodeHost]:
    """A code host without an app, of which the Hub knows none either."""
    host = CodeHost(app=None)
    host.add_organization("acme")
    for login in ("alice", "bob"):
        host.add_user(login)
    host.add_member("acme", "alice", role="admin")
    host.add_member("acme", "bob")
    for name in credentials.NAMES:
        setattr(settings, name, "")
    settings.HUB_GITHUB_CREDENTIALS = str(tmp_path / "github.json")
    with host.serving() as settings.HUB_GITHUB_URL:
        yield host
    github_api.forget_tokens()


class Operator:
    """alice, who runs the command and has a browser."""

    def __init__(self, client: Client, host: CodeHost, file: Path) -> None:
        self.client, self.host, self.file = client, host, file
        self.out, self.errors = StringIO(), StringIO()
        self.browser = Browser(host.url)

    def run(self, *arguments: str) -> str:
        """What the command says."""
        call_command("setup_github", *arguments, stdout=self.out, stderr=self.errors)
        return self.out.getvalue()

    @property
    def address(self) -> str:
        """Where the command sends her."""
        said = self.out.getvalue() + self.errors.getvalue()
        [address] = re.findall(r"^ +(http\S+)$", said, re.MULTILINE)[-1:]
        return address

    def confirm(self, page: str, *, name: str = "Acme Docs", login: str = "alice") -> str:
        """Press the button of the page and those of the code host; where that sends her back to."""
        asked = self.browser.send(_Page(page, self.host.url), login=login)
        answer = self.browser.send(asked, name=name, redirects=False)
        assert answer.status_code == 302, answer.text
        return answer.headers["Location"]

    def register(self) -> None:
        """All that she does on the running Hub."""
        page = self.client.get(path_of(self.address)).content.decode()
        self.client.get(path_of(self.confirm(page)))


class _Page:
    def __init__(self, text: str, url: str) -> None:
        self.text, self.url = text, url


def path_of(url: str) -> str:
    return "/" + url.split("/", 3)[3]


@pytest.fixture
def operator(client, code_host, settings) -> Operator:
    return Operator(client, code_host, Path(settings.HUB_GITHUB_CREDENTIALS))


@pytest.fixture
def meanwhile(monkeypatch) -> Callable[..., None]:
    """What happens while the command waits: one step each time it does; then it is interrupted."""

    def plan(*steps: Callable[[], object]) -> None:
        left = iter(steps)

        def pause(seconds: float) -> None:
            step = next(left, None)
            if step is None:
                raise KeyboardInterrupt
            step()

        monkeypatch.setattr(setup_github, "pause", pause)

    return plan
