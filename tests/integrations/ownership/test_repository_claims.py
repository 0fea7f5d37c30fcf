"""Claims of repositories: their own pages on the code host are whose issues go there."""

from threading import Barrier, Thread

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from integrations.delivery import forwarding
from integrations.models import Delivery, Integration
from integrations.ownership import site_claims, taking_over, unclaimed
from orgs.discovery import checking, published
from orgs.models import Organization, Site
from orgs.ownership import owner_of
from reports.models import Report
from tests import build
from tests.plans import plan_of, plans_of, whole_tables_in

pytestmark = pytest.mark.django_db(transaction=True)

URL = "/v1/orgs/me/sites"


@pytest.fixture
def root(code_host) -> str:
    """The URL of acme/docs."""
    return f"{code_host.url}/acme/docs/"


@pytest.fixture
def acme(code_host) -> Organization:
    return set_up(code_host, "alice")


@pytest.fixture
def alice(acme) -> Client:
    return client_of(acme)


def set_up(code_host, login: str, repository: str = "acme/docs") -> Organization:
    owner = build.organization(login)
    build.member(owner, login, github_id=code_host.account(login).id)
    build.integration(owner, code_host, repository)
    return owner


def client_of(organization: Organization) -> Client:
    return build.api(build.token(organization.memberships.get().user))


def claim(client: Client, url: str):
    return client.post(URL, {"url": url}, content_type="application/json")


def test_a_repository_is_claimed_and_what_is_reported_about_its_files_becomes_issues(
    alice, acme, root, code_host
):
    answer = claim(alice, root)
    sent = build.send(Client(), build.report(f"{root}blob/main/docs/install.md"))

    site = Site.objects.get()
    assert answer.status_code == 201
    assert answer.json() == {
        "id": site.id,
        "url": root,
        "status": "verified",
        "repository": "acme/docs",
        "verified_at": answer.json()["verified_at"],
        "lapsed_at": None,
        "opted_out_at": None,
    }
    assert alice.get("/v1/orgs/me").json()["sites"] == [answer.json()]
    assert sent.status_code == 201
    assert Delivery.objects.get().status == "sent"
    assert len(code_host.issues("acme/docs")) == 1
    assert Report.objects.get().canonical_url == f"{root}blob/HEAD/docs/install.md"


def test_claiming_again_changes_nothing(alice, root):
    first, again = claim(alice, root), claim(alice, root.upper().replace("HTTP", "http"))

    assert (again.status_code, again.json()) == (200, first.json())


def test_a_repository_has_one_owner_at_a_time(alice, root, code_host):
    claim(alice, root)
    bob = client_of(set_up(code_host, "bob"))

    refused = claim(bob, root)

    assert (refused.status_code, refused.json()["error"]) == (409, "claimed_elsewhere")
    assert "that repository" in refused.json()["message"]


def test_another_repository_than_my_own_is_not_mine_to_claim(alice, root):
    refused = claim(alice, root.replace("docs", "handbook"))

    assert (refused.status_code, refused.json()["error"]) == (422, "different_repository")
    assert refused.json()["message"] == (
        "That is acme/handbook, but your issues go to acme/docs. "
        "Choose acme/handbook as your repository first."
    )


def test_without_a_repository_there_is_nothing_to_prove_it_with(db, root):
    client = build.api(build.token(build.member(build.organization())))

    refused = claim(client, root)

    assert (refused.status_code, refused.json()["error"]) == (409, "not_configured")


def test_a_site_and_its_repository_are_claimed_beside_each_other(alice, acme, root):
    assert claim(alice, root).status_code == 201
    assert claim(alice, "https://acme.github.io/docs/").status_code == 201

    assert owner_of(f"{root}wiki/Setup") == acme.pk
    assert owner_of("https://acme.github.io/docs/x") == acme.pk
    assert acme.sites.count() == 2


def test_a_site_on_a_pages_host_below_the_code_host_is_still_claimed(acme, settings):
    """As on Enterprise; it was taken for a page of the code host, which blocked every site's claim."""
    settings.HUB_GITHUB_URL = "https://git.acme.com"
    settings.HUB_PAGES_HOST = "pages.git.acme.com"

    site, is_new = site_claims.claim_site(acme, "https://acme.pages.git.acme.com/docs/")
    files, _ = site_claims.claim_site(acme, "https://git.acme.com/acme/docs/")

    assert (is_new, site.host, site.path) == (True, "acme.pages.git.acme.com", "/docs/")
    assert owner_of("https://acme.pages.git.acme.com/docs/x") == acme.pk
    assert files.is_repository
    with pytest.raises(site_claims.SharedHost):
        site_claims.claim_site(acme, "https://pages.git.acme.com/docs/")


