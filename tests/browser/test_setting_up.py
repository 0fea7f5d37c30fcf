"""A newcomer, from the sign-in to the first issue, in a real browser."""

import pytest
from django.test import Client
from playwright.sync_api import expect

from integrations.models import Integration
from orgs.models import Domain
from tests import build
from tests.browser.screens import Screen, at_rest

pytestmark = pytest.mark.django_db(transaction=True)

BOTH = [Screen(), Screen(375, "dark"), Screen(375, script=False)]


@pytest.mark.parametrize("screen", BOTH, ids=str)
def test_from_the_sign_in_to_the_first_issue(visit, code_host, screen):
    code_host.add_repository("alice", "docs")
    window = visit(screen)
    page = window.page

    page.goto("/settings/")
    clicks = [
        page.get_by_role("button", name="Sign in with GitHub"),
        page.get_by_role("button", name="alice"),
        page.get_by_role("button", name="Install the app"),
        page.get_by_role("group", name="alice").get_by_role("button", name="Install"),
        page.get_by_role(
            "button", name="Save", exact=True
        ),  # the only repository is chosen already
        page.get_by_role("button", name="Claim https://alice.github.io/docs/"),
        page.get_by_role("button", name="Send a test report"),
    ]
    for button in clicks:
        at_rest(button)
        if button is clicks[3]:  # GitHub asks which repositories; nothing of the Hub's
            page.get_by_role("group", name="alice").get_by_label("All repositories").check()
        if button is clicks[-1]:
            window.shoot("almost")
        button.click()
    page.get_by_text("Issue #1 opened in alice/docs, ").wait_for()
    window.shoot("first-issue")
    assert len(clicks) == 7
    faults = window.faults()
    page.get_by_role("link", name="Open issue #1").click()

    assert "Test report" in page.title()
    assert [issue.title for issue in code_host.issues("alice/docs")] == [
        "[docs] Test report: this is how reports arrive"
    ]
    assert not faults


def test_an_installation_that_exists_is_used_as_the_tutorial_says(visit, code_host):
    build.installed(code_host)
    page = visit(Screen()).page

    page.goto("/settings/")
    page.get_by_role("button", name="Sign in with GitHub").click()
    page.get_by_role("button", name="alice").click()
    at_rest(page.get_by_role("link", name="Integration")).click()
    page.get_by_role("button", name="Use an existing installation").click()
    page.get_by_role("button", name="alice").click()
    at_rest(page.get_by_label("Repository", exact=True)).select_option("acme/docs")
    at_rest(page.get_by_role("button", name="Save", exact=True)).click()
    page.get_by_role("button", name="Claim https://acme.github.io/docs/").click()

    expect(page.get_by_text("Verified", exact=True).first).to_be_visible()


@pytest.mark.parametrize("screen", BOTH, ids=str)
def test_a_domain_is_proved_by_its_record(dns, visit, screen):
    dns.zones.append("acme.com")
    window = visit(screen, build.member(build.organization("alice"), "alice"))
    page = window.page

    page.goto("/settings/claims/new/")
    page.get_by_label("Address of your docs").fill("https://Docs.Acme.com/install")
    page.get_by_role("button", name="Claim it").click()
    domain = Domain.objects.get(name="docs.acme.com")
    page.get_by_text(domain.record_value).wait_for()
    page.get_by_text("_hub-challenge.docs", exact=True).wait_for()
    page.get_by_role("button", name="Check now").click()
    page.get_by_text("There is no TXT record").wait_for()
    window.shoot("dns-nothing")
    faults = window.faults()
    dns.txt(f"{domain.record_name}.acme.com", domain.record_value)
    page.get_by_role("button", name="Check now").click()
    page.get_by_text("Your provider added acme.com a second time.").wait_for()
    window.shoot("dns-doubled")
    dns.txt(domain.record_name, domain.record_value)
    page.get_by_role("button", name="Check now").click()
    page.get_by_role("heading", name="Reports come to you").wait_for()
    window.shoot("dns-verified")

    assert not faults + window.faults()


def test_while_a_claim_is_open_it_is_checked_again_and_each_change_is_said_once(dns, visit):
    dns.zones.append("acme.com")
    owner = build.organization("alice")
    domain = build.domain(owner, "docs.acme.com", verified=False)
    window = visit(Screen(), build.member(owner, "alice"))
    page = window.page
    page.clock.install()
    page.goto(f"/settings/claims/{domain.id}/")
    page.evaluate(LISTEN)

    page.clock.fast_forward("00:15")
    page.get_by_role("heading", name="No record yet").wait_for()
    with page.expect_response("**/settings/claims/*/"):
        page.clock.fast_forward("00:15")
    dns.txt(domain.record_name, "v=spf1 -all")
    page.clock.fast_forward("00:15")
    page.get_by_role("heading", name="The value is a different one").wait_for()
    dns.txt(domain.record_name, domain.record_value)
    page.clock.fast_forward("00:15")
    page.get_by_role("heading", name="Reports come to you").wait_for()

    said = page.evaluate("() => said")  # as it was not loaded again, it still knows
    assert said == ["No record yet", "The value is a different one", "Reports come to you"]
    assert not page.get_by_role("heading", name="The DNS record").count()
    assert not window.faults()


