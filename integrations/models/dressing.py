"""What a new issue gets besides its text: labels, assignees and a type, as its organization has chosen."""

import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple

EVERY_KIND = "*"  # its labels are for reports of every kind
COMPARED = 200  # characters: many marks are put in order in quadratic time
LABEL, ASSIGNEE, TYPE = "label ", "assignee ", "issue type "
WHAT_TO_DO = {
    LABEL: "Create the label in {repository} yourself, or choose another one.",
    ASSIGNEE: "Whom you assign needs access to {repository}.",
    TYPE: "Issue types belong to organizations on GitHub: {owner} needs to have the one that you choose.",
}


class Dressing(NamedTuple):
    """Labels, assignees and the type of one issue; false if there is none of them."""

    labels: tuple[str, ...] = ()
    assignees: tuple[str, ...] = ()
    type: str = ""

    def __bool__(self) -> bool:
        return any(self[:])

    def minus(self, other: "Dressing") -> "Dressing":
        """What is in this one only, whatever its case."""
        has_type = key(self.type) == key(other.type)
        return Dressing(
            _others(self.labels, other.labels),
            _others(self.assignees, other.assignees),
            "" if has_type else self.type,
        )

    def only(self, other: "Dressing") -> "Dressing":
        """Its labels if the other one has labels, and so on."""
        return Dressing(
            self.labels if other.labels else (),
            self.assignees if other.assignees else (),
            self.type if other.type else "",
        )

    @property
    def lines(self) -> list[str]:
        """A line for each, such as `label docs-bug`."""
        return [
            *(LABEL + each for each in self.labels),
            *(ASSIGNEE + each for each in self.assignees),
            *([TYPE + self.type] if self.type else []),
        ]


def chosen(
    kind: str, labels: Mapping[str, Sequence[str]], assignees: Sequence[str], issue_type: str
) -> Dressing:
    """What the issue of a report of this kind gets; no label twice."""
    by_name: dict[str, str] = {}
    for each in (*labels.get(EVERY_KIND, ()), *labels.get(kind, ())):
        by_name.setdefault(key(each), each)
    return Dressing(tuple(by_name.values()), tuple(assignees), issue_type)


def still_missing(known: str, *, asked: Dressing, lacks: Dressing) -> str:
    """The lines of what GitHub did not take, after one more issue: what was not asked for stays as it is."""
    kept = [each for each in known.splitlines() if each not in asked.lines]
    return "\n".join([*kept, *lacks.lines])


def in_words(missing: str, repository: str) -> str:
    """What GitHub did not take, and what to do, in sentences; empty if it took all."""
    lines = missing.splitlines()
    if not lines:
        return ""
    owner = repository.partition("/")[0]
    advice = [
        words.format(repository=repository, owner=owner)
        for what, words in WHAT_TO_DO.items()
        if any(each.startswith(what) for each in lines)
    ]
    return " ".join([f"GitHub did not take the {_listed(lines)}.", *advice])


def _others(mine: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[str, ...]:
    known = {key(each) for each in theirs}
    return tuple(each for each in mine if key(each) not in known)


def key(name: str) -> str:
    """The same for two spellings that are the same to GitHub, which takes none that is longer than `COMPARED`."""
    return unicodedata.normalize("NFC", name[:COMPARED]).casefold()


def _listed(lines: list[str]) -> str:
    *others, last = lines
    return f"{', the '.join(others)} and the {last}" if others else last
