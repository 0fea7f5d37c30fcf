"""Site claims: whoever receives issues in the repository that publishes a site owns it."""

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from integrations.delivery import holds
from integrations.github_sync import applying
from integrations.models import Delivery, Installation, Integration
from integrations.ownership import site_claims
from integrations.ownership.site_claims import ClaimedElsewhere, NotConfigured, claim_site
from orgs.models import Organization, Site
from orgs.ownership import owner_of
from tests import build

URL = "/v1/orgs/me/sites"


@pytest.fixture
def acme(db):
    return organization("acme", "acme", "docs")


@pytest.fixture
def alice(acme) -> Client:
    return build.api(build.token(build.member(acme)))


def organization(name: str, repo_owner: str = "", repo_name: str = ""):
    """An organization whose integration is for that repository; GitHub is not asked about it."""
    owner = build.organization(name)
    if repo_name:
        installation, _ = Installation.objects.get_or_create(
            github_id=3001, defaults={"account": repo_owner}
        )
        Integration.objects.create(
            organization=owner,
            installation=installation,
            repository_id=2001,
            repo_owner=repo_owner,
            repo_name=repo_name,
        )
    return owner


def claim(client: Client, url: str):
    return client.post(URL, {"url": url}, content_type="application/json")


def test_a_site_is_claimed_and_its_pages_are_mine_at_once(alice, acme):
    answer = claim(alice, "https://acme.github.io/docs/")

    site = Site.objects.get()
    assert answer.status_code == 201
    assert answer.json() == {
        "id": site.id,
        "url": "https://acme.github.io/docs/",
        "status": "verified",
        "repository": "acme/docs",
        "verified_at": answer.json()["verified_at"],
        "lapsed_at": None,
        "opted_out_at": None,
    }
    assert owner_of("https://acme.github.io/docs/install") == acme.pk
    assert owner_of("https://acme.github.io/docs-2/install") is None


def test_what_is_claimed_again_looks_at_nothing_that_waits(alice, acme):
    """However much waits: a member may ask twice a second."""
    with CaptureQueriesContext(connection) as first:
        claim(alice, "https://acme.github.io/docs/")
    with CaptureQueriesContext(connection) as second:
        again = claim(alice, "https://acme.github.io/docs/")

    deliveries = [
        any("integrations_delivery" in each["sql"] for each in looked) for looked in (first, second)
    ]
    assert again.status_code == 200
    assert deliveries == [True, False]


@pytest.mark.parametrize(
    "url",
    [
        "https://acme.github.io/docs",
        "https://ACME.github.io/Docs/",
        "http://acme.github.io/docs/",
        "https://acme.github.io//docs/#top",
        "https://acme.github.io/./docs/",
    ],
)
def test_one_site_has_many_spellings(acme, url):
    site, is_new = claim_site(acme, url)

    assert is_new
    assert site.url == "https://acme.github.io/docs/"


def test_the_site_of_a_user_is_published_by_the_repository_of_that_name(db):
    acme = organization("acme", "acme", "acme.github.io")

    site, _ = claim_site(acme, "https://acme.github.io")

    assert (site.path, site.repository) == ("/", "acme/acme.github.io")
    assert owner_of("https://acme.github.io/any/page") == acme.pk


def test_a_repository_that_publishes_nothing_proves_no_site(alice, acme):
    """Without Pages, what is there comes from the repository of the user's whole site."""
    Integration.objects.update(has_pages=False)
    rest = organization("the docs team", "acme", "acme.github.io")
    claim_site(rest, "https://acme.github.io/")

    answer = claim(alice, "https://acme.github.io/docs/")

    assert (answer.status_code, answer.json()["error"]) == (422, "not_published")
    assert "Turn Pages on" in answer.json()["message"]
    assert owner_of("https://acme.github.io/docs/install") == rest.pk
    assert claim(alice, "https://github.com/acme/docs/").status_code == 201


@pytest.mark.django_db(transaction=True)  # GitHub is asked outside of any
def test_a_claim_ends_and_comes_back_with_pages(code_host):
    owner = build.acme(code_host)
    build.member(owner, github_id=code_host.account("alice").id)
    code_host.grant("alice", "acme/docs", "push")
    site, _ = claim_site(owner, "https://acme.github.io/docs/")
    files, _ = claim_site(owner, f"{code_host.url}/acme/docs/")

    states = []
    for on in (False, False, True):
        code_host.set_pages("acme/docs", on)
        call_command("reconcile_installations")
        site.refresh_from_db()
        files.refresh_from_db()
        states.append((site.lapsed_at is None, files.lapsed_at is None))

    assert states == [(False, True), (False, True), (True, True)]
    [told] = owner.notices.all()
    assert told.kind == "lost"
    assert told.text.startswith(f"{site.url} is no longer published by your repository")