LISTEN = """() => {
  window.said = [];
  const region = [...document.querySelectorAll("body > p[role=status]")].at(-1);
  new MutationObserver(() => { if (region.textContent) said.push(region.textContent); })
    .observe(region, { childList: true });
}"""


def test_a_value_is_copied(visit):
    owner = build.organization("alice")
    domain = build.domain(owner, "docs.acme.com", verified=False)
    window = visit(Screen(), build.member(owner, "alice"))
    window.context.grant_permissions(["clipboard-read", "clipboard-write"])
    window.page.goto(f"/settings/claims/{domain.id}/")

    window.page.get_by_role("button", name="Copy the value").click()

    window.page.get_by_role("status").get_by_text("Copied").wait_for()
    assert window.page.evaluate("navigator.clipboard.readText()") == domain.record_value


LEAVING = "<table><table></table></table>" * 3  # closes what is around it, unless it is taken apart


def test_the_preview_follows_the_typing(visit, code_host):
    owner = build.acme(code_host)
    user = build.member(owner, "alice", github_id=code_host.account("alice").id)
    page = visit(Screen(), user).page
    page.goto("/settings/integration/")

    page.get_by_label("Template").fill("Look here: {summary}")

    page.locator("#preview p").get_by_text("Look here: The install command").wait_for()
    page.get_by_label("Template").fill(f"{LEAVING}\n\nStill here: {{summary}}")
    page.locator("#preview .prose > p").get_by_text("Still here: The install command").wait_for()
    page.get_by_label("Template").fill("{sumary}")
    page.get_by_text("Did you mean {summary}?").wait_for()
    assert Integration.objects.get().issue_template == ""


def test_labels_are_chosen_seen_in_the_preview_and_told_of_until_github_takes_them(
    visit, code_host
):
    owner = build.acme(code_host)
    user = build.member(owner, "alice", github_id=code_host.account("alice").id)
    page = visit(Screen(), user).page
    page.goto("/settings/integration/")

    page.get_by_text("Labels, assignees and type").click()
    page.get_by_label("Labels of every issue").fill("docs feedback")
    page.get_by_label("Assignees").fill("charlie")
    page.locator("#preview").get_by_text("assignee charlie").first.wait_for()
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Saved. New issues get what you have chosen.").wait_for()
    build.send(Client(), build.report(report__summary="One"))
    page.goto("/settings/")
    page.get_by_text("GitHub did not take the assignee charlie.").wait_for()
    page.get_by_role("link", name="Change it").click()
    page.get_by_label("Assignees").fill("alice")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Saved. New issues get what you have chosen.").wait_for()
    build.send(Client(), build.report(report__summary="Two"))
    page.goto("/settings/integration/")

    first, second = code_host.issues("acme/docs")
    assert (first.labels, first.assignees) == (["docs feedback"], [])
    assert (second.labels, second.assignees) == (["docs feedback"], ["alice"])
    assert not page.get_by_text("Issues lack something").count()


def test_a_placeholder_goes_where_the_cursor_is(visit, code_host):
    owner = build.acme(code_host)
    user = build.member(owner, "alice", github_id=code_host.account("alice").id)
    page = visit(Screen(), user).page
    page.goto("/settings/integration/")
    template = page.get_by_label("Template")
    template.fill("Page: , thanks")
    template.evaluate("each => each.setSelectionRange(6, 6)")

    page.get_by_role("button", name="{doc_url}").click()

    page.get_by_text("Your template has no {details}").wait_for()
    assert template.input_value() == "Page: {doc_url}, thanks"
    page.keyboard.press("Control+z")
    assert template.input_value() == "Page: , thanks"


@pytest.mark.parametrize(
    ("path", "field", "typed", "button"),
    [
        ("integration/", "Issue template", "{sumary}", "Save"),
        ("account/", "GitHub login", "nobody", "Invite"),
        ("account/delete/", "Type the name", "something", "Delete"),
        ("claims/new/", "Address of your docs", "github.io", "Claim it"),
    ],
)
def test_an_error_takes_the_focus_and_leads_to_its_field(
    visit, code_host, path, field, typed, button
):
    owner = build.acme(code_host)
    user = build.member(owner, "alice", github_id=code_host.account("alice").id)
    page = visit(Screen(), user).page
    page.goto(f"/settings/{path}")
    page.get_by_label(field).fill(typed)
    page.get_by_role("button", name=button, exact=True).click()
    summary = page.get_by_role("alert")

    expect(summary).to_be_focused()
    assert page.title().startswith("Error:")
    summary.get_by_role("link").click()
    expect(page.get_by_label(field)).to_be_focused()
