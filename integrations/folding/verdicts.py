"""What members have said about two reports, where a third one is compared with them."""

from collections.abc import Collection

from core.prepared import PreparedStatement
from integrations.folding import stored_terms
from integrations.folding.candidates import Lead
from integrations.likeness.choosing import MOST_MEMBERS
from integrations.likeness.terms import RULE, Terms
from integrations.models import Delivery, Integration, Verdict

HOPS = 5  # from one lead to the one that it is the same as

OTHERS = PreparedStatement(
    "Which reports has a member said not to be about the problem of this one?",
    """
    SELECT v.other_id FROM integrations_verdict v WHERE v.report_id = %s AND v.is_same = FALSE
    UNION ALL
    SELECT v.report_id FROM integrations_verdict v WHERE v.other_id = %s AND v.is_same = FALSE
    """,
)
SPLIT_OFF = PreparedStatement(
    "In what terms were the newest reports that a member has said not to be about the problem of this lead?",
    f"""
    SELECT t.terms FROM (
        SELECT v.id, v.other_id AS report_id FROM integrations_verdict v
        WHERE v.report_id = %s AND v.is_same = FALSE
        UNION ALL
        SELECT v.id, v.report_id FROM integrations_verdict v
        WHERE v.other_id = %s AND v.is_same = FALSE
        ORDER BY id DESC LIMIT {MOST_MEMBERS}
    ) newest
    JOIN integrations_delivery d ON d.report_id = newest.report_id
    JOIN integrations_terms t ON t.delivery_id = d.id AND t.rule = {RULE}
    """,  # noqa: S608  (no values)
)


def others(report_id: str) -> set[str]:
    """The reports that a member has said are not about the problem of this one."""
    return {other for (other,) in OTHERS.rows(report_id, report_id)}


def split_off(lead: Lead) -> list[Terms]:
    """The terms of what was said not to be the same as a lead: what is nearer to those does not join it."""
    return [stored_terms.read(terms) for (terms,) in SPLIT_OFF.rows(lead.report_id, lead.report_id)]


def real_lead(lead: Lead, integration: Integration, refused: Collection[str]) -> Lead | None:
    """The lead that a member has said is the same as this one, if it still is one; else this one.

    None if that is one of the reports in `refused`.
    """
    for _ in range(HOPS):
        other = None if lead.number is None else _same_as(lead, integration)
        if other is None:
            break
        is_closed = other.issue_state == Delivery.IssueState.CLOSED
        lead = Lead(other.pk, other.report_id, other.issue_number, is_closed, lead.terms)
    return None if lead.report_id in refused else lead


def _same_as(lead: Lead, integration: Integration) -> Delivery | None:
    said = Verdict.objects.filter(report=lead.report_id, is_same=True).order_by("-made_at", "-pk")
    latest = said.values_list("other", flat=True).first()
    if latest is None:
        return None
    here = Delivery.objects.leads().filter(
        integration=integration, repository_id=integration.repository_id
    )
    return here.filter(report=latest).first()
