"""How much two reports have in common: points for terms, the more the fewer issues have them."""

from collections import Counter
from collections.abc import Iterable
from math import log
from typing import NamedTuple

from integrations.likeness.terms import Terms

SAME_AT = 3.5  # points; from here on one problem
NEAR_AT = 2.5  # perhaps one problem
HALF = 0.5  # of one summary, found in the other report
TELLING = 2.0  # the least that a report has to say: a word counts 1
ONE, NEITHER = 0.8, 0.5  # of a term that one summary has, that neither has

_WEIGHTS = {"`": 0.5, "#": 0.6, "+": 0.6}  # a word counts 1, and those inside code count, too


class Rarity:
    """What a term is worth on a page: the less, the more of its issues have it."""

    def __init__(self, leads: Iterable[Terms], terms: Terms) -> None:
        """Of the terms of a report, among the issues of its page."""
        self._count: Counter[str] = Counter()
        wanted, number = terms.all, 0
        for number, lead in enumerate(leads, start=1):
            self._count.update(wanted & lead.summary)
            self._count.update(wanted & lead.others)
        self._number = number

    def of(self, term: str) -> float:
        """Points for a term; full ones for what at most one issue has."""
        weight = _WEIGHTS.get(term[0], 1.0)
        having = self._count[term]
        if having < 2:
            return weight
        return weight * log(1 + self._number / having) / log(1 + self._number)


class Likeness(NamedTuple):
    """Of two reports of one page; `terms` is what they have in common, the most telling first."""

    points: float
    coverage: float
    terms: tuple[str, ...]

    @property
    def is_alike(self) -> bool:
        """Whether it is one problem, if nothing contradicts."""
        return self.points >= SAME_AT and self.coverage >= HALF

    @property
    def is_near(self) -> bool:
        """Whether it may be one problem, if nothing contradicts."""
        return self.points >= NEAR_AT and self.coverage >= HALF


def is_vacuous(terms: Terms) -> bool:
    """Whether a report says too little to be compared with another."""
    return (
        sum(_WEIGHTS.get(term[0], 1.0) for term in terms.summary | terms.others if term[0] != "#")
        < TELLING
    )


def compare(new: Terms, lead: Terms, rarity: Rarity) -> Likeness:
    """What two reports have in common; whether something contradicts is for `vetoes`."""
    common = new.all & lead.all
    points = {term: rarity.of(term) * _place(term, new, lead) for term in common}
    coverages = _coverage(new, lead, rarity), _coverage(lead, new, rarity)
    ordered = sorted((t for t in points if points[t]), key=lambda term: (-points[term], term))
    return Likeness(sum(points.values()) + sum(coverages), max(coverages), tuple(ordered))


def _place(term: str, one: Terms, other: Terms) -> float:
    told = (term in one.summary) + (term in other.summary)
    if told == 0 and term[0] == "#":
        return 0.0  # of somebody's machine, or in a log
    return (NEITHER, ONE, 1.0)[told]


def _coverage(one: Terms, other: Terms, rarity: Rarity) -> float:
    """How much of a summary stands in the other report; of what could stand there."""
    theirs = other.all
    has_cjk = any(term[0] == "+" for term in theirs)
    asked = [term for term in one.summary if has_cjk or term[0] != "+"]
    whole = sum(map(rarity.of, asked))
    return sum(rarity.of(term) for term in asked if term in theirs) / whole if whole else 0.0
