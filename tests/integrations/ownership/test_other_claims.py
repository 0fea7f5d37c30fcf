"""What another organization has claimed stays its own while the proof is missing for a moment."""

from collections.abc import Callable

import pytest
from django.core.management import call_command
from django.test import Client

from integrations.github_sync import applying
from integrations.models import Installation, Integration
from integrations.ownership import site_claims
from orgs.models import Organization, Site
from orgs.ownership import owner_of
from tests import build
from tests.integrations.github_sync.losing import take_out

pytestmark = pytest.mark.django_db(transaction=True)

SITE = "https://acme.github.io/docs/"
LAPSED = "Its claim has lapsed for now, but comes back by itself"


@pytest.fixture
def acme(code_host) -> Organization:
    """alice's organization, which has claimed the site of acme/docs, and the repository."""
    owner = set_up(code_host, "alice")
    for url in (SITE, f"{code_host.url}/acme/docs/"):
        site_claims.claim_site(owner, url)
    return owner


@pytest.fixture
def other(acme, code_host) -> Organization:
    """bob's organization: he may push to acme/docs, and does not administer it."""
    code_host.grant("bob", "acme/docs", "push")
    return set_up(code_host, "bob")


@pytest.fixture
def bob(other) -> Client:
    return build.api(build.token(other.memberships.get().user))


def set_up(code_host, login: str) -> Organization:
    owner = build.organization(login)
    build.member(owner, login, github_id=code_host.account(login).id)
    build.integration(owner, code_host)
    return owner


def choose(client: Client) -> None:
    chosen = {"repo_owner": "acme", "repo_name": "docs"}
    answer = client.post("/v1/orgs/me/integrations/github", chosen, content_type="application/json")
    assert answer.status_code == 200


def claim(client: Client, url: str):
    return client.post("/v1/orgs/me/sites", {"url": url}, content_type="application/json")


def reconcile() -> None:
    call_command("reconcile_installations")


def pages_off(code_host) -> None:
    code_host.set_pages("acme/docs", False)


def pages_on(code_host) -> None:
    code_host.set_pages("acme/docs", True)


def renamed(code_host) -> None:
    code_host.rename("acme/docs", "handbook")


def renamed_back(code_host) -> None:
    code_host.rename("acme/handbook", "docs")


def put_in(code_host) -> None:
    code_host.add_to_installation(build.installed(code_host), "acme/docs")


def transferred(code_host) -> None:
    take_out(code_host)
    code_host.transfer("acme/docs", "bob")


def transferred_back(code_host) -> None:
    code_host.transfer("bob/docs", "acme")
    put_in(code_host)


@pytest.mark.parametrize(
    ("lose", "regain", "of_repository"),
    [
        (pages_off, pages_on, False),
        (renamed, renamed_back, False),
        (take_out, put_in, False),
        (take_out, put_in, True),
        (transferred, transferred_back, True),
    ],
)
def test_a_claim_that_lapsed_for_a_moment_is_still_its_own(
    acme, bob, code_host, lose: Callable, regain: Callable, of_repository
):
    url = f"{code_host.url}/acme/docs/" if of_repository else SITE
    lose(code_host)
    reconcile()
    lapsed = Site.objects.get(organization=acme, repository_id__isnull=not of_repository)
    regain(code_host)
    choose(bob)

    refused = claim(bob, url)
    reconcile()

    assert lapsed.status == "lapsed"
    assert (refused.status_code, refused.json()["error"]) == (409, "claimed_elsewhere")
    assert LAPSED in refused.json()["message"]
    assert owner_of(url) == acme.pk


def test_it_is_still_its_own_in_another_case(acme, bob, code_host):
    """The repository's name has another case now, of which acme has not heard yet."""
    code_host.rename("acme/docs", "Docs")
    choose(bob)

    assert claim(bob, "https://acme.github.io/Docs/").status_code == 409

    reconcile()
    assert owner_of("https://acme.github.io/Docs/x") == acme.pk


def lapse(code_host) -> None:
    """The site's claim lapses, and could be made again now."""
    pages_off(code_host)
    reconcile()
    pages_on(code_host)


def test_an_admin_takes_it_over_while_no_member_may_push(acme, other, bob, code_host):
    lapse(code_host)
    code_host.remove_member("acme", "alice")
    code_host.add_member("acme", "bob", role="admin")
    choose(bob)

    assert claim(bob, SITE).status_code == 201

    reconcile()
    assert owner_of(SITE) == other.pk
    assert acme.notices.filter(text__contains="now belongs to another organization").exists()


def test_what_was_taken_over_does_not_go_back_while_it_has_lapsed_for_a_moment(
    acme, other, bob, code_host
):
    code_host.remove_member("acme", "alice")
    code_host.add_member("acme", "bob", role="admin")
    claim(bob, SITE)
    code_host.grant("alice", "acme/docs", "push")
    lapse(code_host)

    alice = build.api(build.token(acme.memberships.get().user))
    choose(alice)  # what is published now comes back to who had it
    refused = claim(alice, SITE)
    reconcile()

    assert refused.status_code == 409
    assert owner_of(SITE) == other.pk
    assert claim(bob, SITE).status_code == 200


def chooses_another(acme, code_host) -> None:
    Integration.objects.of(acme).update(repository_id=4711)


def loses_push_access(acme, code_host) -> None:
    Integration.objects.of(acme).update(rights_lost_at=acme.created_at)


def is_removed(acme, code_host) -> None:
    acme.sites.all().delete()


def is_uninstalled(acme, code_host) -> None:
    """And installed again: as another installation."""
    applying.mark_uninstalled(Installation.objects.get())
    installed = Installation.objects.create(github_id=3999, account="acme")
    others = Integration.objects.exclude(organization=acme)
    others.update(installation=installed, problem="", has_pages=True)


@pytest.mark.parametrize("ends", [chooses_another, loses_push_access, is_removed, is_uninstalled])
def test_what_does_not_come_back_by_itself_is_free(acme, other, code_host, ends: Callable):
    lapse(code_host)
    Integration.objects.of(other).update(has_pages=True)
    ends(acme, code_host)

    site, is_new = site_claims.claim_site(other, SITE)

    assert is_new
    assert site.organization == other
