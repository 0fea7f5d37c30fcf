"""Claims of repositories: their own pages on the code host are whose issues go there."""

import pytest
from django.test import Client

from integrations.models import Delivery
from orgs.models import Organization, Site
from orgs.ownership import owner_of
from reports.models import Report
from tests import build

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