def test_the_code_host_is_none_of_the_sites_of_a_pages_host_above_it(acme, settings):
    settings.HUB_GITHUB_URL = "https://git.acme.com"
    settings.HUB_PAGES_HOST = "acme.com"

    files, _ = site_claims.claim_site(acme, "https://git.acme.com/acme/docs/")

    assert files.is_repository


def test_a_claim_is_removed(alice, root):
    site_id = claim(alice, root).json()["id"]

    assert alice.delete(f"{URL}/{site_id}").status_code == 204
    assert owner_of(root) is None


def test_opting_out_refuses_reports_about_its_pages(alice, root):
    site_id = claim(alice, root).json()["id"]

    out = alice.patch(f"{URL}/{site_id}", {"opted_out": True}, content_type="application/json")
    refused = build.send(Client(), build.report(f"{root}blob/HEAD/README.md"))

    assert out.status_code == 200
    assert refused.status_code == 410
    assert build.send(Client(), build.report(f"{root}issues/1")).status_code == 201


def test_what_waits_for_its_pages_is_held_while_they_are_nobodys(alice, root, code_host):
    site_id = claim(alice, root).json()["id"]
    code_host.fail("500", path="token")
    build.send(Client(), build.report(f"{root}blob/HEAD/x.md"))

    alice.delete(f"{URL}/{site_id}")
    held = Delivery.objects.get()
    claim(alice, root)

    assert (held.status, held.held_for) == ("held", "ownership")
    assert Delivery.objects.get().status == "pending"


def test_a_test_report_is_about_its_root(alice, root):
    claim(alice, root)

    answer = alice.post("/v1/orgs/me/test-report")

    assert answer.status_code == 201
    assert Report.objects.get().doc_url == root


def test_what_was_reported_before_the_claim_does_not_drown_among_other_repositories(
    alice, root, monkeypatch
):
    monkeypatch.setattr(unclaimed, "LOOKED_AT", 2)
    for number, url in enumerate(
        [f"{root}blob/HEAD/a.md", f"{root}wiki", f"{root}issues/1", f"{root[:-1]}-fork/wiki"]
        + [root.replace("docs", f"other{each}") for each in range(5)]
    ):
        build.send(Client(), build.report(url, report__summary=f"Number {number}"))

    site = Site.objects.get(pk=claim(alice, root).json()["id"])
    page = unclaimed.page(site)

    assert [each.canonical_url for each in page.reports] == [
        f"{root}wiki",
        f"{root}blob/HEAD/a.md",
    ]
    assert unclaimed.send(site.organization.memberships.get(), site, [page.reports[0].pk]) == 1


def test_a_flood_about_one_repository_leaves_the_others_their_share(settings, root):
    settings.HUB_HOST_RATE = "10/minute"  # of it 1 for a network

    def status(url: str, number: int) -> int:
        return build.send(Client(), build.report(url, report__summary=str(number))).status_code

    flood = [status(f"{root}blob/HEAD/{number}.md", number) for number in range(3)]

    assert flood == [201, 429, 429]
    assert status(root.replace("docs", "handbook"), 3) == 201


def test_what_comes_in_without_push_access_is_withheld(alice, acme, root, code_host):
    claim(alice, root)
    code_host.remove_member("acme", "alice")
    now = timezone.now()
    Integration.objects.update(rights_absences=3, rights_absent_since=now, rights_lost_at=now)

    report_id = build.send(Client(), build.report(f"{root}wiki/Setup")).json()["id"]
    lost = alice.get(f"/v1/orgs/me/reports/{report_id}").status_code
    code_host.add_member("acme", "alice", role="admin")
    call_command("reconcile_installations")

    assert (lost, alice.get(f"/v1/orgs/me/reports/{report_id}").status_code) == (404, 200)
    assert len(code_host.issues("acme/docs")) == 0  # it waits for its turn
    call_command("retry_deliveries", "--now")
    assert len(code_host.issues("acme/docs")) == 1


def test_the_public_file_of_the_code_host_says_nothing_about_it(alice, root, monkeypatch):
    """It would be asked for on every claim of a repository, and is the code host's own."""
    site = Site.objects.get(pk=claim(alice, root).json()["id"])
    asked: list[str] = []
    monkeypatch.setattr(published, "refuses", asked.append)

    assert checking.maintain() == 0
    assert checking.check(site, by=site.organization.memberships.get()) == []
    assert asked == []