def test_nothing_is_claimed_for_an_organization_whose_last_owner_leaves(alice, monkeypatch):
    read = site_claims.address

    def meanwhile(url: str):
        Organization.objects.update(left_at=timezone.now())
        return read(url)

    monkeypatch.setattr(site_claims, "address", meanwhile)

    answer = claim(alice, "https://acme.github.io/docs/")

    assert (answer.status_code, answer.json()["error"]) == (404, "not_found")
    assert not Site.objects.exists()


def test_claiming_again_changes_nothing(alice):
    first = claim(alice, "https://acme.github.io/docs/")
    second = claim(alice, "https://acme.github.io/docs/")

    assert second.status_code == 200
    assert second.json() == first.json()


def test_a_lapsed_claim_can_be_made_again(acme):
    site, _ = claim_site(acme, "https://acme.github.io/docs/")
    Site.objects.update(lapsed_at=site.verified_at)

    again, is_new = claim_site(acme, "https://acme.github.io/docs/")

    assert (again.pk, is_new, again.status) == (site.pk, True, "verified")


def test_what_is_opted_out_stays_so_when_a_lapsed_claim_is_made_again(acme):
    """The attack: a member who is no owner claims the site again while it has lapsed for a moment."""
    site, _ = claim_site(acme, "https://acme.github.io/docs/")
    site.opt_out(True)
    Site.objects.update(lapsed_at=site.verified_at)

    again, is_new = claim_site(acme, "https://acme.github.io/docs/")

    assert is_new
    assert again.opted_out_at == site.opted_out_at


def test_renames_without_end_leave_so_many_claims_only(alice, acme, monkeypatch):
    """The call for everything that is set up has all of them: 100,000 took 700 MB for four calls."""
    monkeypatch.setattr(site_claims, "MOST", 2)
    first, _ = claim_site(acme, "https://acme.github.io/docs/")
    acme.sites.create(
        host="acme.github.io",
        path="/old/",
        repository="acme/old",
        verified_at=first.verified_at,
        lapsed_at=first.verified_at,
    )
    Integration.objects.update(repo_name="renamed")
    refused = claim(alice, "https://acme.github.io/renamed/")
    assert (refused.status_code, refused.json()["error"]) == (409, "too_many_claims")

    Integration.objects.update(repo_name="old")
    assert (
        claim(alice, "https://acme.github.io/old/").status_code == 201
    )  # it lapsed, and is one of them

    acme.sites.get(path="/docs/").delete()
    Integration.objects.update(repo_name="renamed")
    assert claim(alice, "https://acme.github.io/renamed/").status_code == 201


@pytest.mark.parametrize(
    ("url", "status", "error", "message"),
    [
        (
            "https://acme.github.io/handbook/",
            422,
            "different_repository",
            (
                "That site is published from acme/handbook, but your issues go to acme/docs. "
                "Choose acme/handbook as your repository first."
            ),
        ),
        (
            "https://acme.github.io/",
            422,
            "different_repository",
            (
                "That site is published from acme/acme.github.io, but your issues go to acme/docs. "
                "Choose acme/acme.github.io as your repository first."
            ),
        ),
        (
            "https://initech.github.io/docs/",
            422,
            "different_repository",
            (
                "That site is published from initech/docs, but your issues go to acme/docs. "
                "Choose initech/docs as your repository first."
            ),
        ),
        (
            "https://github.io/",
            422,
            "public_suffix",
            (
                "`github.io` is shared by many owners, so nobody can claim all of it. "
                "Claim your own address, for example https://you.github.io/repo/."
            ),
        ),
        (
            "https://acme.github.io/docs/install",
            400,
            "invalid_site",
            "Sites are claimed as a whole: claim https://acme.github.io/docs/ to cover that page.",
        ),
        (
            "https://acme.github.io/docs/?page=2",
            400,
            "invalid_site",
            "Sites are claimed as a whole: claim https://acme.github.io/docs/ to cover that page.",
        ),
        (
            "https://docs.acme.github.io/docs/",
            400,
            "invalid_site",
            "Sites are claimed as a whole: claim https://acme.github.io/docs/ to cover that page.",
        ),
        (
            "https://acme.github.io/acme.github.io/",
            400,
            "invalid_site",
            "Sites are claimed as a whole: claim https://acme.github.io/ to cover that page.",
        ),
        (
            "https://docs.acme.com/",
            422,
            "use_domain_claim",
            ("`docs.acme.com` is not a site on github.io. Claim it as a domain."),
        ),
        (
            "docs/install.md",
            400,
            "invalid_site",
            "Give the full URL, for example https://you.github.io/repo/.",
        ),
        (
            "ftp://acme.github.io/docs/",
            400,
            "invalid_site",
            "Must begin with https:// or http://, or be a path.",
        ),
    ],
)
def test_what_is_not_mine_to_claim_is_refused_with_what_to_do(alice, url, status, error, message):
    answer = claim(alice, url)

    assert answer.status_code == status
    assert answer.json() == {"error": error, "message": message}
    assert not Site.objects.exists()


