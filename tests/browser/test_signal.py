"""One problem, one issue: the whole loop in a real browser, from the first report to what a reporter is told."""

import os
import subprocess
from datetime import timedelta

import pytest
from playwright.sync_api import Page, expect

from integrations.comments import sending
from integrations.models import Delivery
from tests import build
from tests.browser.screens import Screen
from tests.clients.conftest import COMMAND_LINES, needs_node
from tests.integrations.delivery.alike import AGAIN, ONCE_MORE, OTHER, PUSH
from tests.integrations.delivery.alike import sent as send

pytestmark = [pytest.mark.django_db(transaction=True), needs_node]

NEARER = {  # to what is split off
    "report__summary": "`--force` of `shipyard push` is gone: it is `--overwrite` that the page should say",
    "agent__name": "gemini-cli",
}
SCREENS = [Screen(), Screen(375, "dark", script=False)]


@pytest.fixture
def alice(code_host):
    return build.member(build.acme(code_host), github_id=code_host.account("alice").id)


@pytest.mark.parametrize("screen", SCREENS, ids=str)
def test_one_problem_is_one_issue_until_its_reporters_are_answered(
    visit, alice, code_host, hub_process, tmp_path, screen
):
    window = visit(screen, alice)
    page = window.page
    lead = send(PUSH)
    send(OTHER)
    faults = []

    hinted = send(AGAIN)
    page.goto(hinted.issue_url)
    expect(page.locator("article")).to_contain_text("Maybe the same as #1: same page; ")
    _open(page, hinted)
    faults += window.look("signal-hinted")
    page.get_by_role("button", name="The same", exact=True).click()
    expect(page.get_by_text("Noted: it is the same. Both issues stay as they are.")).to_be_visible()

    _choose(page, "Join the earlier issue")
    faults += window.look("signal-chosen")
    joined = send(ONCE_MORE)
    _open(page, joined)
    expect(page.get_by_role("heading", name="It has joined issue #1")).to_be_visible()
    expect(page.get_by_text("It is about the same problem: same page; ")).to_be_visible()
    faults += window.look("signal-joined")
    sending.send_due()
    _see_comment(page, lead, "Also reported", "is gone, it should say")

    _open(page, lead)
    faults += window.look("signal-lead")
    _open(page, joined)
    page.get_by_role("button", name="Not the same").click()
    expect(page.get_by_text("Split off. Issue #4 opened in acme/docs.")).to_be_visible()
    assert _status(joined) == ("sent", None)
    assert send(NEARER).lead == joined

    code_host.app.webhook_url = f"{hub_process.url}/v1/webhooks/github"
    _close(lead, code_host)
    _open(page, lead)
    expect(page.get_by_text("closed").first).to_be_visible()
    build_again = send(PUSH)  # the very same
    assert build_again == lead
    sending.send_due()
    _see_comment(page, lead, "Reported again")

    _answer(page, lead)
    faults += window.look("signal-answered")
    for name, client in COMMAND_LINES.items():
        told = _told(client.command, hub_process.url, lead.report_id, tmp_path)
        assert "Use --overwrite until 4.1." in told, (name, told)
    page.goto(f"/r/{lead.report_id}/")
    expect(page.get_by_text("Use --overwrite until 4.1.")).to_be_visible()
    faults += window.look("signal-receipt")
    assert len(code_host.issues("acme/docs")) == 4
    assert not faults


def _choose(page: Page, name: str) -> None:
    page.goto("/settings/integration/")
    page.get_by_label(name).check()
    page.get_by_role("button", name="Save these choices").click()
    expect(page.get_by_text("Saved. This applies to what is sent from now on.")).to_be_visible()


def _open(page: Page, delivery: Delivery) -> None:
    page.goto(f"/settings/reports/{delivery.report_id}/")


def _see_comment(page: Page, lead: Delivery, *words: str) -> None:
    page.goto(lead.issue_url)
    for each in words:
        expect(page.locator("section.box article").last).to_contain_text(each)


def _status(delivery: Delivery) -> tuple[str, int | None]:
    return Delivery.objects.values_list("status", "lead").get(pk=delivery.pk)


def _close(lead: Delivery, code_host) -> None:
    """Two days ago, after it had been opened. GitHub has told the Hub when this returns."""
    Delivery.objects.filter(pk=lead.pk).update(issue_updated_at=None)
    code_host.clock_offset = -timedelta(days=2)
    code_host.close_issue("acme/docs", lead.issue_number, by="alice")
    code_host.clock_offset = timedelta(0)


def _answer(page: Page, lead: Delivery) -> None:
    _open(page, lead)
    page.get_by_label("What to tell them").fill("Use --overwrite until 4.1.")
    page.get_by_role("button", name="Save the answer").click()
    expect(page.get_by_label("What to tell them")).to_have_value("Use --overwrite until 4.1.")


def _told(command: list[str], hub: str, report_id: str, home) -> str:
    """What a reporter's terminal says of the report."""
    known = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": "clients/python/src"}
    asked = [*command, "status", report_id, "--hub-url", hub]
    return subprocess.run(asked, env=known, capture_output=True, text=True, timeout=60).stdout
