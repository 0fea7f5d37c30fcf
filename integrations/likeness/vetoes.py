"""What two reports say that cannot both be one problem."""

from collections import defaultdict
from collections.abc import Iterable
from difflib import SequenceMatcher

from integrations.likeness.terms import Terms

_ALIKE = 0.5  # of the shorter error message, found in the other one
_ONE_SENTENCE = 0.5  # of two summaries, word by word


def veto(one: Terms, other: Terms) -> str | None:
    """What contradicts, for people; None if nothing does."""
    if label := _other_names(one, other):
        return f"another {label.partition('/')[0]}"
    if _other_code(one, other):
        return "other code"
    if _own(one, other, "#") and _own(other, one, "#"):
        return "another number"
    if _other_errors(one, other):
        return "another error message"
    return "another word" if _same_sentence(one, other) else None


def _other_names(one: Terms, other: Terms) -> str | None:
    """A label whose names differ, unless each report has the other's as well."""
    mine, theirs = _by_label(one), _by_label(other)
    for label in mine.keys() & theirs.keys():
        if mine[label] & theirs[label]:
            continue
        if not (_has(one, label, theirs[label]) and _has(other, label, mine[label])):
            return label
    return None


def _by_label(terms: Terms) -> dict[str, set[str]]:
    """What is named, by its label; where the summary names nothing, by the rest."""
    return _labeled(each for each in terms.aside if each[0] != "?") | _labeled(terms.named)


def _labeled(names: Iterable[str]) -> dict[str, set[str]]:
    found = defaultdict(set)
    for name in names:
        label, _, value = name.partition("=")
        found[label].add(value)
    return dict(found)


def _has(terms: Terms, label: str, values: set[str]) -> bool:
    names = {name.lstrip("?") for name in terms.named | terms.aside}
    return all(f"{label}={value}" in names for value in values)


def _other_code(one: Terms, other: Terms) -> bool:
    """Whether both have code and none in common, or each has some of its own in its summary."""
    mine, theirs = _code(one.all), _code(other.all)
    if mine and theirs and not mine & theirs:
        return True
    return bool(_own(one, other, "`") and _own(other, one, "`"))


def _code(terms: Iterable[str]) -> set[str]:
    return {term for term in terms if term[0] == "`"}


def _own(one: Terms, other: Terms, sign: str) -> set[str]:
    """Code or numbers of a summary that the other report does not have."""
    theirs = other.all
    return {term for term in one.summary if term[0] == sign and term not in theirs}


def _other_errors(one: Terms, other: Terms) -> bool:
    if not one.errors or not other.errors:
        return False
    return not any(_are_alike(mine, theirs) for mine in one.errors for theirs in other.errors)


def _are_alike(mine: frozenset[str], theirs: frozenset[str]) -> bool:
    if _code(mine - theirs) and _code(theirs - mine):
        return False
    return len(mine & theirs) >= _ALIKE * min(len(mine), len(theirs))


def _same_sentence(one: Terms, other: Terms) -> bool:
    """Whether the summaries are one sentence about two things."""
    matcher = SequenceMatcher(None, one.line, other.line, autojunk=False)
    if matcher.ratio() < _ONE_SENTENCE:
        return False
    mine, theirs = _known(one), _known(other)
    return any(
        kind == "replace" and _tells(one.line[a:b], theirs) and _tells(other.line[c:d], mine)
        for kind, a, b, c, d in matcher.get_opcodes()
    )


def _known(terms: Terms) -> set[str]:
    """The terms of a report, and each character of those of a script without spaces."""
    words = (term.removeprefix("`") for term in terms.all if term[:2] == "``")
    return {
        *terms.all,
        *words,
        *terms.line,
        *"".join(term[1:] for term in terms.all if term[0] == "+"),
    }


def _tells(words: Iterable[str], known: set[str]) -> bool:
    return any(word[0] != "~" and word not in known for word in words)
