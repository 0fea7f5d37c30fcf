"""Issues that follow one that was closed: its problem was reported again, and has an issue of its own since then."""

from datetime import datetime
from typing import NamedTuple

from integrations.folding import verdicts
from integrations.folding.candidates import Lead
from integrations.models import Delivery, Integration

HOPS = 20  # from one issue to the one that follows it


class Fixed(NamedTuple):
    """An issue that was closed as completed, and that another one is to follow; `lead`: its delivery's id."""

    lead: int
    number: int
    closed_at: datetime


def latest(lead: Lead, integration: Integration) -> Lead:
    """The last that follows the issue of a lead, where issues go now; the lead itself if there is none."""
    leads = Delivery.objects.leads().filter(integration=integration)
    for _ in range(HOPS):
        there = leads.filter(follows=lead.pk, repository_id=integration.repository_id)
        apart = verdicts.apart_from(lead.report_id)
        following = there.exclude(report__in=apart).order_by("-pk").first()
        if following is None:
            return lead
        is_closed = following.issue_state == Delivery.IssueState.CLOSED
        facts = (following.pk, following.report_id, following.issue_number, is_closed)
        lead = Lead(*facts, lead.terms)
    return lead
