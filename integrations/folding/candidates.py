"""What a new report is compared with: the newest leads of its page, and what is on its way at the same time."""

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

from django.db.models import Q

from core import clock
from core.prepared import PreparedStatement
from integrations.folding import stored_terms
from integrations.likeness.choosing import MOST_LEADS, MOST_MEMBERS
from integrations.likeness.terms import RULE, Terms
from integrations.models import Delivery
from integrations.models import Terms as StoredTerms
from reports.models import Report

WINDOW = 1000  # of the newest that others may join: most of them have an issue
APART = timedelta(minutes=10)  # one agent reports no problem twice within this time
AT_ONCE = timedelta(
    minutes=2
)  # after its arrival, a report no longer waits for one that is like it
UNDER_WAY = 20

LEADS = PreparedStatement(
    "Which are the newest leads of this page, without what the same agent has just reported?",
    f"""
    SELECT d.id, d.report_id, d.issue_number, d.issue_state, newest.terms
    FROM (
        SELECT delivery_id, terms FROM integrations_terms
        WHERE integration_id = %s AND page = %s AND may_lead = TRUE AND rule = {RULE}
        ORDER BY delivery_id DESC LIMIT {WINDOW}
    ) newest
    JOIN integrations_delivery d ON d.id = newest.delivery_id
    JOIN reports_report r ON r.id = d.report_id
    WHERE d.status = 'sent' AND d.issue_state <> 'deleted' AND d.repository_id = %s AND d.id <> %s
        AND NOT (r.agent_name = %s AND r.received_at > %s AND r.received_at < %s)
    ORDER BY d.id DESC LIMIT {MOST_LEADS}
    """,  # noqa: S608  (no values)
)


class Lead(NamedTuple):
    """An issue that a report may be about; without a number while it is being opened."""

    pk: int
    report_id: str
    number: int | None
    is_closed: bool
    terms: Terms


def leads(delivery: Delivery) -> list[Lead]:
    """The newest leads of the page of a delivery, in the repository where its issue would be."""
    report = delivery.report
    there = (delivery.integration_id, stored_terms.page_of(report))
    near = (report.received_at - APART, report.received_at + APART)
    rows = LEADS.rows(
        *there, delivery.integration.repository_id, delivery.pk, report.agent_name, *near
    )
    return [
        Lead(pk, report_id, number, state == "closed", stored_terms.read(terms))
        for pk, report_id, number, state, terms in rows
    ]


def under_way(delivery: Delivery) -> list[Lead]:
    """Others about the same page whose issue is being opened, and that go before this one.

    Those that were taken before it, and older ones whose try has just failed: nothing waits in a circle.
    """
    report, mine = delivery.report, Delivery.objects.filter(integration=delivery.integration_id)
    before = Q(last_tried_at__lt=delivery.last_tried_at)
    same_time = Q(last_tried_at=delivery.last_tried_at, pk__lt=delivery.pk)
    taken = mine.filter(before | same_time, status=Delivery.Status.SENDING)
    page = StoredTerms.objects.filter(
        integration=delivery.integration_id, page=stored_terms.page_of(report), may_lead=True
    )
    newest = page.filter(delivery__lt=delivery.pk).order_by("-delivery")[:UNDER_WAY]
    tried = mine.filter(pk__in=list(newest.values_list("pk", flat=True)))
    again = tried.filter(
        status=Delivery.Status.PENDING,
        created_at__gt=clock.now() - AT_ONCE,
        trying_since__isnull=False,
    )
    found: dict[int, Report] = {}
    for some in (taken, again):
        others = some.filter(report__canonical_url=report.canonical_url, report__erased_at=None)
        rows = others.select_related("report").order_by("-pk")[:UNDER_WAY]
        found |= {each.pk: each.report for each in rows}
    return [
        Lead(pk, other.pk, None, is_closed=False, terms=stored_terms.of(other))
        for pk, other in found.items()
        if not is_of_same_agent(report, other)
    ]


def is_of_same_agent(one: Report, other: Report) -> bool:
    """Whether one agent has sent both within `APART`: then they are about two problems."""
    return one.agent_name == other.agent_name and abs(one.received_at - other.received_at) < APART


def members(lead: Lead) -> Sequence[Terms]:
    """The terms of the newest that have joined a lead."""
    rows = StoredTerms.objects.filter(delivery__in=_newest(lead), rule=RULE)
    return [stored_terms.read(each) for each in rows.values_list("terms", flat=True)]


def was_joined_by_agent(report: Report, lead: Lead) -> bool:
    """Whether the agent of a report has lately reported something else that joined this lead."""
    near = (report.received_at - APART, report.received_at + APART)
    rows = Report.objects.filter(pk__in=[each.report_id for each in _newest(lead)])
    return rows.filter(agent_name=report.agent_name, received_at__range=near).exists()


def _newest(lead: Lead) -> list[Delivery]:
    """The newest that have joined it. As a range, so that no database reads all deliveries by their id."""
    joined = Delivery.objects.filter(lead__gte=lead.pk, lead__lte=lead.pk)
    return list(joined.order_by("-lead", "-pk").only("pk", "report_id")[:MOST_MEMBERS])
