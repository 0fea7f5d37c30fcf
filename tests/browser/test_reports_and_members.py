"""Reports, members, tokens and the admin in a real browser, with script and without."""

import pytest

from integrations.delivery import holds
from integrations.models import Delivery, Integration
from orgs.models import User
from tests import build
from tests.browser.screens import Screen, Visit

pytestmark = pytest.mark.django_db(transaction=True)

SCREENS = [Screen(1280), Screen(375, "dark"), Screen(320), Screen(375, script=False)]
WIDER = """[...document.querySelectorAll(".prose *")].filter(each =>
    each.getBoundingClientRect().right > each.closest(".prose").getBoundingClientRect().right + 1
).length"""


@pytest.fixture
def acme(code_host):
    return build.acme(code_host)


@pytest.fixture
def alice(acme, code_host) -> User:
    return build.member(acme, github_id=code_host.account("alice").id)


def look(window: Visit, name: str) -> None:
    window.shoot(name)
    assert not window.faults()


@pytest.mark.parametrize("screen", SCREENS, ids=str)
def test_a_report_that_github_refused_is_found_and_tried_again(
    visit, client, acme, alice, code_host, screen
):
    code_host.fail("422")
    build.send(client, build.report(report__kind="broken", report__details="`<b>` & @alice"))
    build.send(client, build.report(report__summary="Another"))
    window = visit(screen, alice)
    page = window.page

    page.goto("/settings/reports/")
    page.get_by_role("link", name="Failed").click()
    page.wait_for_url("**status=failed**")
    look(window, "reports-narrowed")
    assert not page.get_by_text("Another").count()
    page.get_by_role("link", name="The install command is gone").click()
    page.wait_for_url("**/reports/0*/")
    look(window, "report-failed")
    page.get_by_role("button", name="Try again").click()
    page.get_by_text("Issue #2 opened in acme/docs.").wait_for()
    look(window, "report-tried")

    assert Delivery.objects.filter(status="sent").count() == 2
    assert len(code_host.issues("acme/docs")) == 2


@pytest.mark.parametrize("screen", SCREENS, ids=str)
@pytest.mark.parametrize("words", ["> " * 500 + "deep", "".join("`" * n + " " for n in range(124))])
def test_no_words_of_a_report_leave_their_card(visit, client, acme, alice, screen, words):
    build.send(client, build.report(report__details=words))
    window = visit(screen, alice)
    page = window.page

    page.goto("/settings/reports/")
    page.get_by_role("link", name="The install command is gone").click()
    page.wait_for_url("**/reports/0*/")

    look(window, "report-wide")
    assert not page.evaluate(WIDER)


@pytest.mark.parametrize("screen", SCREENS, ids=str)
def test_what_went_to_github_is_shown_as_an_issue_and_as_markdown(
    visit, client, acme, alice, screen
):
    details = "Ask @all <b>now</b>: ![x](https://evil.example/p.png)"
    report_id = build.send(client, build.report(report__details=details)).json()["id"]
    window = visit(screen, alice)
    page = window.page

    page.goto(f"/settings/reports/{report_id}/")
    look(window, "report-sent")
    issue, markdown = page.locator("article.issue").all()
    assert (issue.is_visible(), markdown.is_visible()) == (True, False)
    page.get_by_text("Markdown", exact=True).click()

    assert (issue.is_visible(), markdown.is_visible()) == (False, True)
    assert "<!-- hub:" in markdown.inner_text()
    look(window, "report-sent-markdown")


@pytest.mark.parametrize("screen", SCREENS, ids=str)
def test_filters_that_nothing_fits_say_what_to_do(visit, alice, screen):
    window = visit(screen, alice)

    window.page.goto("/settings/reports/?q=nothing")
    look(window, "reports-nothing-fits")
    window.page.goto("/settings/reports/?status=lost")
    look(window, "reports-refused")

    assert window.page.title().startswith("Error:")


@pytest.mark.parametrize("screen", SCREENS, ids=str)
def test_a_member_is_invited_joins_and_is_removed(visit, acme, alice, code_host, screen):
    window = visit(screen, alice)
    page = window.page

    page.goto("/settings/account/")
    page.get_by_label("GitHub login").fill("nobody")
    page.get_by_role("button", name="Invite").click()
    page.get_by_role("link", name="There is no GitHub user nobody.").wait_for()
    look(window, "member-refused")
    page.get_by_label("GitHub login").fill("bob")
    page.get_by_label("Role").select_option("owner")
    page.get_by_role("button", name="Invite").click()
    page.get_by_text("bob was invited and can accept at the next visit.").wait_for()
    look(window, "member-invited")

    bob = build.member(build.organization("bob"), "bob", github_id=code_host.account("bob").id)
    theirs = visit(screen, bob)
    theirs.page.goto("/settings/")
    theirs.page.get_by_role("heading", name="alice invites you to acme").wait_for()
    look(theirs, "member-asked")
    theirs.page.get_by_role("button", name="Join acme").click()
    theirs.page.get_by_text("You are now a member of acme.").wait_for()

    page.goto("/settings/account/")
    page.get_by_role("button", name="Make member").click()
    page.get_by_text("bob is now a member.").wait_for()
    page.get_by_role("link", name="Remove bob").click()
    page.get_by_role("heading", name="Remove bob?").wait_for()
    look(window, "member-remove")
    page.get_by_role("button", name="Remove").click()
    page.get_by_text("bob was removed from acme.").wait_for()

    here = acme.memberships.values_list("login", flat=True)
    assert list(here) == ["alice"]


