"""`docfeedback login` on a terminal, approved in a real browser, to `docfeedback me`."""

import os
import pty
import select
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from tests import build
from tests.browser.screens import Screen, at_rest
from tests.clients.conftest import COMMAND_LINES, needs_node
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), needs_node]

CLIENTS = Path(__file__).resolve().parents[2] / "clients"
BROWSER = '#!/bin/sh\necho "$1" > "$HOME/opened"\n'


class Terminal:
    """A program on a terminal of its own, and what it has shown there."""

    def __init__(self, command: list[str], home: Path, hub: str) -> None:
        self.shown = ""
        self._screen, terminal = pty.openpty()
        self._process = subprocess.Popen(
            command,
            cwd=home,
            env={
                "PATH": f"{home}:{os.environ['PATH']}",
                "HOME": str(home),
                "DISPLAY": ":0",
                "DOCFEEDBACK_HUB_URL": hub,
                "PYTHONPATH": str(CLIENTS / "python" / "src"),
            },
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
        )
        os.close(terminal)

    def wait_for(self, text: str) -> None:
        """Until this is shown."""
        deadline = time.monotonic() + 120
        while text not in self.shown:
            assert select.select([self._screen], [], [], deadline - time.monotonic())[0], self.shown
            self.shown += os.read(self._screen, 65536).decode()

    def end(self) -> str:
        """What a person sees after it has ended."""
        with suppress(OSError):  # the terminal is closed with its last program
            while more := os.read(self._screen, 65536):
                self.shown += more.decode()
        assert self._process.wait(120) == 0, self.shown
        return self.shown.replace("\r\n", "\n")

    def leave(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._screen)


@contextmanager
def terminal(command: list[str], home: Path, hub: str) -> Iterator[Terminal]:
    opened = Terminal(command, home, hub)
    try:
        yield opened
    finally:
        opened.leave()


def test_from_the_terminal_to_the_browser_and_back(visit, hub_process, code_host, tmp_path):
    """Both clients at once, because the Hub is asked every five seconds."""
    acme = build.acme(code_host)
    build.member(acme, "alice", github_id=code_host.account("alice").id)
    window = visit(Screen())
    homes = {name: _home(tmp_path / name) for name in COMMAND_LINES}
    url = hub_process.url

    with ExitStack() as stack:
        waiting = {}
        for name, client in COMMAND_LINES.items():
            command = [*client.command, "login"]
            waiting[name] = stack.enter_context(terminal(command, homes[name], url))
        for name, login in waiting.items():
            login.wait_for("Waiting for you to approve it, ")
            assert wait_until((homes[name] / "opened").exists)
            assert wait_until(lambda path=homes[name] / "opened": path.read_text())
            _approve(window, (homes[name] / "opened").read_text().strip(), name)
        signed_in = {name: login.end() for name, login in waiting.items()}
        said = {}
        for name, client in COMMAND_LINES.items():
            command = [*client.command, "me"]
            said[name] = stack.enter_context(terminal(command, homes[name], url)).end()
        _keep(tmp_path, signed_in, said)

    for name in COMMAND_LINES:
        assert signed_in[name].rpartition("\r")[2] == f"Signed in at {url} as alice, for acme.\n"
        assert "This page is being opened in your browser.\n" in signed_in[name]
        lines = said[name].splitlines()
        assert lines[:2] == [f"Hub: {url}", "User: alice"]
        assert lines[2].startswith("Signed in until: ")
        assert lines[3].startswith("Organization: acme (")
    assert not window.faults()


def _home(folder: Path) -> Path:
    """A person's home, with a browser that notes what it is to open."""
    folder.mkdir()
    browser = folder / "xdg-open"
    browser.write_text(BROWSER)
    browser.chmod(0o755)
    return folder


def _approve(window, url: str, name: str) -> None:
    page = window.page
    page.goto(url)
    if page.get_by_role("button", name="Sign in with GitHub").count():
        page.get_by_role("button", name="Sign in with GitHub").click()
        page.get_by_role("button", name="alice").click()
    page.get_by_text(url.rpartition("=")[2]).wait_for()
    window.shoot(f"login-{name}-code")
    at_rest(page.get_by_role("button", name="Approve")).click()
    page.get_by_text("Approved.").wait_for()
    window.shoot(f"login-{name}-approved")


def _keep(folder: Path, signed_in: dict[str, str], said: dict[str, str]) -> None:
    """What was shown, for people to look at."""
    for name, shown in signed_in.items():
        (folder / f"{name}.txt").write_text(
            f"$ docfeedback login\n{shown}$ docfeedback me\n{said[name]}"
        )
