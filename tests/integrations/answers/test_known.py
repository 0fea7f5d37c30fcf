"""`GET /v1/pages?url=`: the open known problems of a page."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from core import rates
from core.prepared import PreparedStatement
from integrations.answers import known
from integrations.delivery import operator_holds, pacing
from integrations.models import Delivery, Hold, Integration
from integrations.ownership import site_claims
from orgs.models import Domain, User
from reports import erasing
from reports.models import Report
from tests import build
from tests.integrations.answers.world import LINK, TEXT, answered, join, report_of
from tests.plans import plan_of_sql, whole_tables_in

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = "https://docs.acme.com/install"


@pytest.fixture
def acme(code_host):
    owner = build.acme(code_host)
    Integration.objects.update(shows_known=True)
    return owner


@pytest.fixture
def lead(client, acme) -> Delivery:
    return report_of(client, "The flag --yes is gone")


def ask(client, url: str = PAGE, **headers):
    return client.get("/v1/pages", {"url": url}, headers=headers)


def problems(client, url: str = PAGE) -> list[dict]:
    answer = ask(client, url)
    assert answer.status_code == 200
    return answer.json()["problems"]


def is_hidden(client, url: str = PAGE) -> bool:
    answer = ask(client, url)
    assert answer.status_code in (200, 404)
    if answer.status_code == 404:
        assert answer.json() == {"error": "not_found", "message": known.NotShown.default_detail}
    return answer.status_code == 404


def test_a_problem_is_shown_with_its_issue_its_counts_and_its_answer(client, lead):
    build.send(client, build.report(report__summary="The flag --yes is gone"))
    other = report_of(client, "There is no flag --yes", agent__name="agent-y")
    join(other, lead)
    Report.objects.filter(pk=other.report_id).update(times_reported=3)
    answered(lead, link=LINK)

    answer = ask(client, f"{PAGE}/?utm_source=x#top")

    first, last = (Report.objects.get(pk=each.report_id) for each in (lead, other))
    assert answer.json() == {
        "url": PAGE,
        "problems": [
            {
                "issue_url": lead.issue_url,
                "title": lead.title,
                "kind": "outdated",
                "times_reported": 5,
                "first_reported_at": f"{first.received_at:%Y-%m-%dT%H:%M:%S.%f}Z",
                "last_reported_at": f"{last.last_received_at:%Y-%m-%dT%H:%M:%S.%f}Z",
                "answer": {"text": TEXT, "link": LINK},
            }
        ],
    }
    assert answer["Access-Control-Allow-Origin"] == "*"
    assert answer["Cache-Control"] == "public, max-age=60"


def test_only_open_issues_that_everybody_may_see_are_shown(client, lead):
    states = [{"issue_state": "closed"}, {"issue_state": "deleted"}, {"repository_private": True}]
    for number, state in enumerate(states):
        other = report_of(client, f"Problem {number}")
        Delivery.objects.filter(pk=other.pk).update(**state)
    waiting = report_of(client, "It waits")
    Delivery.objects.filter(pk=waiting.pk).update(status="pending", issue_url="", issue_number=None)
    report_of(client, "Another page", doc_url="https://docs.acme.com/other")
    withheld = report_of(client, "Withheld")
    Report.objects.filter(pk=withheld.report_id).update(withheld_for=7)

    assert [each["issue_url"] for each in problems(client)] == [lead.issue_url]


def test_what_was_reported_last_comes_first_and_there_is_an_end(client, lead, monkeypatch):
    others = [report_of(client, f"Problem {number}") for number in range(3)]
    again = report_of(client, "There is no flag --yes")
    join(again, lead)

    assert [each["issue_url"] for each in problems(client)] == [
        each.issue_url for each in (lead, *reversed(others))
    ]


@pytest.mark.parametrize(
    ("kind", "value"),
    [("page", PAGE), ("agent", "agent-x"), ("source", ""), ("organization", "")],
)
def test_what_an_operator_holds_is_not_shown_as_long(client, lead, kind, value):
    root = User.objects.create(username="root", is_staff=True, is_superuser=True)
    own = lead.report.organization_id if kind == "organization" else lead.source
    held = Hold(kind=kind, value=value or own, reason="Spam.")

    operator_holds.make(held, by=root)
    assert problems(client) == []
    operator_holds.release(held)

    assert len(problems(client)) == 1


def test_what_an_operator_holds_leaves_the_room_to_others(client, lead):
    for number in range(known.MOST):
        report, delivery = Report.objects.get(pk=lead.report_id), Delivery.objects.get(pk=lead.pk)
        report.pk = report.dedup_key = f"{number:026}"
        report.agent_name, report.last_received_at = "spammer", timezone.now()
        Report.objects.bulk_create([report])
        delivery.pk, delivery.report_id, delivery.issue_number = None, report.pk, 1000 + number
        Delivery.objects.bulk_create([delivery])
    among_others = problems(client)
    root = User.objects.create(username="root", is_staff=True, is_superuser=True)
    operator_holds.make(Hold(kind="agent", value="spammer", reason="Spam."), by=root)

    assert len(among_others) == known.MOST
    assert [each["issue_url"] for each in problems(client)] == [lead.issue_url]


def test_of_an_erased_report_no_text_is_left(client, lead):
    erasing.erase(lead.report)

    [each] = problems(client)

    assert (each["title"], each["issue_url"]) == (None, lead.issue_url)


def test_a_page_without_problems_has_none(client, acme):
    assert problems(client) == []


def test_nobody_is_shown_what_the_owner_does_not_show(client, lead):
    assert not is_hidden(client)
    Integration.objects.update(shows_known=False)

    assert is_hidden(client)


def test_a_page_that_is_nobodys_looks_the_same(client, lead):
    assert is_hidden(client, "https://docs.acme.org/")
    assert is_hidden(client, "docs/install.md")

    Domain.objects.update(opted_out_at=timezone.now())
    assert is_hidden(client)

    Domain.objects.update(opted_out_at=None)
    Integration.objects.update(repository_id=None, repo_owner="", repo_name="")
    assert is_hidden(client)


def test_the_next_owner_of_a_page_shows_nothing_of_the_one_before(client, lead, code_host):
    Domain.objects.all().delete()
    zenith = build.organization("zenith")
    build.domain(zenith, "docs.acme.com")
    build.integration(zenith, code_host)
    Integration.objects.update(shows_known=True)

    assert problems(client) == []


def test_files_of_a_private_repository_are_nobodys(client, acme, code_host):
    file = f"{code_host.url}/acme/docs/blob/main/docs/install.md"
    site_claims.claim_site(acme, f"{code_host.url}/acme/docs/")
    sent = report_of(client, "The file is old", doc_url=file)

    assert [each["issue_url"] for each in problems(client, file)] == [sent.issue_url]

    Integration.objects.update(repository_private=True)

    assert is_hidden(client, file)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("", "Must be the URL or path of a page."),
        ("ftp://docs.acme.com/", "Must begin with https:// or http://, or be a path."),
        ("https://docs.acme.com/\x00", "Must not contain backslashes, spaces or control characters."),
        (f"https://docs.acme.com/{'x' * 2048}", "Must be at most 2048 characters."),
    ],
)  # fmt: skip
def test_what_is_no_page_is_refused(client, acme, url, message):
    refused = ask(client, url)

    assert refused.status_code == 400
    assert refused.json()["details"] == [{"path": "query:url", "message": message}]


def test_who_has_the_answer_already_is_told_so(client, lead):
    tag = ask(client)["ETag"]

    for known_already in (tag, f"W/{tag}", f'"x", {tag}', "*"):
        again = ask(client, If_None_Match=known_already)
        assert (again.status_code, again.content, again["ETag"]) == (304, b"", tag)

    answered(lead)
    assert ask(client, If_None_Match=tag).status_code == 200
    assert ask(client, If_None_Match="nonsense").status_code == 200


def test_questions_are_counted_apart_from_reports(client, acme, settings):
    settings.HUB_REPORT_RATE = "2/minute"
    rates.forget()

    assert [ask(client).status_code for _ in range(3)] == [200, 200, 429]
    assert [ask(client, "ftp:").status_code for _ in range(2)] == [429, 429]
    assert build.send(client).status_code == 201


def test_a_question_costs_a_few_statements(client, lead, django_assert_num_queries):
    for number in range(5):
        answered(report_of(client, f"Problem {number}"), link=LINK)

    with django_assert_num_queries(4):
        assert len(problems(client)) == 6


@pytest.mark.parametrize("likeness", ["on", "off"])
def test_what_never_became_an_issue_hides_nothing(client, acme, settings, monkeypatch, likeness):
    monkeypatch.setattr(known, "PROBLEMS", _looking_at(3))
    lead = report_of(client, "The flag --yes is gone")
    if likeness == "off":
        lead.terms.delete()
    answered(lead, link=LINK)
    settings.HUB_FORWARDING = "queue"
    junk = [report_of(client, f"zq{n} wibble{n}", agent__name=f"x{n}") for n in range(4)]

    def shown() -> list[tuple]:
        return [(each["issue_url"], each["answer"]["text"]) for each in problems(client)]

    here = [(lead.issue_url, TEXT)]
    assert shown() == here
    Delivery.objects.exclude(pk=lead.pk).discard()
    assert Delivery.objects.held("discarded").count() == len(junk)
    assert shown() == here
    for each in junk:
        erasing.erase(each.report)
    assert shown() == here
    erasing.erase(lead.report)
    assert [each["issue_url"] for each in problems(client)] == [lead.issue_url]


def test_issues_of_other_pages_do_not_hide_a_page_with_terms(client, lead, monkeypatch):
    monkeypatch.setattr(known, "PROBLEMS", _looking_at(3))
    for number in range(4):
        report_of(client, f"Problem {number}", doc_url="https://docs.acme.com/other")

    assert [each["issue_url"] for each in problems(client)] == [lead.issue_url]


def test_a_problem_that_is_repeated_moves_up(client, lead):
    other = report_of(client, "Problem 2")
    assert [each["issue_url"] for each in problems(client)] == [other.issue_url, lead.issue_url]

    build.send(client, build.report(report__summary="The flag --yes is gone"))

    assert [each["issue_url"] for each in problems(client)] == [lead.issue_url, other.issue_url]


def _looking_at(newest: int) -> PreparedStatement:
    """The statement with a smaller number; it is not one of those that are compared."""
    written = known.PROBLEMS.written.replace(f"LIMIT {known.NEWEST}", f"LIMIT {newest}")
    smaller = PreparedStatement("What is shown of a few?", written)
    PreparedStatement.every.remove(smaller)
    return smaller


def test_only_the_newest_issues_are_looked_at(client, acme):
    rows = Integration.objects.get()
    now = timezone.now()
    reports = [
        Report(
            organization=acme,
            received_at=now - timedelta(seconds=number),
            last_received_at=now,
            doc_url=PAGE,
            canonical_url=PAGE,
            kind="other",
            summary=f"Problem {number}",
            agent_name="agent-x",
        )
        for number in range(known.NEWEST + 20)
    ]
    Report.objects.bulk_create(reports)
    Delivery.objects.bulk_create(
        Delivery(
            report=report,
            integration=rows,
            status="sent",
            repository_id=rows.repository_id,
            repository_private=False,
            issue_number=len(reports) + 1 - number,
            issue_url=f"https://github.com/acme/docs/issues/{number}",
            issue_state="open" if number >= known.NEWEST - 10 else "closed",
        )
        for number, report in enumerate(reports, 1)
    )

    assert len(problems(client)) == 11

    Delivery.objects.update(issue_state="open")
    assert len(problems(client)) == known.MOST


@pytest.mark.parametrize("when", ["now", "once its network is forgotten", "then repeated"])
def test_a_flood_of_one_network_hides_no_problem_that_others_reported(client, acme, when):
    def flood():
        other = Client(REMOTE_ADDR="203.0.113.9")
        for number in range(known.MOST + 1):
            words = build.report(
                report__summary=f"zq{number} wibble{number}", agent__name=f"x{number}"
            )
            assert build.send(other, words).status_code == 201

    if when != "now":
        flood()
        Delivery.objects.update(created_at=timezone.now() - pacing.SOURCES_KEPT - timedelta(1))
        pacing.forget_sources()
    honest = report_of(client, "The flag --yes is gone")
    if when != "once its network is forgotten":
        flood()

    shown = problems(client)

    assert Delivery.objects.filter(status="sent").count() == known.MOST + 2
    assert len(shown) == known.MOST
    assert honest.issue_url in [each["issue_url"] for each in shown]


@pytest.mark.parametrize("reason", ["not_planned", "completed"])
def test_junk_that_was_closed_hides_no_open_problem(client, lead, monkeypatch, reason):
    monkeypatch.setattr(known, "PROBLEMS", _looking_at(3))
    for number in range(8):
        junk = report_of(client, f"zq{number} wibble{number}", agent__name=f"x{number}")
        Delivery.objects.filter(pk=junk.pk).update(issue_state="closed", issue_state_reason=reason)

    assert [each["issue_url"] for each in problems(client)] == [lead.issue_url]


def test_it_is_read_from_an_index(client, lead):
    with CaptureQueriesContext(connection) as queries:
        problems(client)
    [asked] = [each["sql"] for each in queries if "leads" in each["sql"]]

    plan = plan_of_sql(asked)

    for index in ("report_of_page", "terms_of_page", "delivery_one_per_issue"):
        assert index in plan
    assert plan.count("delivery_folded") == 2
    for table in ("reports_report", "integrations_delivery", "integrations_answer"):
        assert not whole_tables_in([plan], table)
    assert not whole_tables_in([plan], "integrations_terms")
