"""What two reports say that cannot both be one problem."""

from collections import defaultdict
from collections.abc import Iterable

from integrations.likeness.terms import Terms

_ALIKE = 0.5  # of the shorter error message, found in the other one


def veto(one: Terms, other: Terms) -> str | None:
    """What contradicts, for people; None if nothing does."""
    if label := _other_names(one, other):
        return f"another {label.partition('/')[0]}"
    for sign, words in (("`", "other code"), ("#", "another number")):
        if _own(one, other, sign) and _own(other, one, sign):
            return words
    return "another error message" if _other_errors(one, other) else None


def _other_names(one: Terms, other: Terms) -> str | None:
    mine, theirs = _by_label(one), _by_label(other)
    return next(
        (label for label in mine if label in theirs and not mine[label] & theirs[label]), None
    )


def _by_label(terms: Terms) -> dict[str, set[str]]:
    """What is named, by its label; where the summary names nothing, by the rest."""
    found = _labeled(terms.named)
    return _labeled(terms.aside) | found


def _labeled(names: Iterable[str]) -> dict[str, set[str]]:
    found = defaultdict(set)
    for name in names:
        label, _, value = name.partition("=")
        found[label].add(value)
    return dict(found)


def _own(one: Terms, other: Terms, sign: str) -> set[str]:
    """Code or numbers of a summary that the other report does not have."""
    theirs = other.all
    return {term for term in one.summary if term[0] == sign and term not in theirs}


def _other_errors(one: Terms, other: Terms) -> bool:
    if not one.errors or not other.errors:
        return False
    return not any(_are_alike(mine, theirs) for mine in one.errors for theirs in other.errors)


def _are_alike(mine: frozenset[str], theirs: frozenset[str]) -> bool:
    if any(term[0] == "`" for term in mine - theirs) and any(
        term[0] == "`" for term in theirs - mine
    ):
        return False
    return len(mine & theirs) >= _ALIKE * min(len(mine), len(theirs))
