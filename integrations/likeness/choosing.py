"""Which of the issues of a page a new report is about, if any."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from integrations.likeness.comparing import Comparison, Likeness, is_vacuous
from integrations.likeness.reasons import reason
from integrations.likeness.terms import Terms
from integrations.likeness.vetoes import veto

MOST_LEADS = 200
MOST_TRIED = 10  # of those that have points enough: each reads its members
MOST_MEMBERS = 50
MOST_COMPARED = 200  # members of all those; then it joins none


def none() -> Sequence[Terms]:
    """No further reports."""
    return ()


class Candidate(NamedTuple):
    """An issue: its report, those that joined it, and those that were split off; read when needed."""

    id: Any
    terms: Terms
    members: Callable[[], Sequence[Terms]] = none
    split_off: Callable[[], Sequence[Terms]] = none


class Match(NamedTuple):
    """The issue that a report is about, or perhaps about, and why."""

    id: Any
    is_same: bool  # else a hint
    points: float
    terms: tuple[str, ...]  # in reporters' words: at most 4 of 40 characters
    words: str  # the reason, for people; of reporters' words, so not yet safe as Markdown or HTML


def nearest(new: Terms, leads: Sequence[Candidate]) -> Match | None:
    """The issue that a report is about or perhaps about; of the first 200."""
    if is_vacuous(new):
        return None
    leads = [lead for lead in leads[:MOST_LEADS] if not is_vacuous(lead.terms)]
    comparison = Comparison(new, [lead.terms for lead in leads])
    compared = [(comparison.with_(lead.terms), lead) for lead in leads]
    likely = sorted(
        (pair for pair in compared if pair[0].is_near), key=lambda pair: -pair[0].points
    )
    compared_with = 0
    for likeness, lead in likely[:MOST_TRIED]:
        if veto(new, lead.terms) or compared_with >= MOST_COMPARED:
            continue
        members = lead.members()[:MOST_MEMBERS]
        compared_with += len(members)
        is_contradicted = any(veto(new, member) for member in members)
        if not is_contradicted and not _is_nearer_elsewhere(comparison, likeness, lead):
            return Match(lead.id, likeness.is_alike, likeness.points, *reason(likeness.things, new))
    return None


def _is_nearer_elsewhere(comparison: Comparison, likeness: Likeness, lead: Candidate) -> bool:
    """Whether it is at least as near to a report that was split off."""
    others = lead.split_off()[:MOST_MEMBERS]
    return any(comparison.with_(other).points >= likeness.points for other in others)
