"""The page of `setup_github --port`, in a real browser, as far as GitHub's button and back."""

import threading

from hub.registering import loopback
from hub.registering.manifest import Wish
from sandbox import CodeHost
from tests.browser.screens import Screen, Visit


def test_from_the_page_to_the_code_host_and_back(windows, settings):
    host = CodeHost(app=None)
    host.add_user("alice")
    wish = Wish('Docs of "Alice" <b>')
    with (
        host.serving() as settings.HUB_GITHUB_URL,
        loopback.serving(loopback.Loopback(0, wish)) as server,
    ):
        threading.Thread(target=end_well, args=[server], daemon=True).start()
        window = Visit(windows.new(server.url, Screen()), f"http://{server.hosts[0]}", Screen())
        window.screens.append(Screen(375, "dark"))
        page = window.page

        page.goto(server.url)
        faults = window.look("registering")
        page.get_by_role("button", name="Create it on GitHub").click()
        page.get_by_role("button", name="Sign in as alice").click()
        page.get_by_role("button", name="Create GitHub App").click()
        page.get_by_text("The app is created").wait_for()
        faults += window.look("registered")
        window.context.close()

    assert not faults
    assert (host.app.name, host.app.owner) == (wish.name, "alice")


def end_well(server: loopback.Loopback) -> None:
    server.has_code.wait()
    server.end(is_done=True)