def test_without_a_repository_there_is_nothing_to_prove_a_site_with(db):
    alice = build.api(build.token(build.member(organization("acme"))))

    answer = claim(alice, "https://acme.github.io/docs/")

    assert (answer.status_code, answer.json()["error"]) == (409, "not_configured")


def test_a_site_has_one_owner_at_a_time(acme):
    other = organization("initech", "acme", "docs")
    claim_site(other, "https://acme.github.io/docs/")

    with pytest.raises(ClaimedElsewhere, match="Another organization on this Hub has claimed"):
        claim_site(acme, "https://acme.github.io/docs/")
    other.sites.all().delete()
    claim_site(acme, "https://acme.github.io/docs/")

    assert owner_of("https://acme.github.io/docs/x") == acme.pk


@pytest.mark.parametrize("body", [{}, {"url": 7}, {"url": "https://x", "more": 1}, {"url": None}])
def test_a_wrong_shape_is_refused(alice, body):
    answer = alice.post(URL, body, content_type="application/json")

    assert (answer.status_code, answer.json()["error"]) == (400, "validation_error")


@pytest.mark.django_db(transaction=True)
def test_a_claim_is_removed(code_host):
    alice = build.api(build.token(build.member(build.acme(code_host))))
    site = claim(alice, "https://acme.github.io/docs/").json()

    assert alice.delete(f"{URL}/{site['id']}").status_code == 204

    assert not Site.objects.exists()
    assert alice.delete(f"{URL}/{site['id']}").status_code == 404
    assert alice.delete(f"{URL}/nonsense").status_code == 404


def test_bobs_token_cannot_remove_what_is_alices(alice):
    site = claim(alice, "https://acme.github.io/docs/").json()
    bob = build.api(build.token(build.member(organization("initech"), "bob")))

    answer = bob.delete(f"{URL}/{site['id']}")

    assert answer.status_code == 404
    assert Site.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_what_waits_for_a_site_is_held_while_it_is_nobodys(code_host):
    acme = build.organization()
    build.integration(acme, code_host)
    alice = build.api(build.token(build.member(acme)))
    site = claim(alice, "https://acme.github.io/docs/").json()
    code_host.fail("500", path="token")
    build.send(Client(), build.report("https://acme.github.io/docs/x"))

    alice.delete(f"{URL}/{site['id']}")
    held = Delivery.objects.get()
    claim(alice, "https://acme.github.io/docs/")
    released = Delivery.objects.get()

    assert (held.status, held.held_for) == ("held", "ownership")
    assert released.status == "pending"


@pytest.mark.django_db
def test_a_site_without_proof_is_nobodys_until_it_is_proved_again(code_host):
    acme, other = build.acme(code_host), build.organization("other")
    claim_site(acme, "https://acme.github.io/docs/")
    build.integration(other, code_host)
    installation = Installation.objects.get()

    applying.mark_uninstalled(installation)
    while_gone = owner_of("https://acme.github.io/docs/x")
    with pytest.raises(NotConfigured, match="uninstalled"):
        claim_site(acme, "https://acme.github.io/docs/")
    installed_again = Installation.objects.create(github_id=3999, account="acme")
    mine = Integration.objects.filter(organization=other)
    mine.update(installation=installed_again)
    holds.unblock(mine.get())
    site, _ = claim_site(other, "https://acme.github.io/docs/")

    assert while_gone is None
    assert acme.notices.filter(
        text__contains="is published by a repository that the app cannot see now"
    )
    assert site.organization == other
    assert site_claims.revive_published(Integration.objects.get(organization=acme)) == 0
