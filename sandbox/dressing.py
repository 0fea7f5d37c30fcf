"""Labels, assignees and the type of a new issue, as GitHub takes, creates, drops and refuses them."""

from dataclasses import dataclass, field
from typing import Any

from .messages import ApiError
from .records import Issue, Repository
from .state import State

LONGEST_LABEL, MOST_LABELS = 50, 100


@dataclass(frozen=True)
class Dressing:
    """What was asked for, and is valid."""

    labels: list[str] = field(default_factory=list)
    assignees: list[str] = field(default_factory=list)
    type: str | None = None


def asked(state: State, repository: Repository, sent: dict[str, Any]) -> Dressing:
    """What an issue is to get, without what the host drops; else 422, with an error for each."""
    wanted = {name: value for name, value in sent.items() if name not in state.drops}
    labels = [
        each["name"] if isinstance(each, dict) else each for each in wanted.get("labels") or []
    ]
    assignees, kind = wanted.get("assignees") or [], wanted.get("type")
    problems = [
        *(_invalid("Label", "name", each) for each in labels if not _is_label(each)),
        *(
            _invalid("Issue", "assignees", each)
            for each in assignees
            if not is_assignable(state, repository, each)
        ),
    ]
    types = {each.lower(): each for each in repository.owner.issue_types}
    if kind is not None and str(kind).lower() not in types:
        problems.append(_invalid("Issue", "type", kind))
    if problems:
        raise ApiError(422, "Validation Failed", errors=problems)
    if len(labels) > MOST_LABELS:
        raise ApiError(422, f"Validation Failed. Issues cannot have more than {MOST_LABELS} labels")
    logins = [state.account(each).login for each in assignees]
    return Dressing(labels, logins, types[kind.lower()] if kind else None)


def put_on(issue: Issue, dressing: Dressing) -> None:
    """Give it to a new issue; labels that the repository does not have are created."""
    known = {each.lower(): each for each in issue.repository.labels}
    for name in dressing.labels:
        if name.lower() not in known:
            known[name.lower()] = name
            issue.repository.labels.append(name)
    issue.labels = list(dict.fromkeys(known[name.lower()] for name in dressing.labels))
    issue.assignees = list(dict.fromkeys(dressing.assignees))
    issue.type = dressing.type


def _is_label(name: Any) -> bool:
    return isinstance(name, str) and bool(name.strip()) and len(name) <= LONGEST_LABEL


def is_assignable(state: State, repository: Repository, login: Any) -> bool:
    """Whether an issue of the repository can be assigned to this login."""
    account = state.accounts.get(str(login).lower())
    return bool(account and account.type == "User" and repository.role_of(account.login))


def _invalid(resource: str, field: str, value: Any) -> dict[str, Any]:
    return {"value": value, "resource": resource, "field": field, "code": "invalid"}
