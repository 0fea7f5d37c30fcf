"""A terminal that signs in, approved in a real browser."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import requests

from tests import build
from tests.browser.screens import Screen, at_rest

pytestmark = pytest.mark.django_db(transaction=True)

CLI = {"client_id": "docfeedback-cli"}
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
OTHERS = [Screen(1280, axe=False), Screen(1280, "dark", axe=False), Screen(320, axe=False)]


class Elsewhere(ThreadingHTTPServer):
    """A site that leads to `target`: by a redirect, or a page with a link and, at `/at-once`, a script."""

    def __init__(self, target: str) -> None:
        super().__init__(("127.0.0.1", 0), Leading)
        self.target = target
        self.url = f"http://localhost:{self.server_address[1]}"  # another site than 127.0.0.1


class Leading(BaseHTTPRequestHandler):
    server: Elsewhere

    def log_message(self, *args: object) -> None:
        """Not said."""

    def do_GET(self) -> None:
        if self.path == "/redirect":
            self.send_response(302)
            self.send_header("Location", self.server.target)
            self.end_headers()
            return
        page = f'<a rel="noreferrer" href="{self.server.target}">Go on</a>'
        if self.path == "/at-once":
            page += f'<script>location.replace("{self.server.target}")</script>'
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(page.encode())


@pytest.fixture
def codes(hub_process) -> dict[str, str]:
    """A terminal that waits."""
    asked = CLI | {"scope": "orgs:read orgs:write"}
    return requests.post(f"{hub_process.url}/oauth/device", data=asked, timeout=60).json()


@pytest.fixture
def elsewhere(codes) -> Iterator[str]:
    """The address of another site that leads to the link of the terminal."""
    with Elsewhere(codes["verification_uri_complete"]) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        yield server.url
        server.shutdown()
        serving.join()


def test_a_newcomer_opens_the_link_of_a_terminal(visit, codes):
    page = visit(Screen()).page

    page.goto(codes["verification_uri_complete"])
    page.get_by_role("button", name="Sign in with GitHub").click()
    page.get_by_role("button", name="alice").click()
    at_rest(page.get_by_role("button", name="Approve")).click()

    page.get_by_text("Approved.").wait_for()


@pytest.mark.parametrize("way", ["link", "at-once"])
def test_a_code_that_a_page_of_another_site_brings_along_is_asked_for(visit, codes, elsewhere, way):
    window = visit(Screen(375, "dark"), build.member(build.organization()), others=OTHERS)
    page = window.page

    page.goto(f"{elsewhere}/{way}")
    if way == "link":
        page.get_by_role("link", name="Go on").click()
    page.get_by_text("Another site has sent you here").wait_for()
    faults = window.look("device-brought")
    typed = page.get_by_label("The code in your terminal")
    empty = typed.input_value()
    typed.fill(codes["user_code"])
    at_rest(page.get_by_role("button", name="Continue")).click()

    page.get_by_role("button", name="Approve").wait_for()
    assert empty == ""
    assert not faults


def test_a_page_of_another_site_brings_no_code_past_the_sign_in(visit, elsewhere):
    page = visit(Screen()).page

    page.goto(f"{elsewhere}/link")
    page.get_by_role("link", name="Go on").click()
    at_rest(page.get_by_role("button", name="Sign in with GitHub")).click()
    page.get_by_role("button", name="alice").click()

    page.get_by_label("The code in your terminal").wait_for()


def test_an_address_that_is_opened_stays_so_through_a_redirect_of_another_site(
    visit, hub_process, codes, elsewhere
):
    """Browsers say of it what they say of a terminal's own link, so only the name of the Hub is left to compare."""
    page = visit(Screen(), build.member(build.organization())).page
    with page.expect_request(codes["verification_uri_complete"]) as asked:
        page.goto(f"{elsewhere}/redirect")

    page.get_by_role("button", name="Approve").wait_for()
    assert asked.value.all_headers()["sec-fetch-site"] == "none"
    assert page.get_by_role("definition").all_inner_texts() == [codes["user_code"], hub_process.url]


def test_a_newcomer_approves_a_terminal(visit, hub_process, codes):
    known = requests.get(f"{hub_process.url}/.well-known/openid-configuration", timeout=60).json()
    window = visit(Screen(375, "dark"), others=OTHERS)
    page = window.page

    page.goto("/device/")
    page.get_by_role("button", name="Sign in with GitHub").click()
    page.get_by_role("button", name="alice").click()
    page.get_by_label("The code in your terminal").fill("BCDF-GHJK")
    at_rest(page.get_by_role("button", name="Continue")).click()
    page.get_by_text("No terminal waits with this code.").first.wait_for()
    faults = window.look("device-wrong")
    page.get_by_label("The code in your terminal").fill(codes["user_code"].lower())
    page.get_by_role("button", name="Continue").click()
    page.get_by_text(codes["user_code"]).wait_for()
    faults += window.look("device")
    page.get_by_role("button", name="Approve").click()
    page.get_by_text("Approved.").wait_for()
    poll = CLI | {"grant_type": DEVICE, "device_code": codes["device_code"]}
    tokens = requests.post(known["token_endpoint"], data=poll, timeout=60).json()
    bearer = {"Authorization": f"Bearer {tokens['access_token']}"}
    me = requests.get(f"{hub_process.url}/v1/orgs/me", headers=bearer, timeout=60).json()
    page.goto("/settings/tokens/")
    page.get_by_role("heading", name="Terminals that are signed in").wait_for()
    faults += window.look("terminals")

    assert (me["name"], me["caller"]["login"]) == ("alice", "alice")
    assert not faults
