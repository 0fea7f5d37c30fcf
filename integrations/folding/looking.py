"""What a delivery is like, before its issue is opened."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from django.utils import timezone

from core import clock
from integrations.folding import candidates, following, stored_terms, verdicts
from integrations.folding.candidates import AT_ONCE, Lead
from integrations.folding.following import Fixed
from integrations.likeness.choosing import Candidate, nearest
from integrations.likeness.terms import RULE, Terms
from integrations.models import Delivery, Integration
from reports.models import Report

OWN_AGENT = "Docs Feedback Hub"  # of test reports, each of which becomes an issue


class Alike(NamedTuple):
    """The lead that a delivery is like, and what they have in common."""

    lead: Lead
    is_same: bool  # else maybe
    words: str  # of reporters: plain text, not safe
    rule: int = RULE
    follows: Fixed | None = None  # what its own issue is to name, so that it joins none

    @property
    def is_under_way(self) -> bool:
        """Whether the issue of the lead is only being opened."""
        return self.lead.number is None


def look(delivery: Delivery) -> Alike | None:
    """The issue that a delivery is or may be about, after its terms were stored; None if there is none.

    It is one that is being tried, and never posted. Raises `LeaseLost`.
    """
    mode = delivery.integration.likeness
    if mode == Integration.Likeness.OFF or delivery.report.agent_name == OWN_AGENT:
        return None
    terms = stored_terms.of(delivery.report)
    stored_terms.store(delivery, terms)
    there = candidates.leads(delivery)
    found = _nearest(delivery, terms, there)
    if mode != Integration.Likeness.FOLD or (found and found.is_same):
        return found
    at_once = candidates.under_way(delivery) if may_wait(delivery) else []
    waits = _nearest(delivery, terms, [*at_once, *there]) if at_once else None
    return waits if waits and waits.is_under_way and waits.is_same else found


def may_wait(delivery: Delivery) -> bool:
    """Whether it has come in so lately that it may wait for another one."""
    return timezone.now() + clock.ahead - delivery.report.received_at < AT_ONCE


def _nearest(delivery: Delivery, terms: Terms, leads: Sequence[Lead]) -> Alike | None:
    by_pk = {each.pk: each for each in leads}
    refused = verdicts.about(delivery.report, leads) if leads else set()
    compared = [
        Candidate(
            each.pk,
            each.terms,
            partial(candidates.members, each),
            partial(_apart_from, delivery.report, terms, each),
        )
        for each in leads
        if each.report_id not in refused
    ]
    match = nearest(terms, compared)
    if match is None:
        return None
    lead = verdicts.real_lead(by_pk[match.id], delivery.integration)
    lead = following.latest(lead, delivery.integration)
    if lead.pk != match.id and verdicts.about(delivery.report, [lead]):
        return None
    return Alike(lead, match.is_same, match.words)


def _apart_from(report: Report, terms: Terms, lead: Lead) -> list[Terms]:
    """What does not belong to a lead: what was split off, and the report itself if its agent was there just now."""
    if candidates.was_joined_by_agent(report, lead):
        return [terms]
    return verdicts.split_off(lead)
