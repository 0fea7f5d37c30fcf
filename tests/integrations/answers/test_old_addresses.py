"""After a rename, links to issues have the present name: somebody else may have taken the one before."""

import re

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from integrations.models import Delivery, Integration
from tests import build
from tests.integrations.answers.world import join, report_of

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = "https://docs.acme.com/install"
FIRST = "The flag --yes is gone"


@pytest.fixture
def lead(client, code_host) -> Delivery:
    """The delivery of a report that is the first issue of a public repository."""
    build.acme(code_host)
    code_host.set_private("acme/docs", False)
    call_command("reconcile_installations")
    Integration.objects.update(shows_known=True)
    return report_of(client, FIRST)


def rename_account(code_host) -> str:
    code_host.rename_account("acme", "initech")
    code_host.add_organization("acme")
    return "initech/docs"


def rename_repository(code_host) -> str:
    code_host.rename("acme/docs", "handbook")
    return "acme/handbook"


@pytest.fixture(params=[rename_account, rename_repository])
def issue(request, code_host, lead) -> str:
    """The address of that issue since its repository was renamed, and somebody else has the old one."""
    name = request.param(code_host)
    code_host.add_repository("acme", "docs", private=False)
    code_host.create_issue("acme/docs", title="Run this to fix it", user="charlie")
    for _ in range(2):  # the account first, then its repositories
        call_command("reconcile_installations")
    return f"{code_host.url}/{name}/issues/1"


def links_in(page: str) -> set[str]:
    return {each for each in re.findall(r'(?:href|value)="([^"]+)"', page) if "/issues/" in each}


def test_strangers_are_sent_to_the_present_address(client, lead, issue):
    receipt = client.get(f"/v1/reports/{lead.report_id}").json()
    repeat = build.send(client, build.report(report__summary=FIRST)).json()
    known = client.get("/v1/pages", {"url": PAGE}).json()["problems"]
    page = client.get(f"/r/{lead.report_id}/", headers={"Accept": "text/html"}).content.decode()

    assert receipt["issue_url"] == repeat["issue_url"] == issue
    assert repeat["known_issue"] == {"url": issue, "state": "open"}
    assert [each["issue_url"] for each in known] == [issue]
    assert links_in(page) == {issue}
    assert "acme/docs" not in page


def test_a_report_that_has_joined_the_issue_is_sent_there_too(client, lead, issue):
    other = report_of(client, "There is no flag --yes")
    join(other, lead)

    receipt = client.get(f"/v1/reports/{other.report_id}").json()
    page = client.get(f"/r/{other.report_id}/", headers={"Accept": "text/html"}).content.decode()

    assert receipt["issue_url"] == receipt["known_issue"]["url"] == issue
    assert links_in(page) == {issue}


def test_members_are_sent_to_the_present_address(client, lead, issue):
    other = report_of(client, "There is no flag --yes")
    join(other, lead)
    member = build.member(lead.integration.organization)
    api, browser = build.api(build.token(member)), Client()
    browser.force_login(member)

    listed = api.get("/v1/orgs/me/reports").json()["reports"]
    whole = api.get(f"/v1/orgs/me/reports/{other.report_id}").json()["issue"]
    table = b"".join(browser.get("/settings/reports/reports.csv")).decode()

    assert [each["delivery"]["issue_url"] for each in listed] == [issue, issue]
    assert (whole["url"], whole["number"]) == (issue, 1)
    assert issue.endswith(f"/{whole['repository']}/issues/1")
    assert table.count(issue) == 2
    for path in ("", f"{lead.report_id}/", f"{other.report_id}/", f"{lead.report_id}/split-all/"):
        assert links_in(browser.get(f"/settings/reports/{path}").content.decode()) == {issue}, path


def test_the_address_stays_where_issues_went_before(client, lead):
    Integration.objects.update(repository_id=5, repo_name="other")

    receipt = client.get(f"/v1/reports/{lead.report_id}").json()

    assert receipt["issue_url"] == lead.issue_url


def test_a_list_asks_for_no_name_of_its_own_for_each_report(client, lead):
    api = build.api(build.token(build.member(lead.integration.organization)))

    def statements() -> int:
        with CaptureQueriesContext(connection) as queries:
            api.get("/v1/orgs/me/reports")
        return len(queries)

    statements()  # the first use of a token is noted
    few = statements()
    for number in range(7):
        join(report_of(client, f"The flag --no-{number} is gone"), lead)

    assert statements() == few
