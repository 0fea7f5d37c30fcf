"""What `POST /v1/reports` says about what has become of the report."""

import pytest
from django.db import InterfaceError, OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from integrations.models import Delivery, Integration
from integrations.ownership import site_claims
from orgs.models import Domain
from reports import erasing
from reports.models import Report
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)

NOTHING = ("received", False, None)
CLAIMED = ("received", True, None)
WAITS = ("forwarding", True, None)


def told(client: Client, summary: str = "The install command is gone") -> tuple:
    """What the answer says: its status, whether the page is claimed, and the issue."""
    answer = build.send(client, build.report(report__summary=summary))
    assert answer.status_code == 201
    return tuple(answer.json()[name] for name in ("status", "claimed", "issue_url"))


def issue_of(code_host, number: int = 1) -> tuple:
    return ("forwarded", True, f"{code_host.url}/acme/docs/issues/{number}")


def test_a_page_that_is_nobodys(client):
    assert told(client) == NOTHING
    assert told(client) == NOTHING  # again


def test_an_issue_that_was_opened_at_once_is_in_the_first_answer(client, code_host):
    build.acme(code_host)

    assert told(client) == issue_of(code_host)
    assert told(client) == issue_of(code_host)  # a duplicate


def test_another_account_of_it_says_where_the_first_one_is(client, code_host):
    build.acme(code_host)
    first = build.send(client, Idempotency_Key="1").json()

    again = build.send(
        client, build.report(report__details="In other words"), Idempotency_Key="1"
    ).json()

    known = {"url": first["issue_url"], "state": "open"}
    assert again == {**first, "is_duplicate": True, "known_issue": known}


def test_what_waits_for_its_turn_has_no_issue_yet(client, code_host, settings):
    settings.HUB_FORWARDING = "queue"
    build.acme(code_host)

    assert told(client) == WAITS


def test_a_claimed_page_without_a_repository_is_received(client):
    build.domain(build.organization(), "docs.acme.com")

    assert told(client) == CLAIMED


def test_a_report_from_before_the_claim_is_sent_when_it_is_repeated(client, code_host):
    assert told(client) == NOTHING
    build.acme(code_host)

    assert told(client) == issue_of(code_host)


def test_a_duplicate_about_a_page_that_is_nobodys_any_more_says_where_the_issue_is(
    client, code_host
):
    build.acme(code_host)
    told(client)
    Domain.objects.all().delete()

    status, _, url = issue_of(code_host)
    assert told(client) == (status, False, url)


def test_an_issue_in_a_private_repository_is_not_named(client, code_host):
    build.acme(code_host)
    Integration.objects.update(repository_private=True)

    assert told(client) == ("forwarded", True, None)
    assert told(client) == ("forwarded", True, None)


@pytest.mark.parametrize(
    ("state", "answer"),
    [
        ({"status": "failed"}, CLAIMED),
        ({"status": "held", "held_for": "discarded"}, CLAIMED),
        ({"status": "held", "held_for": "rights"}, WAITS),
        ({"status": "held", "held_for": "operator"}, WAITS),
        ({"status": "held", "held_for": "pause"}, WAITS),
        ({"status": "pending"}, WAITS),
    ],
)
def test_strangers_learn_no_cause(client, code_host, settings, state, answer):
    settings.HUB_FORWARDING = "queue"
    build.acme(code_host)
    told(client)
    Delivery.objects.update(**state)

    assert told(client) == answer


def test_a_withheld_report_waits_like_any_other(client, code_host):
    build.acme(code_host)
    Integration.objects.update(paused_at="2026-05-17T12:00:00Z")
    told(client)
    Report.objects.update(withheld_for=Integration.objects.get().repository_id)

    assert told(client) == WAITS


def test_an_erased_report_is_not_repeated(client, code_host):
    build.acme(code_host, "docs.acme.com")
    first = build.send(client).json()
    erasing.erase(Report.objects.get())

    again = build.send(client).json()

    assert (again["is_duplicate"], again["id"] != first["id"]) == (False, True)
    assert again["issue_url"] != first["issue_url"]


def test_the_answer_and_the_receipt_say_the_same(client, code_host):
    build.acme(code_host)
    sent = build.send(client).json()

    receipt = client.get(f"/v1/reports/{sent['id']}").json()

    assert (sent["status"], sent["issue_url"]) == (receipt["status"], receipt["issue_url"])


@pytest.mark.parametrize("error", [OperationalError("gone"), InterfaceError()])
def test_a_stored_report_is_accepted_though_its_outcome_cannot_be_read(
    client, code_host, monkeypatch, caplog, error
):
    def gone(report_id):
        raise error

    build.acme(code_host)
    monkeypatch.setattr("integrations.models.delivery.OUTCOME.first", gone)

    assert told(client) == CLAIMED
    assert len(code_host.issues("acme/docs")) == 1
    assert "Cannot say how far" in caplog.text


def test_of_a_repositorys_file_nothing_is_said_while_its_outcome_cannot_be_read(
    client, code_host, monkeypatch
):
    file = f"{code_host.url}/acme/docs/blob/main/docs/install.md"
    site_claims.claim_site(build.acme(code_host), f"{code_host.url}/acme/docs/")
    assert build.send(client, build.report(file)).json()["claimed"] is True

    def gone(report_id):
        raise OperationalError("gone")

    monkeypatch.setattr("integrations.models.delivery.OUTCOME.first", gone)

    again = build.send(client, build.report(file)).json()

    assert (again["is_duplicate"], again["claimed"], again["status"]) == (True, False, "received")


def test_a_repositorys_file_costs_no_statement_more_than_another_page(client, code_host):
    site_claims.claim_site(build.acme(code_host), f"{code_host.url}/acme/docs/")
    pages = ["https://docs.acme.com/install", f"{code_host.url}/acme/docs/blob/main/install.md"]
    for page in pages * 2:
        build.send(client, build.report(page))

    costs = []
    for page in pages:
        with CaptureQueriesContext(connection) as queries:
            assert build.send(client, build.report(page)).json()["status"] == "forwarded"
        costs.append(len(queries))

    assert costs[0] == costs[1]
