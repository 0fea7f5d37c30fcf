"""Labels, assignees and type of a new issue: as GitHub is asked for them, takes them, or refuses them.

GitHub creates the labels that do not exist. What it does not take, it drops, or it refuses the whole issue:
https://docs.github.com/en/rest/issues/issues (create an issue)
"""

from collections.abc import Iterable, Iterator
from typing import Any

from integrations.github_api.answers import GitHubAnswer
from integrations.models.dressing import Dressing, key

MOST_ERRORS = 200  # of one answer
OF_ITS_TEXT = ("title", "body")


def fields(dressing: Dressing) -> dict[str, Any]:
    """The fields of the POST; none for what was not chosen."""
    chosen = {
        "labels": list(dressing.labels),
        "assignees": list(dressing.assignees),
        "type": dressing.type,
    }
    return {name: value for name, value in chosen.items() if value}


def taken(issue: dict[str, Any]) -> Dressing:
    """What the issue in GitHub's answer has."""
    kind = issue.get("type")
    name = kind.get("name") if isinstance(kind, dict) else kind
    return Dressing(
        _names(issue.get("labels"), "name"),
        _names(issue.get("assignees"), "login"),
        name if isinstance(name, str) else "",
    )


def refused(answer: GitHubAnswer, asked: Dressing) -> Dressing:
    """What of it GitHub refused the issue for, as far as it says; nothing if that was something else.

    A 422 that does not say is about all of it; a 403 is about the app, unless it says otherwise.
    """
    if answer.status not in (403, 422) or not asked:
        return Dressing()
    errors = answer.body.get("errors") if isinstance(answer.body, dict) else None
    listed = errors[:MOST_ERRORS] if isinstance(errors, list) else []
    about = [_about(each, asked) for each in listed if not _is_of_its_text(each)]
    if answer.status == 422 and (None in about or not listed):
        return asked
    return _together(each for each in about if each)


def _is_of_its_text(error: Any) -> bool:
    return isinstance(error, dict) and error.get("field") in OF_ITS_TEXT


def _about(error: Any, asked: Dressing) -> Dressing | None:
    """What an error such as `{resource: Issue, field: assignees, value: alice}` is about; None if unclear."""
    if not isinstance(error, dict):
        return None
    where = f"{error.get('resource')} {error.get('field')}".lower()
    named = {key(each) for each in _texts(error.get("value"))}
    if "label" in where:
        return Dressing(labels=_those(asked.labels, named))
    if "assignee" in where:
        return Dressing(assignees=_those(asked.assignees, named))
    return Dressing(type=asked.type) if "type" in where else None


def _those(mine: tuple[str, ...], named: set[str]) -> tuple[str, ...]:
    """Those that are named; all if none of them is."""
    return tuple(each for each in mine if key(each) in named) or mine


def _together(parts: Iterable[Dressing]) -> Dressing:
    several = list(parts)
    return Dressing(
        tuple({name: None for each in several for name in each.labels}),
        tuple({name: None for each in several for name in each.assignees}),
        max((each.type for each in several), default=""),
    )


def _texts(value: Any) -> Iterator[str]:
    """A text, or those in a list."""
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, str):
            yield each


def _names(found: Any, key: str) -> tuple[str, ...]:
    """The names in a list, where each is an object with this key, or the name itself."""
    listed = found if isinstance(found, list) else []
    return tuple(_texts([each.get(key) if isinstance(each, dict) else each for each in listed]))
