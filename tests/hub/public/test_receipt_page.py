"""`/r/<id>/`: what a stranger may know about a report."""

from datetime import timedelta

import pytest
from django.utils import timezone

from integrations.models import Attempt, Delivery, Integration
from reports.erasing import erase
from reports.models import Report
from tests import build
from tests.hub.public.test_report_page import text_of

pytestmark = pytest.mark.django_db

HTML = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
SUMMARY = "The install command is gone"


def received(**columns) -> Report:
    now = timezone.now()
    columns = {"received_at": now, "last_received_at": now} | columns
    report = Report(
        doc_url="https://docs.acme.com/install",
        canonical_url="https://docs.acme.com/install",
        kind="outdated",
        summary=SUMMARY,
        agent_name="agent-x",
        **columns,
    )
    return Report.objects.bulk_create([report])[0]  # without the signal that would send it


@pytest.fixture
def acme(code_host):
    owner = build.acme(code_host)
    Integration.objects.update(repository_private=False)
    return owner


def delivered(report: Report, status: str = "sent", *, private: bool = False, **columns) -> Report:
    integration = Integration.objects.get()
    if status == "sent":
        columns = {
            "repository_id": 1,
            "repository": "acme/docs",
            "repository_private": private,
            "issue_number": 418,
            "issue_url": "https://github.com/acme/docs/issues/418",
        } | columns
    delivery = Delivery.objects.create(
        report=report, integration=integration, status=status, **columns
    )
    Attempt.objects.create(
        delivery=delivery,
        number=1,
        started_at=report.received_at,
        ended_at=report.received_at + timedelta(seconds=33),
        outcome="sent" if status == "sent" else "refused",
        reason="GitHub said no to acme/docs",
    )
    return report


def page_of(client, report: Report):
    return client.get(f"/r/{report.id}/", headers=HTML)


def said(client, report: Report) -> str:
    answer = page_of(client, report)
    body = answer.content.decode()
    assert answer.status_code == 200
    assert "gone" not in body
    assert "docs.acme.com" not in body
    assert "agent-x" not in body
    return text_of(answer)


def test_an_issue_in_a_public_repository_is_linked_with_its_state(client, acme):
    report = delivered(received(organization=acme, times_reported=3))

    answer = page_of(client, report)

    assert (
        "Issue #418 is open The report reached the maintainers of the page in 33 seconds."
        in text_of(answer)
    )
    assert "#418 in acme/docs, open" in text_of(answer)
    assert "and 2 times more since" in text_of(answer)
    assert 'href="https://github.com/acme/docs/issues/418"' in answer.content.decode()


@pytest.mark.parametrize(
    ("state", "title"), [("closed", "Issue #418 is closed"), ("deleted", "Issue #418 was deleted")]
)
def test_the_state_of_the_issue_follows_github(client, acme, state, title):
    report = delivered(received(organization=acme), issue_state=state)

    assert title in said(client, report)
    assert client.get(f"/v1/reports/{report.id}").json()["issue_state"] == state


def test_nothing_names_a_private_repository(client, acme):
    report = delivered(received(organization=acme), private=True)

    body = page_of(client, report).content.decode()
    answer = client.get(f"/v1/reports/{report.id}").json()

    assert "Delivered" in said(client, report)
    assert "418" not in body
    assert "acme" not in body
    assert (answer["issue_url"], answer["issue_state"]) == (None, None)


def test_a_page_that_nobody_has_claimed_asks_for_its_owner(client):
    report = received()

    answer = page_of(client, report)

    assert "Nobody has claimed this page on this Hub." in text_of(answer)
    assert "Is this page yours?" in text_of(answer)
    assert "/login/?next=/settings/claims/new/" in answer.content.decode()


def test_a_page_that_was_claimed_since_says_to_send_it_again(client, acme):
    assert "Send it again, and its owner gets it." in said(client, received())


def test_an_owner_who_wants_no_reports_gets_none_again(client, acme):
    acme.domains.update(opted_out_at=timezone.now())

    assert "The owner of this page does not accept reports" in said(client, received())


