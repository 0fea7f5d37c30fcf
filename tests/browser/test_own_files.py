"""The files of a repository as a claim, in a real browser: the checkbox, and every page that speaks of them."""

import pytest

from integrations.models import Integration
from orgs.models import Organization, Site
from reports.models import Report
from tests import build
from tests.browser.screens import Screen
from tests.browser.test_gallery import screens

pytestmark = pytest.mark.django_db(transaction=True)

OWNER, NAME = "acme-" + "o" * 34, "docs-" + "n" * 95  # the longest that GitHub accepts
PAGE = "/settings/integration/"


def ready(code_host, repository: str = "acme/docs") -> Organization:
    """Installed, with a member who may push, and no repository chosen."""
    owner = build.organization()
    build.integration(owner, code_host, repository)
    Integration.objects.update(repository_id=None, repo_owner="", repo_name="")
    return owner


def alice(owner: Organization, code_host):
    return build.member(owner, "alice", github_id=code_host.account("alice").id)


@screens
def test_the_box_is_there_ticked_and_tells_what_it_did(visit, code_host, screen, others):
    window = visit(screen, alice(ready(code_host), code_host), others=others)
    page = window.page
    page.goto(PAGE)
    box = page.get_by_label("Also receive reports about the files in acme/docs")

    assert box.is_checked()
    faults = window.look("files-first")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Reports about the files of acme/docs come to you, too.").first.wait_for()
    faults += window.look("files-saved")
    page.get_by_role("link", name="Show the claim").click()
    page.get_by_role("heading", name="Reports come to you").wait_for()

    assert Site.objects.get().is_repository
    assert not faults


def test_a_box_that_was_cleared_stays_clear_while_somebody_types(visit, code_host):
    page = visit(Screen(), alice(ready(code_host), code_host)).page
    page.goto(PAGE)
    box = page.get_by_label("Also receive reports about the files in acme/docs")

    box.uncheck()
    page.get_by_label("Template").fill("Look here: {summary}")
    page.locator("#preview p").get_by_text("Look here: The install command").wait_for()
    page.get_by_role("button", name="Preview").click()
    page.wait_for_load_state()
    assert not box.is_checked()
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Issues now go to acme/docs.").wait_for()

    assert not box.is_checked()
    assert not Site.objects.exists()


@screens
def test_the_pages_of_a_claim_with_the_longest_name(visit, code_host, screen, others):
    code_host.add_organization(OWNER)
    code_host.add_member(OWNER, "alice", role="admin")
    long = code_host.add_repository(OWNER, NAME)
    code_host.add_installation(OWNER, repositories=[long])
    owner = ready(code_host, f"{OWNER}/{NAME}")
    user = alice(owner, code_host)
    window = visit(screen, user, others=others)
    page = window.page
    faults = window.look_at({"files-long-first": PAGE})
    page.goto(PAGE)
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("link", name="Show the claim").wait_for()
    claim = f"/settings/claims/{Site.objects.get().id}/"

    faults += window.look_at(
        {
            "files-long-saved": PAGE,
            "files-long-overview": "/settings/",
            "files-long-claims": "/settings/claims/",
            "files-long-claim": claim,
            "files-long-kit": f"{claim}kit/",
            "files-long-opt-out": f"{claim}opt-out/",
            "files-long-delete": f"{claim}delete/",
            "files-long-new": "/settings/claims/new/",
            "files-long-test": "/settings/test/",
        }
    )

    assert not faults


@screens
def test_the_pages_that_speak_of_files(visit, code_host, screen, others):
    owner = ready(code_host)
    user = alice(owner, code_host)
    window = visit(screen, user, others=others)
    page, faults = window.page, []
    page.goto(PAGE)
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("link", name="Show the claim").wait_for()
    site = Site.objects.get()
    claim = f"/settings/claims/{site.id}/"
    _early(site)
    faults += window.look_at(
        {
            "files-overview": "/settings/",
            "files-claims": "/settings/claims/",
            "files-claim": claim,
            "files-earlier": f"{claim}earlier/",
            "files-kit": f"{claim}kit/",
            "files-delete": f"{claim}delete/",
            "files-new": "/settings/claims/new/",
            "files-test": "/settings/test/",
            "files-form": f"/report/?doc_url={site.url}blob/HEAD/docs/a.md",
        }
    )
    page.goto("/settings/claims/new/")
    page.get_by_label("Address of your docs").fill(f"{site.url}blob/main/docs/install.md")
    page.get_by_role("button", name="Claim it").click()
    page.get_by_role("alert").wait_for()
    faults += window.look("files-refused")
    Integration.objects.update(repository_private=True)
    faults += window.look_at(
        {
            "files-opt-out-private": f"{claim}opt-out/",
            "files-form-private": f"/report/?doc_url={site.url}blob/HEAD/docs/a.md",
        }
    )
    code_host.add_to_installation(build.installed(code_host), code_host.add_repository("acme", "b"))
    page.goto(PAGE)
    page.get_by_label("Repository", exact=True).select_option("acme/b")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("heading", name="Change to acme/b?").wait_for()
    faults += window.look("files-switch")
    page.get_by_role("button", name="Change it").click()
    page.get_by_text("Reports about the files of acme/b come to you, too.").wait_for()
    faults += window.look_at({"files-lapsed": claim, "files-overview-lapsed": "/settings/"})

    assert not faults


def _early(site: Site) -> None:
    """A report from before the claim."""
    url = f"{site.url}blob/HEAD/docs/install.md"
    at = site.verified_at
    Report.objects.create(
        received_at=at,
        last_received_at=at,
        doc_url=url,
        canonical_url=url,
        unclaimed_name=f"{site.host}{site.path.removesuffix('/')}",
        kind="broken",
        summary="The first link leads nowhere",
        agent_name="agent-x",
    )


def test_the_docs_are_still_to_be_claimed_in_one_press(visit, code_host):
    owner = ready(code_host)
    user = alice(owner, code_host)
    page = visit(Screen(), user).page
    page.goto(PAGE)
    page.get_by_role("button", name="Save", exact=True).click()

    page.get_by_role("button", name="Claim https://acme.github.io/docs/").click()
    page.get_by_role("heading", name="https://acme.github.io/docs/").wait_for()

    assert {each.is_repository for each in owner.sites.all()} == {True, False}