def test_a_private_repository_is_claimed_like_any_other(alice, root, code_host):
    """Its issue is shown to nobody."""
    code_host.set_private("acme/docs", True)
    Integration.objects.update(repository_private=True)

    answer = claim(alice, root)
    sent = build.send(Client(), build.report(f"{root}blob/HEAD/a.md")).json()

    receipt = Client().get(f"/v1/reports/{sent['id']}").json()
    assert answer.status_code == 201
    assert len(code_host.issues("acme/docs")) == 1
    assert receipt["issue_url"] is None


def test_its_reports_are_found_by_the_claim(alice, root):
    claim(alice, root)
    for url in (f"{root}wiki", f"{root}blob/main/README.md", f"{root}issues/1"):
        build.send(Client(), build.report(url))

    found = alice.get("/v1/orgs/me/reports", {"claim": root.replace("docs", "Docs")}).json()

    assert len(found["reports"]) == 2


def test_the_issue_links_the_file(alice, root, code_host):
    claim(alice, root)
    build.send(Client(), build.report(f"{root}blob/main/docs/install.md?plain=1#linux"))

    [issue] = code_host.issues("acme/docs")
    assert f"- Page: {root}blob/main/docs/install.md#linux\n" in issue.body


@pytest.mark.parametrize("spelling", ["https://gït.acme.com", "https://xn--gt-tja.acme.com."])
def test_a_page_of_the_code_host_is_no_link_however_the_setting_spells_its_name(settings, spelling):
    settings.HUB_GITHUB_URL = spelling
    page = "https://xn--gt-tja.acme.com/acme/docs/issues/1"

    _, body = forwarding.render(Report(doc_url=page, summary="x"), "{doc_url}", repository="a/b")

    assert page not in body
    assert page in body.replace("\u200b", "")


def test_it_passes_on_to_an_admin_when_its_holder_has_no_push_access(acme, root, code_host):
    taking_over.claim_site(acme.memberships.get(), root)
    code_host.remove_member("acme", "alice")
    code_host.add_member("acme", "bob", role="admin")
    other = set_up(code_host, "bob")

    answer = claim(client_of(other), root)

    assert answer.status_code == 201
    assert owner_of(root) == other.pk
    assert "now belongs to another organization" in acme.notices.get().text
    assert "is now yours" in other.notices.get().text


def test_push_access_alone_takes_nothing_over(acme, root, code_host):
    taking_over.claim_site(acme.memberships.get(), root)
    code_host.remove_member("acme", "alice")
    code_host.grant("bob", "acme/docs", "push")

    refused = claim(client_of(set_up(code_host, "bob")), root)

    assert (refused.status_code, refused.json()["error"]) == (409, "claimed_elsewhere")


def test_one_repository_is_not_claimed_twice_by_two_of_its_names(acme, alice, root, code_host):
    """bob's Hub row has the new name already, alice's claim still the old one."""
    claim(alice, root)
    code_host.rename("acme/docs", "handbook")
    bob = client_of(set_up(code_host, "bob", "acme/handbook"))

    refused = claim(bob, root.replace("docs", "handbook"))

    assert (refused.status_code, refused.json()["error"]) == (409, "claimed_elsewhere")
    assert Site.objects.live().count() == 1


def test_of_two_who_claim_it_at_the_same_moment_one_has_it(acme, root, code_host):
    other = set_up(code_host, "bob")
    at_once, results = Barrier(2), []

    def claims(owner: Organization) -> None:
        at_once.wait()
        try:
            results.append(site_claims.claim_site(owner, root)[0].organization_id)
        except site_claims.ClaimedElsewhere:
            results.append(None)
        finally:
            connection.close()

    threads = [Thread(target=claims, args=[owner]) for owner in (acme, other)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert sorted(each is None for each in results) == [False, True]
    assert owner_of(root) in results
    assert Site.objects.count() == 1


def test_claims_are_found_by_the_number_of_their_repository(alice, root, code_host):
    claim(alice, root)
    bob = client_of(set_up(code_host, "bob"))

    plans = plans_of(lambda: claim(bob, root))

    assert not whole_tables_in(plans, "orgs_site")
    assert "site_of_repository" in plan_of(Site.objects.filter(repository_id=7))
