"""Opening an issue with one POST, and closing it."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from django.conf import settings

from core import deadlines, told
from integrations.github_api import dressing as dressings
from integrations.github_api import shapes
from integrations.github_api.answers import (
    GitHubAnswer,
    limit_left,
    making_sense,
    raise_for_limit,
)
from integrations.github_api.errors import (
    IS_LOCKED,
    Blocked,
    Forbidden,
    GitHubError,
    Gone,
    Locked,
    OutcomeUnknown,
    Refused,
    RefusedText,
    Unreachable,
)
from integrations.github_api.transport import bounded_by
from integrations.github_api.writing import asked, once, post
from integrations.models import Repository
from integrations.models.dressing import Dressing

NOTHING_MORE = Dressing()
ARCHIVED = (
    " is archived. Unarchive it, then press Try again."  # how that problem of a repository ends
)
NO_PERMISSION = "resource not accessible by integration"


class Issue(NamedTuple):
    """Where the issue is; `limit_left`: the GitHub calls left this hour, if known.

    `lacks`: what it should have got and has not.
    """

    number: int
    url: str
    limit_left: int | None = None
    lacks: Dressing = NOTHING_MORE


def create_issue(
    repository: Repository,
    title: str,
    body: str,
    *,
    deadline: float,
    dressing: Dressing = NOTHING_MORE,
) -> Issue:
    """Open an issue with one POST and return where it is.

    If GitHub refuses it for a label, an assignee or its type, it is posted again without that.
    """
    create = partial(_create, repository, {"title": title, "body": body}, dressing)
    return once(create, deadline=deadline)


def close_issue(repository: Repository, number: int, *, deadline: float) -> None:
    """Close an issue as completed. One that is closed already stays as it is."""
    with making_sense():
        bounded_by(partial(_close, repository, number), deadline=deadline)


def _create(
    repository: Repository, text: dict[str, str], dressing: Dressing, gate: deadlines.Gate
) -> Issue:
    def send(dressed: Dressing) -> GitHubAnswer:
        answer = post(repository, "/issues", text | dressings.fields(dressed), gate)
        raise_for_limit(answer)  # first: a 422 may be one, and is then about no label
        return answer

    answer = _taken_at_last(send, dressing)
    issue = _made(answer, repository)
    return issue._replace(lacks=dressing.minus(dressings.taken(answer.body)))


def _taken_at_last(send: Callable[[Dressing], GitHubAnswer], dressing: Dressing) -> GitHubAnswer:
    """GitHub's answer, without what it refuses. A refusal has made nothing.

    First without those that it names, then without all such as them, at last without anything.
    """
    left, answer = dressing, send(dressing)
    for left_out in (lambda refused: refused, dressing.only, lambda _: dressing):
        refused = dressings.refused(answer, left)
        if not refused:
            break
        left = left.minus(left_out(refused))
        answer = send(left)
    return answer


def _made(answer: GitHubAnswer, repository: Repository) -> Issue:
    """The issue in GitHub's answer to the POST, or the error that it means."""
    if (
        answer.status == 201
        and isinstance(answer.body, dict)
        and told.is_id(answer.body.get("number"))
    ):
        number = answer.body["number"]
        url = shapes.page(answer.body.get("html_url"))
        url = url or f"{settings.HUB_GITHUB_URL}/{repository.name}/issues/{number}"
        return Issue(number, url, limit_left(answer))
    try:
        raise_for_refusal(answer, repository)
    except Forbidden:
        if takes_issues(repository):
            why = answer.reason.rstrip(".")
            raise RefusedText(f"GitHub refuses this issue, and says: {why}.") from None
        raise
    raise OutcomeUnknown(f"GitHub answered {answer.status} without an issue.")


def takes_issues(repository: Repository) -> bool:
    """Whether GitHub says so, so that a refusal is about what was sent: not if it says nothing now."""
    try:
        with making_sense():
            there = repository_of(repository).body
            return there["has_issues"] is True and there["archived"] is False
    except GitHubError:
        return False


def repository_of(repository: Repository) -> GitHubAnswer:
    """What GitHub says of the repository."""
    answer = asked(repository, "GET", "")
    if answer.status == 200:
        return answer
    raise_for_refusal(answer, repository)
    raise Unreachable(f"GitHub answered {answer.status} when asked for the repository.")


def _close(repository: Repository, number: int) -> None:
    """https://docs.github.com/en/rest/issues/issues (update an issue)"""
    closed = {"state": "closed", "state_reason": "completed"}
    answer = asked(repository, "PATCH", f"/issues/{number}", fields=closed)
    if answer.status == 200:
        return
    raise_for_refusal(answer, repository)
    raise Unreachable(f"GitHub answered {answer.status} when asked to close the issue.")


def raise_for_refusal(answer: GitHubAnswer, repository: Repository, *, what: str = "issue") -> None:
    """Raise the error that a 4xx means; other statuses say nothing about a refusal."""
    raise_for_limit(answer)
    match answer.status:
        case 401:
            raise Blocked(f"GitHub does not accept the app's token for {repository.name}.")
        case 403 if "issue is locked" in answer.message.lower():
            raise Locked(IS_LOCKED)
        case 403 if "archived" in answer.message.lower():
            raise Blocked(f"{repository.name}{ARCHIVED}")
        case 403 if what == "comment" and NO_PERMISSION not in answer.message.lower():
            raise Locked(f"GitHub takes no comment on the issue now: {answer.reason.rstrip('.')}.")
        case 403 if not answer.message or NO_PERMISSION in answer.message.lower():
            raise Blocked(
                f"The app may not write issues in {repository.name}. Give it the permission Issues: "
                "read and write, then press Try again."
            )
        case 403 | 451:  # such as for the list of IP addresses that an organization allows
            raise Forbidden(
                f"GitHub refuses issues in {repository.name}: {answer.summary.rstrip('.')}. Change that, "
                "then press Try again."
            )
        case 404:
            raise Gone(
                f"The app can't see {repository.name}. Give it access on GitHub, or choose another "
                "repository."
            )
        case 410:
            raise Blocked(
                f"Issues are turned off in {repository.name}. Turn them on, then press Try again."
            )
        case status if 400 <= status < 500:
            raise Refused(f"GitHub refused the {what}: {answer.reason}.")