@pytest.mark.parametrize("screen", SCREENS, ids=str)
def test_a_token_is_made_shown_once_and_revoked(visit, alice, screen):
    window = visit(screen, alice)
    page = window.page

    page.goto("/settings/tokens/")
    page.get_by_label("What it is for").fill("CI")
    page.get_by_role("button", name="Create a token").click()
    value = page.locator("code").first.inner_text()
    look(window, "token-new")
    page.goto("/settings/tokens/")
    assert value not in page.content()
    page.get_by_role("link", name="Revoke CI").click()
    page.get_by_role("heading", name="Revoke CI?").wait_for()
    look(window, "token-revoke")
    page.get_by_role("button", name="Revoke").click()
    page.get_by_text("revoked.").wait_for()
    page.get_by_role("button", name="Sign out of all other browsers").click()
    page.get_by_text("You are signed out of all other browsers.").wait_for()
    look(window, "signed-out-elsewhere")

    assert value.startswith("hub_")


@pytest.mark.parametrize("screen", SCREENS, ids=str)
def test_the_theme_is_chosen_and_the_account_deleted(visit, alice, screen):
    window = visit(screen, alice)
    page = window.page

    page.goto("/settings/account/")
    page.get_by_label("Colors").select_option("dark")
    page.get_by_role("button", name="Save theme").click()
    page.locator('html[data-theme="dark"]').wait_for()
    look(window, "account-dark")
    page.get_by_role("link", name="Delete this account").click()
    page.get_by_label("Type the name").fill("something")
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("link", name="Type acme to delete it.").wait_for()
    look(window, "delete-refused")
    page.get_by_label("Type the name").fill("acme")
    page.get_by_role("button", name="Delete").click()
    page.wait_for_url("**/login/")

    assert not User.objects.exists()


def test_an_operator_sees_how_it_goes_and_retries(visit, client, acme, alice, code_host, own_hub):
    User.objects.update(is_staff=True, is_superuser=True)
    code_host.fail("422")
    build.send(client)
    window = visit(Screen(1280), alice)
    page = window.page

    page.goto("/admin/")
    window.shoot("admin")
    page.goto("/admin/integrations/delivery/")
    page.locator("input.action-select").check()
    page.locator("select[name=action]").select_option("retry")
    page.get_by_role("button", name="Go").click()
    page.get_by_text("1 retried; 0 not delivered yet.").wait_for()
    window.shoot("admin-retried")

    assert not window.complaints
    assert len(code_host.issues("acme/docs")) == 1


@pytest.mark.parametrize("screen", SCREENS, ids=str)
def test_a_flood_is_found_discarded_and_restored(visit, client, acme, alice, code_host, screen):
    holds.pause(Integration.objects.get())
    for number in range(4):
        build.send(client, build.report(report__summary=f"Flood {number}"))
    build.send(client, build.report(report__summary="Honest"))
    window = visit(screen, alice)
    page = window.page

    page.goto("/settings/reports/")
    look(window, "reports-to-choose")
    page.get_by_label("Select Flood 3").check()
    page.get_by_role("button", name="Discard").click()
    page.get_by_text("1 report discarded").wait_for()
    look(window, "reports-discarded")
    page.get_by_label("Search").fill("flood")
    page.get_by_role("button", name="Search").click()
    page.wait_for_url("**q=flood**")
    look(window, "reports-flood")
    page.get_by_role("button", name="Discard all that match").click()
    page.get_by_text("3 reports discarded").wait_for()
    discarded = [each.state for each in Delivery.objects.order_by("pk")]
    page.get_by_role("link", name="Flood 0").click()
    page.wait_for_url("**/reports/0*/")
    look(window, "report-discarded")
    page.get_by_role("button", name="Restore").click()
    page.get_by_text("Restored.").wait_for()
    look(window, "report-restored")

    assert discarded == ["discarded"] * 4 + ["held"]
    assert Delivery.objects.order_by("pk")[0].held_for == "pause"


@pytest.mark.parametrize("screen", SCREENS, ids=str)
def test_the_reports_of_a_page_are_found_chosen_and_tried_again(
    visit, client, acme, alice, code_host, screen
):
    for number in range(2):
        code_host.fail("422")
        build.send(client, build.report(report__summary=f"Gone {number}"))
    other = build.report("https://docs.acme.com/other", report__summary="Elsewhere")
    build.send(client, other)
    window = visit(screen, alice)
    page = window.page

    page.goto("/settings/")
    page.get_by_role("link", name="/install", exact=True).click()
    page.wait_for_url("**page=https**")
    look(window, "reports-of-a-page")
    assert not page.get_by_text("Elsewhere").count()
    page.get_by_text("Filters").click()
    page.get_by_label("Agent").fill("agent-x")
    page.get_by_label("From").fill("2026-01-01")
    look(window, "reports-filters")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url("**agent=agent-x**")
    page.get_by_role("link", name="From: 2026-01-01").click()
    page.wait_for_url(lambda url: "since" not in url or url.endswith("since="))
    if screen.script and screen.width > 400:  # the head of the table is not shown on phones
        page.get_by_label("Select all").check()
    for number in range(2):
        page.get_by_label(f"Select Gone {number}").check()
    look(window, "reports-selected")
    page.get_by_role("button", name="Try again", exact=True).click()
    page.get_by_text("2 reports to be tried again, each in its turn.").wait_for()

    assert Delivery.objects.filter(status="pending").count() == 2
