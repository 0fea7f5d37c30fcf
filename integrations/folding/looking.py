"""What a delivery is like, before its issue is opened."""

from collections.abc import Collection, Sequence
from functools import cached_property, partial
from typing import NamedTuple

from django.utils import timezone

from core import clock
from integrations.folding import candidates, following, stored_terms, verdicts
from integrations.folding.candidates import AT_ONCE, Lead, Member
from integrations.folding.following import Fixed
from integrations.likeness.choosing import Candidate, nearest
from integrations.likeness.terms import RULE, Terms
from integrations.models import Delivery, Integration


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


class _Compared:
    """A lead as one delivery is compared with it; what has joined it is read when it is asked for."""

    def __init__(
        self, lead: Lead, delivery: Delivery, terms: Terms, refused: Collection[str]
    ) -> None:
        self.lead, self.delivery, self.terms, self.refused = lead, delivery, terms, refused

    @cached_property
    def _joined(self) -> list[Member]:
        return candidates.members(self.lead)

    def members(self) -> Sequence[Terms]:
        """The terms of what has joined it."""
        return [each.terms for each in self._joined if each.terms]

    def others(self) -> Sequence[Terms]:
        """What does not belong to it: what was split off; and the report, if its agent was there just now."""
        same = partial(candidates.is_by_agent_of, self.delivery)
        if any(same(each.agent, each.source, each.received_at) for each in self._joined):
            return [self.terms]
        return verdicts.split_off(self.lead, self.refused)


def look(delivery: Delivery) -> Alike | None:
    """The issue that a delivery is or may be about, after its terms were stored; None if there is none.

    The delivery is one that is being tried, and never posted. A test report is like no other, so that each
    becomes an issue. Raises `LeaseLost`.
    """
    mode = delivery.integration.likeness
    if mode == Integration.Likeness.OFF or delivery.report.is_test:
        return None
    terms = stored_terms.of(delivery.report)
    stored_terms.store(delivery, terms)
    may_join = mode == Integration.Likeness.FOLD and may_wait(delivery)
    # Asked first: what is sent between the two questions is a lead by the second one.
    at_once = candidates.under_way(delivery) if may_join else []
    there = candidates.leads(delivery)
    found = _nearest_told(delivery, terms, there)
    if not at_once or (found and found.is_same):
        return found
    waits = _nearest(delivery, terms, [*at_once, *there])
    return waits if waits and waits.is_under_way and waits.is_same else found


def may_wait(delivery: Delivery) -> bool:
    """Whether it has come in so lately that it may wait for another one."""
    return timezone.now() + clock.ahead - delivery.report.received_at < AT_ONCE


def _nearest_told(delivery: Delivery, terms: Terms, leads: Sequence[Lead]) -> Alike | None:
    """The nearest; one that was closed as a duplicate, or not planned, only if no other one is the same.

    One of those that follows another is also taken before one that is closed, if it is nearer.
    """
    others = [each for each in leads if not each.is_dismissed]
    dismissed = [each for each in leads if each.is_dismissed]
    found = _nearest(delivery, terms, others)
    if not dismissed or (found and found.is_same and not found.lead.is_closed):
        return found
    if found is None or not found.is_same:
        return _nearest(delivery, terms, leads)
    nearer = _nearest(delivery, terms, [*others, *following.among(dismissed)])
    return nearer if nearer and nearer.is_same else found


def _nearest(delivery: Delivery, terms: Terms, leads: Sequence[Lead]) -> Alike | None:
    if not leads:
        return None
    refused = verdicts.others(delivery.report_id)
    compared = [
        _Compared(each, delivery, terms, refused) for each in leads if each.report_id not in refused
    ]
    match = nearest(terms, [Candidate(c, c.lead.terms, c.members, c.others) for c in compared])
    if match is None:
        return None
    lead = verdicts.real_lead(match.id.lead, delivery.integration, refused)
    lead = lead and following.latest(lead, delivery, refused)
    return Alike(lead, match.is_same, match.words) if lead else None
