"""A terminal that signs in, approved in a real browser."""

import pytest
import requests

from tests.browser.screens import Screen

pytestmark = pytest.mark.django_db(transaction=True)

CLI = {"client_id": "docfeedback-cli"}
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
OTHERS = [Screen(1280, axe=False), Screen(1280, "dark", axe=False), Screen(320, axe=False)]


def test_a_newcomer_approves_a_terminal(visit, hub_process):
    known = requests.get(f"{hub_process.url}/.well-known/openid-configuration", timeout=60).json()
    asked = CLI | {"scope": "orgs:read orgs:write"}
    codes = requests.post(known["device_authorization_endpoint"], data=asked, timeout=60).json()
    window = visit(Screen(375, "dark"), others=OTHERS)
    page = window.page

    page.goto("/device/")
    page.get_by_role("button", name="Sign in with GitHub").click()
    page.get_by_role("button", name="alice").click()
    page.get_by_label("The code in your terminal").fill("BCDF-GHJK")
    page.get_by_role("button", name="Continue").click()
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
