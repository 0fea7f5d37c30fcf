"""The system's Chromium, at the Hub under its production server."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from itertools import count

import pytest
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from orgs.models import User
from sandbox import CodeHost
from tests.browser.screens import Screen, Visit, Windows
from tests.conftest import callbacks, hub_for, new_code_host, served
from tests.hub_process import HubProcess, free_port

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


@pytest.fixture(scope="package")
def windows(chromium: Browser) -> Windows:
    return Windows(chromium)


@pytest.fixture(scope="package")
def github_port() -> int:
    """Where each test's code host serves, so that one Hub can ask all of them."""
    return free_port()


@pytest.fixture(scope="package")
def shared_hub(django_db_setup, django_db_blocker, github_port) -> Iterator[HubProcess]:
    with django_db_blocker.unblock(), hub_for(github_port) as hub:
        yield hub


FAR_APART = count(
    0, 10_000
)  # the one Hub counts how often each account asks, also of earlier tests


@pytest.fixture
def code_host(settings, github_port) -> Iterator[CodeHost]:
    yield from served(new_code_host(ids_from=next(FAR_APART)), settings, port=github_port)


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
def visit(windows: Windows, hub_process: HubProcess) -> Iterator[Callable[..., Visit]]:
    """Opens a page of the Hub, where `user` is signed in; each time as another person."""
    visits: list[Visit] = []

    def opened(screen: Screen, user: User | None = None, *, others: Sequence[Screen] = ()) -> Visit:
        url = hub_process.url
        visits.append(Visit(windows.at(url, screen, len(visits)), url, screen))
        visits[-1].screens += others
        if user:
            visits[-1].sign_in(user)
        return visits[-1]

    yield opened
    for each in visits:
        each.leave()


@pytest.fixture
def cold_visit(windows: Windows, hub_process: HubProcess) -> Iterator[Callable[[User], Visit]]:
    """Opens a window with nothing in its cache."""
    contexts: list[BrowserContext] = []

    def opened(user: User) -> Visit:
        contexts.append(windows.new(hub_process.url, Screen()))
        visit = Visit(contexts[-1], hub_process.url, Screen())
        visit.sign_in(user)
        return visit

    yield opened
    for each in contexts:
        each.close()
