"""What members have said about two reports, where a third one is compared with them."""

from collections.abc import Sequence

from django.db.models import Q, QuerySet

from integrations.folding import stored_terms
from integrations.folding.candidates import Lead
from integrations.likeness.choosing import MOST_MEMBERS
from integrations.likeness.terms import RULE, Terms
from integrations.models import Delivery, Integration, Verdict
from integrations.models import Terms as StoredTerms
from reports.models import Report

HOPS = 5  # from one lead to the one that it is the same as


def about(report: Report, leads: Sequence[Lead]) -> set[str]:
    """The reports among these leads that a member has said are not about the problem of `report`."""
    ids = [each.report_id for each in leads]
    said = _said(report.pk, is_same=False)
    pairs = said.filter(Q(report__in=ids) | Q(other__in=ids)).values_list("report", "other")
    return {each for pair in pairs for each in pair} - {report.pk}


def apart_from(report_id: str) -> set[str]:
    """The reports that a member has said are not about the problem of this one, the latest."""
    said = _said(report_id, is_same=False).order_by("-pk").values_list("report", "other")
    return {each for pair in said[:MOST_MEMBERS] for each in pair} - {report_id}


def split_off(lead: Lead) -> list[Terms]:
    """The terms of what was said not to be the same as a lead: what is nearer to those does not join it."""
    ids = apart_from(lead.report_id)
    rows = StoredTerms.objects.filter(delivery__report__in=ids, rule=RULE)
    return [stored_terms.read(each) for each in rows.values_list("terms", flat=True)]


def real_lead(lead: Lead, integration: Integration) -> Lead:
    """The lead that a member has said is the same as this one, if it still is one; else this one."""
    if lead.number is None:
        return lead
    here = Delivery.objects.leads().filter(integration=integration)
    for _ in range(HOPS):
        said = Verdict.objects.filter(report=lead.report_id, is_same=True)
        others = said.order_by("-made_at", "-pk").values_list("other", flat=True)[:1]
        there = here.filter(repository_id=integration.repository_id)
        other = there.filter(report__in=list(others)).exclude(pk=lead.pk).first()
        if other is None:
            return lead
        is_closed = other.issue_state == Delivery.IssueState.CLOSED
        lead = Lead(other.pk, other.report_id, other.issue_number, is_closed, lead.terms)
    return lead


def _said(report_id: str, *, is_same: bool) -> QuerySet[Verdict]:
    return Verdict.objects.filter(Q(report=report_id) | Q(other=report_id), is_same=is_same)
