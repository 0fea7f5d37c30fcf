"""What a report is compared with: the same few rows, however many reports its page has."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import F, Q
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from integrations.folding import candidates, looking, stored_terms, verdicts
from integrations.models import Delivery, Integration, Terms, Verdict
from reports.models import Report
from tests import build
from tests.plans import plan_of_sql, whole_tables_in

pytestmark = pytest.mark.django_db
URL = "https://docs.acme.com/install"
TABLES = ["integrations_terms", "integrations_delivery", "reports_report", "integrations_verdict"]


@pytest.fixture
def mine(code_host) -> Integration:
    owner = build.acme(code_host)
    Integration.objects.update(likeness="fold")
    return Integration.objects.select_related("installation").get(organization=owner)


def stored(mine: Integration, number: int, **columns) -> Delivery:
    """The delivery of a report of its own problem, with its terms."""
    at = timezone.now() - timedelta(hours=1)
    report = Report.objects.create(
        received_at=at,
        last_received_at=at,
        kind="other",
        doc_url=URL,
        canonical_url=URL,
        summary=f"`option_{number}` and `switch_{number}` of `program_{number}` are gone",
        agent_name=f"agent-{number}",
    )
    sent = {"status": "sent", "issue_number": number + 1, "repository_id": mine.repository_id}
    delivery = Delivery.objects.create(report=report, integration=mine, **{**sent, **columns})
    stored_terms.put(delivery, stored_terms.of(report))
    return delivery


def taken(mine: Integration, number: int, agent: str = "x", **columns) -> Delivery:
    """One that is being tried."""
    waits = {"status": "pending", "issue_number": None, "repository_id": None}
    delivery = stored(mine, number, **{**waits, **columns})
    Report.objects.filter(pk=delivery.report_id).update(
        received_at=timezone.now(), agent_name=agent
    )
    found = Delivery.objects.take(delivery.report_id)
    assert found
    return found


def test_the_newest_leads_are_compared(mine, monkeypatch):
    monkeypatch.setattr(candidates, "MOST_LEADS", 3)
    several = [stored(mine, number) for number in range(5)]
    joined = {"status": "folded", "lead": several[0], "folded_at": timezone.now()}
    stored(mine, 7, **joined, issue_number=None)
    stored(mine, 8, issue_state="deleted")
    stored(mine, 9, repository_id=7)

    found = candidates.leads(taken(mine, 10))

    assert [each.pk for each in found] == [each.pk for each in reversed(several[2:])]
    assert found[0].terms == stored_terms.of(several[4].report)


def test_what_was_dismissed_takes_few_places_of_others(mine, monkeypatch):
    monkeypatch.setattr(candidates, "MOST_LEADS", 4)
    monkeypatch.setattr(candidates, "DISMISSED_AT_MOST", 1)
    true = [stored(mine, number) for number in range(5)]
    junk = [
        stored(
            mine,
            number,
            issue_state="closed",
            issue_state_reason=["not_planned", "duplicate"][number % 2],
        )
        for number in range(5, 5 + candidates.WINDOW)
    ]

    found = candidates.leads(taken(mine, 900))

    assert [each.pk for each in found] == [junk[-1].pk, *[each.pk for each in reversed(true[2:])]]
    Delivery.objects.filter(pk__in=[each.pk for each in true[:4]]).update(issue_state="deleted")
    assert [each.pk for each in candidates.leads(taken(mine, 901))] == [
        *[each.pk for each in reversed(junk[-3:])],
        true[4].pk,
    ]


def test_leads_are_those_that_a_plain_queryset_finds(mine):
    for number in range(12):
        state = ["", "open", "closed", "deleted"][number % 4]
        stored(mine, number, issue_state=state)
    Report.objects.filter(summary__contains="_5").update(agent_name="x", received_at=timezone.now())
    Terms.objects.filter(delivery__issue_number=7).update(rule=0)
    new = taken(mine, 20)

    near = Q(report__agent_name="x", report__received_at__gt=timezone.now() - timedelta(minutes=10))
    plain = Delivery.objects.leads().filter(terms__rule=1, terms__may_lead=True).exclude(near)

    assert [each.pk for each in candidates.leads(new)] == [
        each.pk for each in plain.order_by("-pk")
    ]


def test_members_are_those_that_a_plain_queryset_finds(mine):
    lead, other = stored(mine, 1), stored(mine, 2)
    for number in range(10, 16):
        joined = {"lead": [lead, other][number % 2], "folded_at": timezone.now()}
        stored(mine, number, status="folded", issue_number=None, **joined)
    Terms.objects.filter(delivery__report__agent_name="agent-12").delete()

    found = candidates.members(_as_lead(lead))

    plain = Delivery.objects.filter(lead=lead).order_by("-pk").select_related("report")
    assert [(each.agent, each.received_at) for each in found] == [
        (each.report.agent_name, each.report.received_at) for each in plain
    ]
    assert [each.terms is None for each in found] == [
        each.report.agent_name == "agent-12" for each in plain
    ]


def _as_lead(delivery: Delivery) -> candidates.Lead:
    terms = stored_terms.of(delivery.report)
    return candidates.Lead(
        delivery.pk, delivery.report_id, delivery.issue_number, is_closed=False, terms=terms
    )


def test_under_way_is_what_was_taken_before_and_what_waits_for_another_try(mine):
    first, second = taken(mine, 1), taken(mine, 2)
    third = taken(mine, 3)
    again = stored(mine, 4, status="pending", issue_number=None, trying_since=timezone.now())
    stored(mine, 5, status="pending", issue_number=None)
    Delivery.objects.filter(pk=first.pk).update(
        last_tried_at=F("last_tried_at") + timedelta(hours=1)
    )
    last = taken(mine, 6)
    Report.objects.update(agent_name=F("id"))

    def seen_by(delivery: Delivery) -> set[int]:
        delivery.report.refresh_from_db()
        return {each.pk for each in candidates.under_way(delivery)}

    assert seen_by(second) == set()
    assert seen_by(third) == {second.pk}
    assert seen_by(last) == {second.pk, third.pk, again.pk}
    assert seen_by(first) == {second.pk, third.pk, last.pk}


def test_verdicts_count_in_both_directions(mine):
    one, two, three, four = (stored(mine, number) for number in range(4))
    for report, other, is_same in ((one, two, False), (three, one, False), (one, four, True)):
        pair = {"report": report.report, "other": other.report}
        Verdict.objects.create(integration=mine, is_same=is_same, made_by="alice", **pair)

    assert verdicts.others(one.report_id) == {two.report_id, three.report_id}
    split = verdicts.split_off(_as_lead(one))
    assert {each.summary for each in split} == {
        stored_terms.of(each.report).summary for each in (two, three)
    }
    [rest] = verdicts.split_off(_as_lead(one), refused={two.report_id})
    assert rest.summary == stored_terms.of(three.report).summary


def test_a_look_reads_indexes_and_few_rows_of_a_page_with_many_reports(mine):
    lead = stored(mine, 1)
    joined = {"lead": lead, "folded_at": timezone.now()}
    for number in range(2, 30):
        stored(mine, number, status="folded", issue_number=None, **joined)
    new = taken(mine, 1)

    with CaptureQueriesContext(connection) as queries:
        looking.look(new)
    asked = [each["sql"].strip() for each in queries]
    plans = [plan_of_sql(each) for each in asked if each.startswith("SELECT")]

    assert len(plans) >= 3
    assert not whole_tables_in(plans, *TABLES)
    [of_leads] = [plan for plan in plans if "r.agent_name = " in plan.sql]
    [of_members] = [plan for plan in plans if "d.lead_id >= " in plan.sql]
    assert "terms_of_page" in of_leads
    assert "delivery_folded" in of_members
    assert not re.search("Sort|TEMP B-TREE", of_members)


def test_what_is_sent_in_the_middle_of_a_look_is_found(mine, monkeypatch):
    other, new = taken(mine, 1), taken(mine, 1, agent="y")
    columns = {"issue_number": 7, "repository_id": mine.repository_id, "lease_until": None}

    def sent_after(ask):
        def asked(delivery):
            found = ask(delivery)
            Delivery.objects.filter(pk=other.pk).update(status="sent", **columns)
            return found

        return asked

    for name in ["leads", "under_way"]:
        monkeypatch.setattr(candidates, name, sent_after(getattr(candidates, name)))

    alike = looking.look(new)

    assert alike
    assert (alike.is_same, alike.lead.pk) == (True, other.pk)


def test_a_look_asks_few_questions(mine):
    for number in range(1, 9):
        stored(mine, number)
    new = taken(mine, 1)

    with CaptureQueriesContext(connection) as queries:
        looking.look(new)

    assert len(queries) <= 8, [each["sql"] for each in queries]
