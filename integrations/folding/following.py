"""Issues that follow one that was closed: its problem was reported again, and has an issue of its own since then."""

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from integrations.folding import candidates, verdicts
from integrations.folding.candidates import Lead
from integrations.models import Delivery
from integrations.models.delivery import DISMISSED

HOPS = 20  # from one issue to the one that follows it


class Fixed(NamedTuple):
    """An issue that was closed as completed, and that another one is to follow; `lead`: its delivery's id."""

    lead: int
    number: int
    closed_at: datetime


def among(leads: Collection[Lead]) -> list[Lead]:
    """Those that follow another one."""
    pks = [each.pk for each in leads]
    there = Delivery.objects.filter(pk__in=pks, follows__isnull=False)
    following = set(there.values_list("pk", flat=True)) if pks else ()
    return [each for each in leads if each.pk in following]


def latest(lead: Lead, delivery: Delivery, refused: Collection[str]) -> Lead | None:
    """The last that follows the issue of a lead, where issues go now; the lead itself if there is none.

    One that was reopened is followed by none: what is alike joins it. None if a delivery may not join that: it is
    one of the reports in `refused`, or of the same agent just now.
    """
    for _ in range(HOPS):
        following = _next(lead, delivery) if lead.number and lead.is_closed else None
        if following is None:
            return lead
        report, is_closed = following.report, following.issue_state == Delivery.IssueState.CLOSED
        lead = Lead(following.pk, report.pk, following.issue_number, is_closed, lead.terms)
        is_same_agent = candidates.is_by_agent_of(delivery, *candidates.sent_by(following))
        if report.pk in refused or is_same_agent:
            return None
    return lead


def _next(lead: Lead, delivery: Delivery) -> Delivery | None:
    """The latest issue that was opened when this one's problem was reported again, if it is about that.

    One that was dismissed is not: it may have been junk, and what joins it is only counted.
    """
    mine = delivery.integration
    there = Delivery.objects.leads().filter(follows=lead.pk, repository_id=mine.repository_id)
    there = there.exclude(issue_state="closed", issue_state_reason__in=DISMISSED)
    known = there.filter(integration=mine).exclude(verdicts.are_apart(lead.report_id))
    return known.select_related("report").order_by("-pk").first()
