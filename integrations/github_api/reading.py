"""Reading one issue, whether it is there, open, closed for which reason, or locked; and reopening it."""

from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from integrations.github_api import shapes
from integrations.github_api.answers import GitHubAnswer, making_sense
from integrations.github_api.errors import Forbidden, IssueGone, Locked, Unreachable
from integrations.github_api.issues import raise_for_refusal, repository_of, takes_issues
from integrations.github_api.transport import bounded_by
from integrations.github_api.writing import asked
from integrations.models import Repository

GONE = "Its issue is no longer in {}: it was deleted, or moved to another repository."


class IssueFacts(NamedTuple):
    """An issue as GitHub has it now; `reason`: why it is closed, such as `completed`, or empty."""

    state: str
    reason: str
    closed_at: datetime | None
    is_locked: bool
    updated_at: datetime | None = None


def read_issue(repository: Repository, number: int, *, deadline: float) -> IssueFacts:
    """An issue. Raises `IssueGone` if it was deleted or transferred, and `Blocked` if GitHub shows no issues there.

    Raises `Locked` if GitHub refuses what is asked about this one alone.
    """
    with making_sense():
        return bounded_by(partial(_read, repository, number), deadline=deadline)


def reopen_issue(repository: Repository, number: int, *, deadline: float) -> IssueFacts:
    """Reopen an issue. One that is open stays as it is. Raises what `read_issue` does."""
    with making_sense():
        return bounded_by(partial(_reopen, repository, number), deadline=deadline)


def _read(repository: Repository, number: int) -> IssueFacts:
    return _told(repository, number, asked(repository, "GET", f"/issues/{number}"))


def _reopen(repository: Repository, number: int) -> IssueFacts:
    wish = {"state": "open"}
    return _told(repository, number, asked(repository, "PATCH", f"/issues/{number}", fields=wish))


def _told(repository: Repository, number: int, answer: GitHubAnswer) -> IssueFacts:
    if answer.status == 200 and _is_there(repository, number, answer.body):
        return facts_of(answer.body)
    if answer.status in (200, 301, 404, 410):
        _raise_why(answer, repository)
    try:
        raise_for_refusal(answer, repository)
    except Forbidden:
        if takes_issues(repository):
            why = answer.reason.rstrip(".")
            raise Locked(
                f"GitHub refuses what is asked about this issue, and says: {why}."
            ) from None
        raise
    raise Unreachable(f"GitHub answered {answer.status} when asked for the issue.")


def _is_there(repository: Repository, number: int, item: dict[str, Any]) -> bool:
    """Whether that is the issue asked for: what was transferred is answered with what it is elsewhere."""
    if item["number"] != number:
        return False
    where = item["repository_url"].lower()
    if where.endswith(f"/repos/{repository.name}".lower()):
        return True
    return bool(where == repository_of(repository).body["url"].lower())  # it may have been renamed


def _raise_why(answer: GitHubAnswer, repository: Repository) -> None:
    """The issue is gone if its repository is there and has issues; otherwise that is the reason."""
    around = repository_of(repository)
    if around.body["has_issues"]:
        raise IssueGone(GONE.format(repository.name))
    raise_for_refusal(answer, repository)


def facts_of(item: dict[str, Any]) -> IssueFacts:
    """What GitHub's JSON says of an issue."""
    is_open = item["state"] == "open"
    return IssueFacts(
        shapes.name(item["state"]),
        "" if is_open or not item.get("state_reason") else shapes.name(item["state_reason"]),
        _time(item.get("closed_at")),
        bool(item.get("locked")),
        _time(item.get("updated_at")),
    )


def _time(text: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text).astimezone(UTC) if text is not None else None
    except (ValueError, OverflowError):
        raise Unreachable("GitHub's response could not be understood.") from None
