"""`GET /v1/orgs/me`: what an organization has set up."""

import pytest
from django.utils import timezone

from integrations.models import Installation, Integration
from orgs.models import Site
from tests import build

pytestmark = pytest.mark.django_db


@pytest.fixture
def acme():
    return build.organization()


@pytest.fixture
def alice(acme):
    return build.api(build.token(build.member(acme)))


def set_up(organization, **changes) -> Integration:
    fields = {"repository_id": 7, "repo_owner": "acme", "repo_name": "docs"} | changes
    installation = Installation.objects.create(
        github_id=organization.memberships.get().github_id, account="acme"
    )
    return Integration.objects.create(
        organization=organization, installation=installation, **fields
    )


def test_a_new_organization_has_nothing_set_up(alice, acme):
    told = alice.get("/v1/orgs/me").json()

    assert told.pop("caller")["login"] == "alice"
    assert told == {
        "id": acme.id,
        "name": "acme",
        "integration": None,
        "domains": [],
        "sites": [],
    }


def test_the_integration_is_told_as_it_is(alice, acme):
    choice = {"labels": {"*": ["docs"]}, "assignees": ["alice"], "issue_type": "Bug"}
    problem = {"problem": "acme/docs is archived.", "not_applied": "assignee alice"}
    set_up(acme, issue_template="{summary}", **problem, **choice)

    assert alice.get("/v1/orgs/me").json()["integration"] == {
        "provider": "github",
        "status": "configured",
        "account": "acme",
        "repo_owner": "acme",
        "repo_name": "docs",
        "issue_template": "{summary}",
        "problem": "acme/docs is archived.",
        "alerts": False,
        "likeness": "hint",
        "when_reported_again": "comment",
        "shows_known": False,
        "labels": {"*": ["docs"]},
        "assignees": ["alice"],
        "issue_type": "Bug",
        "not_applied": "GitHub did not take the assignee alice. Whom you assign needs access to acme/docs.",
    }


def test_a_pending_domain_comes_with_its_record_and_a_verified_one_without(alice, acme):
    build.domain(acme, "acme.com")
    pending = build.domain(acme, "docs.acme.org", verified=False)

    verified, waiting = alice.get("/v1/orgs/me").json()["domains"]

    assert (verified["domain"], verified["status"], verified["dns_record"]) == (
        "acme.com",
        "verified",
        None,
    )
    assert waiting["status"] == "pending"
    assert waiting["dns_record"] == {
        "name": "_hub-challenge.docs.acme.org",
        "type": "TXT",
        "value": f"hub-verify={pending.challenge}",
    }


def test_a_lapsed_site_says_since_when(alice, acme):
    site = build.site(acme, "acme.github.io", "/docs/")
    Site.objects.update(lapsed_at=timezone.now())

    [shown] = alice.get("/v1/orgs/me").json()["sites"]

    assert shown["id"] == site.id
    assert shown["url"] == "https://acme.github.io/docs/"
    assert (shown["status"], shown["repository"]) == ("lapsed", "acme/docs")
    assert shown["lapsed_at"]


def test_it_costs_the_same_however_much_there_is(alice, acme, django_assert_num_queries):
    set_up(acme)
    for number in range(100):
        build.domain(acme, f"docs{number}.acme.com")
        build.site(acme, f"acme{number}.github.io")
    alice.get("/v1/orgs/me")  # which notes that the token is used

    with django_assert_num_queries(5):
        alice.get("/v1/orgs/me")


def test_nobody_sees_what_is_somebody_elses(acme):
    build.domain(acme, "acme.com")
    set_up_by = build.member(acme)
    set_up(acme)
    bob = build.api(build.token(build.member(build.organization("bobs"), "bob")))

    seen = bob.get("/v1/orgs/me").json()

    assert set_up_by.membership.organization == acme
    assert (seen["name"], seen["integration"], seen["domains"]) == ("bobs", None, [])


@pytest.mark.parametrize("path", ["/v1/orgs/me", "/v1/orgs/me/reports"])
def test_without_a_token_it_is_401(client, path):
    answer = client.get(path)

    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Bearer"
    assert "Access-Control-Allow-Origin" not in answer


@pytest.mark.parametrize("path", ["/v1/orgs/me", "/v1/orgs/me/reports"])
def test_a_session_is_no_token(client, acme, path):
    client.force_login(build.member(acme))

    assert client.get(path).status_code == 401
