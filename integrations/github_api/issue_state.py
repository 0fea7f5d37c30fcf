"""Whether an issue is open, and reopening it."""

from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from integrations.github_api import tokens
from integrations.github_api.answers import GitHubAnswer, making_sense
from integrations.github_api.errors import Blocked, IssueGone, Unreachable
from integrations.github_api.installations import repository_facts
from integrations.github_api.issues import raise_for_refusal
from integrations.github_api.transport import ask, bounded_by, with_token
from integrations.models import Repository


class IssueFacts(NamedTuple):
    """An issue as it is on GitHub now; `reason` is empty, or why it is closed."""

    is_open: bool
    reason: str
    closed_at: datetime | None
    updated_at: datetime | None
    is_locked: bool


def read_issue(repository: Repository, number: int, *, deadline: float) -> IssueFacts:
    """The issue as it is now. Raises `IssueGone` if it was deleted, or moved to another repository."""
    with making_sense():
        return bounded_by(partial(_read, repository, number), deadline=deadline)


def reopen_issue(repository: Repository, number: int, *, deadline: float) -> None:
    """Reopen an issue. One that is open stays as it is. Raises `IssueGone` as `read_issue` does."""
    with making_sense():
        bounded_by(partial(_reopen, repository, number), deadline=deadline)


def issue_facts(body: dict[str, Any]) -> IssueFacts:
    """From GitHub's JSON."""
    is_open = body["state"] == "open"
    return IssueFacts(
        is_open,
        "" if is_open else body.get("state_reason") or "",
        _time(body.get("closed_at")),
        _time(body.get("updated_at")),
        bool(body.get("locked")),
    )


def _read(repository: Repository, number: int) -> IssueFacts:
    answer = _ask(repository, "GET", f"/issues/{number}")
    return issue_facts(_issue(answer, repository, number))


def _reopen(repository: Repository, number: int) -> None:
    answer = _ask(repository, "PATCH", f"/issues/{number}", input={"state": "open"})
    _issue(answer, repository, number)


def _issue(answer: GitHubAnswer, repository: Repository, number: int) -> dict[str, Any]:
    """The issue in an answer, or the error that it means."""
    if answer.status == 200:
        if answer.body["number"] == number and _is_there(answer.body, repository):
            return answer.body
        raise IssueGone(f"Issue #{number} was moved out of {repository.name}.")
    if answer.status in (404, 410):
        _raise_unless_reached(repository)
        raise IssueGone(f"Issue #{number} of {repository.name} was deleted or moved.")
    raise_for_refusal(answer, repository)
    raise Unreachable(f"GitHub answered {answer.status} when asked for the issue.")


def _is_there(issue: dict[str, Any], repository: Repository) -> bool:
    """Whether the issue is in that repository: PyGithub goes along where one was moved.

    The repository may have been renamed, so it is asked for its name if that is another one.
    """
    name = "/".join(issue["repository_url"].split("/")[-2:]).lower()
    return name == repository.name.lower() or name == _raise_unless_reached(repository)


def _raise_unless_reached(repository: Repository) -> str:
    """The name of the repository; raises `Gone` or `Blocked` if nothing can be read there."""
    answer = _ask(repository, "GET", "")
    if answer.status != 200:
        raise_for_refusal(answer, repository)
        raise Unreachable(f"GitHub answered {answer.status} when asked for the repository.")
    facts = repository_facts(answer.body)
    if not facts.has_issues:
        raise Blocked(
            f"Issues are turned off in {repository.name}. Turn them on, then press Try again."
        )
    return facts.full_name.lower()


def _ask(repository: Repository, verb: str, path: str, **arguments: Any) -> GitHubAnswer:
    """A call with the repository's token, and with a new one if that is not accepted."""
    path = f"/repositories/{repository.id}{path}"
    answer = ask(with_token(tokens.of(repository)), verb, path, **arguments)
    if answer.status == 401:
        tokens.forget(repository)
        answer = ask(with_token(tokens.of(repository)), verb, path, **arguments)
    return answer


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise Unreachable("GitHub's response could not be understood.") from None
