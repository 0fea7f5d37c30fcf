"""The system's Chromium, at the Hub under its production server."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from django.test import Client
from playwright.sync_api import Browser, sync_playwright

from orgs.models import User
from tests.browser.screens import Screen, Visit
from tests.hub_process import ROOT, HubProcess

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
