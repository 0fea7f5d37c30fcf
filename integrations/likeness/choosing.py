"""Which of the issues of a page a new report is about, if any."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from integrations.likeness.comparing import Likeness, Rarity, compare, is_vacuous
from integrations.likeness.terms import Terms
from integrations.likeness.vetoes import veto

MOST_LEADS = 200
MOST_TRIED = 10  # of those that have points enough: each reads its members
MOST_MEMBERS = 50
MOST_WORDS = 4


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
    terms: tuple[str, ...]  # of the reporters, as plain text: at most 4 of 40 characters

    @property
    def words(self) -> str:
        """The reason, for people; made of reporters' words, so not safe as Markdown or HTML."""
        return reason(self.terms)


def nearest(new: Terms, leads: Sequence[Candidate]) -> Match | None:
    """The issue that `new` is about or perhaps about; of the first 200, the newest first."""
    if is_vacuous(new):
        return None
    leads = [lead for lead in leads[:MOST_LEADS] if not is_vacuous(lead.terms)]
    rarity = Rarity((lead.terms for lead in leads), new)
    compared = [(lead, compare(new, lead.terms, rarity)) for lead in leads]
    likely = sorted(
        (pair for pair in compared if pair[1].is_near), key=lambda pair: -pair[1].points
    )
    for lead, likeness in likely[:MOST_TRIED]:
        if not _is_refused(new, lead, likeness, rarity):
            shown = tuple(map(display, likeness.terms[:MOST_WORDS]))
            return Match(lead.id, likeness.is_alike, likeness.points, shown)
    return None


def _is_refused(new: Terms, lead: Candidate, likeness: Likeness, rarity: Rarity) -> bool:
    if veto(new, lead.terms):
        return True
    if any(
        compare(new, each, rarity).points >= likeness.points
        for each in lead.split_off()[:MOST_MEMBERS]
    ):
        return True
    return any(veto(new, each) for each in lead.members()[:MOST_MEMBERS])


def display(term: str) -> str:
    """A term as people may read it."""
    return term[1:] if term[0] in "`#+" else term


def reason(terms: Sequence[str]) -> str:
    """Why two reports are about one problem."""
    return "same page; " + ", ".join(terms) + " in common"
