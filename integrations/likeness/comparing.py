"""How much two reports have in common: points for terms, the more the fewer issues have them."""

from collections import Counter
from collections.abc import Sequence, Set
from math import log
from typing import NamedTuple

from integrations.likeness.stems import root
from integrations.likeness.terms import Terms
from integrations.likeness.vocabulary import COLORLESS

SAME_AT = 2.75  # points; from here on one problem
APART_AT = 3.25  # the same, where each summary names something that the other report does not have
HALF = 0.45  # of one summary has to be found in the other report
THINGS = 2  # at least in common
NEAR_AT, NEAR_HALF = 1.5, 0.4  # the same for what is perhaps one problem
SHORT = 0.5  # added to what a summary says, so that a short one is found less easily
MANY = 30  # terms of a summary, or of the rest; who has more says less with each
TELLING = 2.0  # the least that a report has to say; a word counts 1

ONE, NEITHER = 0.8, 0.5  # of a term that one summary has, that neither has
_WEIGHTS = {"`": 0.5, "#": 0.6, "+": 0.6}  # a word counts 1, and those inside code count, too
_BARE = 1.0  # code without words
_COLORLESS = frozenset(map(root, COLORLESS))


class Likeness(NamedTuple):
    """Of two reports of one page; `terms` is what they have in common, the most telling first."""

    points: float = 0.0
    coverage: float = 0.0
    terms: tuple[str, ...] = ()
    are_apart: bool = False

    @property
    def is_alike(self) -> bool:
        """Whether it is one problem, if nothing contradicts."""
        least = APART_AT if self.are_apart else SAME_AT
        return self.points >= least and self.coverage >= HALF and len(self.things) >= THINGS

    @property
    def things(self) -> list[str]:
        """The terms in common, code first, without words that stand inside of that."""
        code = [term for term in self.terms if term[0] == "`"]
        words = (term for term in self.terms if term[0] != "`")
        return code + [word for word in words if not any(word in name for name in code)]

    @property
    def is_near(self) -> bool:
        """Whether it may be one problem, if nothing contradicts."""
        return self.points >= NEAR_AT and self.coverage >= NEAR_HALF


class Comparison:
    """A report beside the issues of its page: the fewer of them have a term, the more it is worth."""

    def __init__(self, new: Terms, leads: Sequence[Terms]) -> None:
        """Count which of its terms the issues have."""
        self._new = new
        having = Counter(term for lead in leads for term in new.all & lead.all)
        self._worth = {term: _worth(term, having[term], len(leads)) for term in new.all}
        self._counts = {term: self._worth[term] * _density(term, new) for term in new.all}

    def with_(self, other: Terms) -> Likeness:
        """What the report has in common with another; what contradicts is for `vetoes`."""
        new, common = self._new, self._new.all & other.all
        if common.isdisjoint(new.summary) and common.isdisjoint(other.summary):
            return Likeness()
        points = {term: self._points(term, other) for term in common}
        total = sum(points.values())
        if total + 2 * self._covered_at_most(common) < NEAR_AT:
            return Likeness(total)
        mine, theirs = self._covered(new, other, common), self._covered(other, new, common)
        total += mine + theirs
        if total < NEAR_AT:
            return Likeness(total)
        terms = sorted(filter(points.get, points), key=lambda term: (-points[term], term))
        are_apart = not (mine and theirs) or (_names_more(new, other) and _names_more(other, new))
        return Likeness(total, max(mine, theirs), tuple(terms), are_apart)

    def _points(self, term: str, other: Terms) -> float:
        new = self._new
        told = (term in new.summary) + (term in other.summary)
        if not told and term[0] == "#":
            return 0.0  # of somebody's machine, or in a log
        place = (NEITHER, ONE, 1.0)[told]
        return self._counts[term] * place * _density(term, other)

    def _covered_at_most(self, common: Set[str]) -> float:
        """How much of either summary can stand in the other report: far less work, and enough for most leads."""
        most = sum(self._worth[term] for term in common)
        return most / (SHORT + most)

    def _covered(self, one: Terms, other: Terms, common: Set[str]) -> float:
        """How much of a summary stands in the other report; of what could stand there."""
        found = sum(self._told(term) * _density(term, other) for term in common & one.summary)
        return found / self._whole(one, is_eastern="+" in other.signs) if found else 0.0

    def _whole(self, one: Terms, *, is_eastern: bool) -> float:
        """What a summary says, of what a report in such a script, or in none, could have in common with it."""
        return SHORT + sum(self._told(term) for term in one.summary if is_eastern or term[0] != "+")

    def _told(self, term: str) -> float:
        return self._worth.get(term) or _weight(term)


def _density(term: str, terms: Terms) -> float:
    """What a term of a report counts: the less, the more the report has."""
    return min(1.0, MANY / len(terms.summary if term in terms.summary else terms.others))


def _weight(term: str) -> float:
    return _BARE if term.startswith("``") else _WEIGHTS.get(term[0], 1.0)


def _worth(term: str, having: int, number: int) -> float:
    """Points for a term; full ones for what at most one issue of so many has."""
    if having < 2:
        return _weight(term)
    return _weight(term) * log(1 + number / having) / log(1 + number)


def _names_more(one: Terms, other: Terms) -> bool:
    """Whether a summary names something that the other report does not have."""
    return any(
        term[0] not in "#+" and term not in other.all and term not in _COLORLESS
        for term in one.summary
    )


def is_vacuous(terms: Terms) -> bool:
    """Whether a report says too little to be compared with another."""
    if "`" in terms.signs:
        return False
    return sum(_weight(term) for term in terms.all if term[0] != "#") < TELLING
