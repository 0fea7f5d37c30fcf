"""Trying it: one real report about a page of one's own."""

import pytest
from django.test import Client

from core import client_address
from integrations.models import Delivery
from integrations.setup.trial_report import AGENT
from reports.models import Report
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)

URL = "/v1/orgs/me/test-report"


def alice(organization) -> Client:
    return build.api(build.token(build.member(organization)))


def test_a_test_report_is_a_report_like_any_other(code_host):
    acme = build.acme(code_host, "docs.acme.com")

    answer = alice(acme).post(URL)

    [issue] = code_host.issues("acme/docs")
    report = Report.objects.get()
    assert answer.status_code == 201
    assert answer.json() == {
        "id": report.id,
        "is_duplicate": False,
        "received_at": answer.json()["received_at"],
        "protocol_version": "0",
        "server_capabilities": [],
        "receipt_url": f"https://hub.example/r/{report.id}/",
        "notices": [],
        "claimed": True,
        "status": "forwarded",
        "issue_url": f"{code_host.url}/acme/docs/issues/{issue.number}",
        "known_issue": None,
        "answer": None,
    }
    assert (report.kind, report.doc_url) == ("other", "https://docs.acme.com/")
    assert issue.title == "[docs] Test report: this is how reports arrive"


def test_its_own_page_shows_no_report_that_a_stranger_sends_in_its_name(code_host, client):
    acme = build.acme(code_host)
    client.force_login(build.member(acme))
    stranger = build.send(client, build.report(agent__name=AGENT)).json()["id"]
    client.post("/settings/test/")
    own = Report.objects.exclude(pk=stranger).get()

    answers = [client.get(f"/settings/test/{each}/").status_code for each in (own.id, stranger)]

    assert own.agent_name == AGENT
    assert answers == [200, 404]


def test_every_one_is_an_issue_of_its_own(code_host):
    client = alice(build.acme(code_host))

    answers = [client.post(URL).json() for _ in range(2)]

    assert [each["is_duplicate"] for each in answers] == [False, False]
    assert len(code_host.issues("acme/docs")) == 2


def test_it_is_about_a_claimed_site_too(code_host):
    acme = build.organization()
    build.integration(acme, code_host)
    build.site(acme, "acme.github.io", "/docs/")

    alice(acme).post(URL)

    assert Report.objects.get().doc_url == "https://acme.github.io/docs/"


def test_in_a_private_repository_its_maintainer_is_told_the_issue(code_host):
    code_host.set_private("acme/docs", True)
    client = alice(build.acme(code_host))

    assert client.post(URL).json()["issue_url"]


def test_where_github_is_away_the_issue_comes_later(code_host):
    client = alice(build.acme(code_host))
    code_host.fail("500", path="token")

    answer = client.post(URL)

    assert (answer.status_code, answer.json()["issue_url"]) == (201, None)


def test_without_a_repository_or_a_claim_there_is_nothing_to_try(code_host):
    acme = build.organization()
    client = alice(acme)

    first = client.post(URL)
    build.integration(acme, code_host)
    build.domain(acme, "docs.acme.com", verified=False)
    second = client.post(URL)

    assert (first.status_code, first.json()["error"]) == (409, "not_configured")
    assert (second.status_code, second.json()["error"]) == (409, "no_claim")
    assert not Report.objects.exists()


def test_all_owners_together_have_the_share_of_one_network(client, code_host, settings):
    settings.HUB_ISSUE_RATE = "8/hour"
    acme = build.acme(code_host, "docs.acme.com")
    for number in range(4):
        owner = build.api(build.token(build.member(acme, f"owner{number}")))
        assert owner.post(URL).status_code == 201

    honest = build.send(client, build.report("https://docs.acme.com/install"))

    assert honest.json()["status"] == "forwarded"
    tests = Delivery.objects.exclude(report=honest.json()["id"])
    assert sorted(tests.values_list("status", "turn")) == [
        ("pending", 2),
        ("pending", 3),
        ("sent", 0),
        ("sent", 1),
    ]


def test_two_organizations_have_two_shares():
    shares = [client_address.source_of_organization(name) for name in ("one", "two", "one")]

    assert shares[0] == shares[2] != shares[1]
