"""The system's Chromium, at the Hub under its production server."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from django.test import Client
from playwright.sync_api import Browser, sync_playwright

from orgs.models import User
from sandbox import CodeHost
from tests.browser.screens import Screen, Visit
from tests.conftest import callbacks, new_code_host, served, settings_for
from tests.hub_process import ROOT, HubProcess, free_port

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("NO CHROMIUM: the pages are not tested in a browser. Install chromium.")
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")  # playwright's loop is in this thread
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="package", autouse=True)
def static_files() -> None:
    """As they are now, for the server to serve."""
    manifest = ROOT / "var/static/staticfiles.json"
    newest = max(path.stat().st_mtime for path in (ROOT / "static").iterdir())
    if not manifest.exists() or manifest.stat().st_mtime < newest:
        command = [sys.executable, "manage.py", "collectstatic", "--no-input", "--verbosity=0"]
        subprocess.run([*command, "--settings=hub.settings"], cwd=ROOT, check=True)


@pytest.fixture(scope="package")
def github_port() -> int:
    """Where each test's code host serves, so that one Hub can ask all of them."""
    return free_port()


@pytest.fixture(scope="package")
def shared_hub(django_db_setup, django_db_blocker, github_port) -> Iterator[HubProcess]:
    host = new_code_host()
    host.url = f"http://127.0.0.1:{github_port}"
    with django_db_blocker.unblock(), HubProcess(**settings_for(host)) as hub:
        yield hub


@pytest.fixture
def code_host(settings, github_port) -> Iterator[CodeHost]:
    yield from served(new_code_host(), settings, port=github_port)


@pytest.fixture
def own_hub() -> None:
    """For a test whose Hub must not remember what was in an earlier test's database."""


@pytest.fixture
def hub_process(request, transactional_db, code_host) -> Iterator[HubProcess]:
    """One Hub for all tests; one of its own for those that bring a DNS server, or ask for it."""
    if {"dns", "own_hub"} & set(request.fixturenames):
        with HubProcess() as hub:
            code_host.app.callback_urls += callbacks(hub)
            yield hub
    else:
        hub = request.getfixturevalue("shared_hub")
        code_host.app.callback_urls += callbacks(hub)
        yield hub


@pytest.fixture
def visit(chromium, hub_process: HubProcess) -> Iterator[Callable[..., Visit]]:
    """Opens a browser window at the Hub, where `user` is signed in."""
    visits: list[Visit] = []

    def opened(screen: Screen, user: User | None = None) -> Visit:
        visits.append(Visit(chromium, hub_process.url, screen))
        if user:
            client = Client()
            client.force_login(user)
            visits[-1].sign_in_as(client.session.session_key)
        return visits[-1]

    yield opened
    for each in visits:
        each.context.close()
