"""Opening an issue with one POST, and closing it."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from django.conf import settings

from core import deadlines
from integrations.github_api import dressing as dressings
from integrations.github_api import tokens
from integrations.github_api.answers import (
    GitHubAnswer,
    limit_left,
    making_sense,
    raise_for_limit,
)
from integrations.github_api.errors import (
    Blocked,
    Gone,
    Locked,
    OutcomeUnknown,
    Refused,
    TimedOut,
    Unreachable,
)
from integrations.github_api.transport import ask, bounded_by, never_connected, request, with_token
from integrations.models import Repository
from integrations.models.dressing import Dressing

NOTHING_MORE = Dressing()


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
    gate = deadlines.Gate(deadline)
    create = partial(_create, repository, title, body, dressing, gate)
    try:
        return bounded_by(create, deadline=deadline)
    except TimedOut:
        gate.close()
        if gate.passed:
            raise OutcomeUnknown("GitHub took too long to answer.") from None
        raise


def close_issue(repository: Repository, number: int, *, deadline: float) -> None:
    """Close an issue as completed. One that is closed already stays as it is."""
    with making_sense():
        bounded_by(partial(_close, repository, number), deadline=deadline)


def _create(
    repository: Repository, title: str, body: str, dressing: Dressing, gate: deadlines.Gate
) -> Issue:
    def post_once(dressed: Dressing) -> GitHubAnswer:
        token = tokens.of(repository)
        gate.go_through()
        return _post(repository, token, {"title": title, "body": body, **dressings.fields(dressed)})

    def post(dressed: Dressing) -> GitHubAnswer:
        answer = post_once(dressed)
        if answer.status == 401:  # revoked early; a new one tells whether we are locked out
            tokens.forget(repository)
            answer = post_once(dressed)
        return answer

    answer = _taken_at_last(post, dressing)
    issue = _made(answer, repository)
    return issue._replace(lacks=dressing.minus(dressings.taken(answer.body)))


def _taken_at_last(post: Callable[[Dressing], GitHubAnswer], dressing: Dressing) -> GitHubAnswer:
    """GitHub's answer, without what it refuses. A refusal has made nothing.

    First without those that it names, then without all such as them, at last without anything.
    """
    asked, answer = dressing, post(dressing)
    for left_out in (lambda refused: refused, dressing.only, lambda _: dressing):
        refused = dressings.refused(answer, asked)
        if not refused:
            break
        asked = asked.minus(left_out(refused))
        answer = post(asked)
    return answer


def _post(repository: Repository, token: str, sent: dict[str, Any]) -> GitHubAnswer:
    path = f"/repositories/{repository.id}/issues"
    auth = with_token(token)
    try:
        return request(auth, "POST", path, input=sent)
    except Exception as error:  # after the first byte, the issue may have been created
        if never_connected(error):
            raise Unreachable("GitHub could not be reached.") from error
        raise OutcomeUnknown("The connection to GitHub was lost before it answered.") from error


def _made(answer: GitHubAnswer, repository: Repository) -> Issue:
    """The issue in GitHub's answer to the POST, or the error that it means."""
    if (
        answer.status == 201
        and isinstance(answer.body, dict)
        and type(answer.body.get("number")) is int
    ):
        number = answer.body["number"]
        url = answer.body.get("html_url")
        url = url or f"{settings.HUB_GITHUB_URL}/{repository.name}/issues/{number}"
        return Issue(number, url, limit_left(answer))
    raise_for_refusal(answer, repository)
    raise OutcomeUnknown(f"GitHub answered {answer.status} without an issue.")


def _close(repository: Repository, number: int) -> None:
    answer = _patch(repository, number)
    if answer.status == 401:
        tokens.forget(repository)
        answer = _patch(repository, number)
    if answer.status == 200:
        return
    raise_for_refusal(answer, repository)
    raise Unreachable(f"GitHub answered {answer.status} when asked to close the issue.")


def _patch(repository: Repository, number: int) -> GitHubAnswer:
    """https://docs.github.com/en/rest/issues/issues (update an issue)"""
    path = f"/repositories/{repository.id}/issues/{number}"
    closed = {"state": "closed", "state_reason": "completed"}
    return ask(with_token(tokens.of(repository)), "PATCH", path, input=closed)


def raise_for_refusal(answer: GitHubAnswer, repository: Repository, *, what: str = "issue") -> None:
    """Raise the error that a 4xx means; other statuses say nothing about a refusal."""
    raise_for_limit(answer)
    match answer.status:
        case 401:
            raise Blocked(f"GitHub does not accept the app's token for {repository.name}.")
        case 403 if "issue is locked" in answer.message.lower():
            raise Locked(
                "The issue is locked. Unlock it, and the Hub comments on it within an hour."
            )
        case 403 if "archived" in answer.message.lower():
            raise Blocked(f"{repository.name} is archived. Unarchive it, then press Try again.")
        case 403:
            raise Blocked(
                f"The app may not write issues in {repository.name}. Give it the permission Issues: "
                "read and write, then press Try again."
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