WAITING = [
    {"status": "pending"},
    {"status": "sending", "lease_until": "2026-01-01T00:00Z"},
    *({"status": "held", "held_for": c} for c in Delivery.Cause if c != Delivery.Cause.DISCARDED),
]
KEPT = [None, {"status": "failed"}, {"status": "held", "held_for": "discarded"}]


def seen(client, acme, columns: dict | None) -> str:
    """What a receipt says, without what differs from one report to the next."""
    at = timezone.now().replace(microsecond=0)
    report = received(organization=acme, received_at=at)
    if columns:
        delivered(report, **columns, reason="Nobody may know this.")
    return said(client, report).replace(report.id, "").replace(f"{at:%H:%M:%S}", "")


def test_why_a_report_waits_is_nobodys_business(client, acme):
    pages = {seen(client, acme, columns) for columns in WAITING}

    assert len(pages) == 1
    assert "On its way" in pages.pop()


def test_a_failed_a_discarded_and_an_undelivered_report_look_alike(client, acme):
    pages = {seen(client, acme, columns) for columns in KEPT}

    assert len(pages) == 1
    assert "It has not become an issue." in pages.pop()


def test_a_withheld_report_looks_like_any_other(client, acme):
    report = received(organization=acme, withheld_for=1)
    delivered(report, status="held", held_for="rights")

    assert "On its way" in said(client, report)


def test_an_erased_report_says_so(client, acme):
    report = received(organization=acme)
    erase(report)

    assert "Erased" in said(client, report)


def test_a_time_that_is_not_known_any_more_is_left_out(client, acme):
    report = delivered(received(organization=acme))
    Attempt.objects.all().delete()

    assert "reached the maintainers of the page. " in said(client, report)


def test_search_engines_and_caches_leave_it_alone(client):
    answer = page_of(client, received())

    assert answer["X-Robots-Tag"] == "noindex"
    assert '<meta name="robots" content="noindex">' in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]


@pytest.mark.parametrize(
    ("accept", "is_page"),
    [
        (HTML["Accept"], True),
        ("text/html", True),
        ("text/html;q=0.9, application/json;q=0.8", True),
        ("text/html;q=0.5, application/json", False),
        ("application/json", False),
        ("application/json, text/html;q=0.9", False),
        ("*/*", False),
        ("text/html;q=0, */*", False),
        ("text/plain", False),
        ("", False),
        ("text/html;q=x;;,,", True),
        (None, False),
    ],
)
def test_people_get_a_page_and_programs_the_json(client, accept, is_page):
    report = received()

    answer = client.get(f"/r/{report.id}/", headers={} if accept is None else {"Accept": accept})

    assert "Accept" in answer["Vary"]
    if is_page:
        assert answer.status_code == 200
        assert answer["Content-Type"].startswith("text/html")
    else:
        assert answer.status_code == 200
        assert answer.json() == client.get(f"/v1/reports/{report.id}").json()
        assert "Access-Control-Allow-Origin" not in answer


def test_an_id_that_is_none_is_said_to_programs_as_json(client):
    answer = client.get("/r/x/")

    assert answer.status_code == 404
    assert answer.json()["error"] == "not_found"


@pytest.mark.parametrize("report_id", ["x", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "%00", "a" * 500])
def test_an_id_that_is_none_is_not_found(client, report_id):
    answer = client.get(f"/r/{report_id}/", headers=HTML)

    assert answer.status_code == 404
    assert "There is no report with this id." in text_of(answer)
    assert 'href="/"' in answer.content.decode()


def test_a_receipt_costs_a_few_queries(client, acme, django_assert_num_queries):
    report = delivered(received(organization=acme))

    with django_assert_num_queries(4):
        page_of(client, report)


def test_one_address_opens_so_many_receipts_and_programs_go_on(client, monkeypatch):
    monkeypatch.setattr("core.page_rates.RATE", "2/minute")
    path = f"/r/{received().id}/"

    answers = [client.get(path, headers=HTML) for _ in range(3)]
    as_json = client.get(path)
    other = client.get(path, headers=HTML, REMOTE_ADDR="192.0.2.2")

    assert [each.status_code for each in answers] == [200, 200, 429]
    assert "Too many receipts from your address." in text_of(answers[2])
    assert (as_json.status_code, other.status_code) == (200, 200)
