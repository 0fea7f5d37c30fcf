"""Which labels, assignees and type an organization chooses for its issues."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from core.errors import ApiError
from core.json_body import MAX_FAULTS
from integrations.models import Integration
from integrations.models.dressing import EVERY_KIND, key
from reports.models import Report

KINDS = (EVERY_KIND, *Report.Kind.values)
NAMES = {EVERY_KIND: "labels_every"} | {kind: f"labels_{kind}" for kind in Report.Kind.values}
LABELS, ASSIGNEES = 20, 10  # in one list; GitHub takes 100 and 10 for an issue
LONGEST_LABEL, LONGEST_LOGIN, LONGEST_TYPE = 50, 100, 100  # characters
SHOWN = 40  # characters of a name that is wrong
PART_OF_EMOJI = "\u200d"  # joins two of them; has no width

_LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


class InvalidChoice(ApiError):
    """400: labels, assignees or a type that GitHub cannot take."""

    status_code = 400
    default_code = "validation_error"
    default_detail = "Invalid request; see `details`. Nothing was saved."


class Choice(NamedTuple):
    """What new issues get: labels by kind, or by `*` for every kind. None leaves it as it is."""

    labels: dict[str, list[str]] | None = None
    assignees: list[str] | None = None
    issue_type: str | None = None


AS_IT_IS = Choice()


class Fault(NamedTuple):
    """What is wrong, and where: the field, the kind whose labels it is in, the place in its list."""

    where: tuple[str | int, ...]
    message: str

    @property
    def as_json(self) -> dict[str, str]:
        """As in the answers of the API, with a JSON Pointer."""
        steps = (str(each)[:SHOWN].replace("~", "~0").replace("/", "~1") for each in self.where)
        return {"path": "".join(f"/{each}" for each in steps), "message": self.message}


def checked(choice: Choice) -> Choice:
    """The choice without spaces around names. Raises `InvalidChoice`."""
    choice = _without_spaces(choice)
    if found := faults(choice):
        raise InvalidChoice(details=[each.as_json for each in found])
    return choice


def faults(choice: Choice) -> list[Fault]:
    """What is wrong with a choice, at most `MAX_FAULTS`."""
    choice = _without_spaces(choice)
    found = [*_of_labels(choice.labels or {}), *_of_assignees(choice.assignees or [])]
    if problem := _problem(choice.issue_type or "", "issue type", LONGEST_TYPE):
        found.append(Fault(("issue_type",), problem))
    return found[:MAX_FAULTS]


def by_name(choice: Choice) -> dict[str, Any]:
    """Each list of a choice, and the type, by the name of its field; not what is left as it is."""
    lists, others = choice.labels, {"assignees": choice.assignees, "issue_type": choice.issue_type}
    of_kinds = {} if lists is None else {name: lists.get(kind, []) for kind, name in NAMES.items()}
    return of_kinds | {name: value for name, value in others.items() if value is not None}


def named(values: Mapping[str, Any]) -> Choice:
    """The choice of which these are the lists and the type, as `by_name` says it."""
    of_kinds = {kind: values[name] for kind, name in NAMES.items() if name in values}
    return Choice(of_kinds or None, values.get("assignees"), values.get("issue_type"))


def save_to(integration: Integration, choice: Choice) -> None:
    """Put a checked choice into the row, which is not saved. What GitHub did not take before is then forgotten."""
    before = integration.choice
    if choice.labels is not None:
        integration.labels = {kind: names for kind, names in choice.labels.items() if names} or None
    if choice.assignees is not None:
        integration.assignees = choice.assignees or None
    if choice.issue_type is not None:
        integration.issue_type = choice.issue_type
    if before != integration.choice:
        integration.not_applied = ""


def _without_spaces(choice: Choice) -> Choice:
    labels, assignees, issue_type = choice
    return Choice(
        labels and {kind: [each.strip() for each in names] for kind, names in labels.items()},
        assignees and [each.strip().removeprefix("@") for each in assignees],
        issue_type and issue_type.strip(),
    )


def _of_labels(labels: dict[str, list[str]]) -> Iterator[Fault]:
    for kind, names in labels.items():
        if kind not in KINDS:
            kinds = ", ".join(Report.Kind.values)
            yield Fault(("labels", kind), f"Must be one of {kinds}, or {EVERY_KIND} for all.")
            continue
        yield from _of_list(names, ("labels", kind), "label", most=LABELS)
        for place, name in enumerate(names[:LABELS]):
            problem = _problem(name, "label", LONGEST_LABEL) if name else "Must not be empty."
            if not problem and "," in name:
                problem = f"The label {name} has a comma, which separates labels."
            if problem:
                yield Fault(("labels", kind, place), problem)


def _of_assignees(logins: list[str]) -> Iterator[Fault]:
    yield from _of_list(logins, ("assignees",), "login", most=ASSIGNEES)
    for place, login in enumerate(logins[:ASSIGNEES]):
        if len(login) > LONGEST_LOGIN or not _LOGIN.fullmatch(login):
            message = f"{_shown(login)!r} is not the login of a person on GitHub."
            yield Fault(("assignees", place), message)


def _of_list(names: list[str], where: Sequence[Any], what: str, *, most: int) -> Iterator[Fault]:
    """Too many of them, or one twice."""
    if len(names) > most:
        yield Fault(tuple(where), f"Must have at most {most} items.")
    seen: dict[str, str] = {}
    for place, name in enumerate(names[:most]):
        if before := seen.get(key(name)):
            message = (
                f"{_shown(before)} and {_shown(name)} are the same {what} on GitHub. Keep one."
            )
            yield Fault((*where, place), message)
        seen[key(name)] = name


def _problem(name: str, what: str, longest: int) -> str:
    """What is wrong with a name, as a sentence; empty if nothing is."""
    if len(name) > longest:
        return f"The {what} {_shown(name)} has {len(name):,} characters. Shorten it to {longest}."
    if not name.replace(PART_OF_EMOJI, "").isprintable():
        return "Must not contain control characters or other invisible ones."
    return ""


def _shown(name: str) -> str:
    return name if len(name) <= SHOWN else f"{name[:SHOWN]}…"
