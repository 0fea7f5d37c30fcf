"""The main job, from the outside: a report in, an issue out."""

import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests
from django.core.management import call_command

from integrations.models import Delivery
from reports.models import Report
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)

PROTOCOL = Path(os.environ.get("HUB_PROTOCOL_DIR", ""), "examples")
needs_the_protocol = pytest.mark.skipif(
    not os.environ.get("HUB_PROTOCOL_DIR"),
    reason="HUB_PROTOCOL_DIR does not name the open protocol",
)


def test_a_report_becomes_an_issue(client, code_host):
    build.acme(code_host)

    answer = build.send(client, build.report(report__details="Use `npm ci` now."))

    [issue] = code_host.issues("acme/docs")
    assert issue.title == "[docs] The install command is gone"
    assert "Use `npm ci` now." in issue.body
    assert "https://docs.acme.com/install" in issue.body
    assert issue.user == "docs-feedback-hub[bot]"
    receipt = client.get(f"/v1/reports/{answer.json()['id']}").json()
    assert receipt["status"] == "forwarded"
    assert receipt["issue_url"] == f"{code_host.url}/acme/docs/issues/{issue.number}"


def test_the_whole_way_with_a_domain(client, code_host, dns):
    owner = build.organization()
    build.integration(owner, code_host)
    alice = build.api(build.token(build.member(owner)))
    domains = "/v1/orgs/me/domains"

    claimed = alice.post(domains, {"domain": "docs.acme.com"}, content_type="application/json")
    record = claimed.json()["dns_record"]
    early = build.send(client, build.report(report__summary="Too early"))
    dns.txt(record["name"], record["value"])
    verified = alice.post(f"{domains}/docs.acme.com/verify")
    build.send(client)

    assert early.status_code == 201
    assert verified.json()["status"] == "verified"
    [issue] = code_host.issues("acme/docs")
    assert issue.title == "[docs] The install command is gone"


def test_a_repeat_is_counted_not_forwarded(client, code_host):
    build.acme(code_host)

    first = build.send(client).json()
    second = build.send(client).json()

    known = {"url": first["issue_url"], "state": "open"}
    assert second == {**first, "is_duplicate": True, "known_issue": known}
    assert len(code_host.issues("acme/docs")) == 1


@pytest.mark.parametrize(
    "doc_url", ["https://docs.nobody.dev/x", "http://localhost:3000/x", "docs/install.md"]
)
def test_a_report_about_nobodys_page_is_kept_not_forwarded(client, code_host, doc_url):
    build.acme(code_host)

    answer = build.send(client, build.report(doc_url))

    assert answer.status_code == 201
    assert client.get(f"/v1/reports/{answer.json()['id']}").json()["status"] == "received"
    assert not code_host.issues("acme/docs")


def test_a_page_that_is_claimed_later_gets_its_one_issue_at_the_next_report(client, code_host):
    owner = build.acme(code_host)
    body = build.report("https://docs.nobody.dev/x")
    first = build.send(client, body).json()
    build.domain(owner, "docs.nobody.dev")

    second = build.send(client, body).json()
    build.send(client, body)

    assert second["id"] == first["id"]
    assert len(code_host.issues("acme/docs")) == 1
    assert Report.objects.get().times_reported == 3


def test_a_matched_report_without_an_integration_is_not_sent_later_by_itself(client, code_host):
    owner = build.organization()
    build.domain(owner, "docs.acme.com")
    build.send(client)
    build.integration(owner, code_host)

    call_command("retry_deliveries", "--now")

    assert not code_host.issues("acme/docs")


def test_the_issue_url_of_a_private_repository_is_nobodys_business(client, code_host):
    code_host.set_private("acme/docs", True)
    build.acme(code_host)

    answer = build.send(client)

    receipt = client.get(f"/v1/reports/{answer.json()['id']}").json()
    assert receipt["status"] == "forwarded"
    assert receipt["issue_url"] is None


@pytest.mark.parametrize("same", [True, False])
def test_fifty_reports_at_once(hub_process, code_host, same):
    build.acme(code_host)
    together = threading.Barrier(50)

    def send(number: int) -> requests.Response:
        body = build.report(report__summary="Gone" if same else f"Gone {number}")
        together.wait()
        return requests.post(f"{hub_process.url}/v1/reports", json=body, timeout=30)

    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(send, range(50)))
    call_command("retry_deliveries", "--now")

    expected = 1 if same else 50
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["id"] for answer in answers}) == expected
    assert sum(not answer.json()["is_duplicate"] for answer in answers) == expected
    assert Report.objects.count() == expected
    assert len(code_host.issues("acme/docs")) == expected
    assert set(Delivery.objects.values_list("status", flat=True)) == {"sent"}


@needs_the_protocol
@pytest.mark.parametrize("name", ["minimum-required", "golden-path", "full"])
def test_the_open_protocols_examples_are_accepted(client, name):
    answer = build.send(
        client, (PROTOCOL / f"{name}.json").read_bytes(), X_Docs_Feedback_Protocol_Version="0"
    )

    assert answer.status_code == 201


@needs_the_protocol
def test_the_open_protocols_wrong_example_is_refused_with_both_faults(client):
    answer = build.send(client, (PROTOCOL / "invalid.json").read_bytes())

    assert answer.status_code == 400
    assert {fault["path"] for fault in answer.json()["details"]} == {"/report/kind", "/priority"}


@needs_the_protocol
def test_what_the_open_protocols_schema_limits_the_hub_limits_alike(client):
    schema = json.loads((PROTOCOL.parent / "report.schema.json").read_text())
    limits = schema["properties"]["report"]["properties"]

    for field in ("summary", "details", "suggested_fix"):
        longest = "a" * limits[field]["maxLength"]
        fits = build.send(client, build.report(**{f"report__{field}": longest}))
        exceeds = build.send(client, build.report(**{f"report__{field}": longest + "a"}))
        assert (fits.status_code, exceeds.status_code) == (201, 400)
