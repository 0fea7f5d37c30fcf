"""Opening an issue with one POST, and closing it."""

from functools import partial
from typing import NamedTuple

from django.conf import settings

from core import deadlines
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


class Issue(NamedTuple):
    """Where the issue is; `limit_left`: the GitHub calls left this hour, if known."""

    number: int
    url: str
    limit_left: int | None = None


def create_issue(repository: Repository, title: str, body: str, *, deadline: float) -> Issue:
    """Open an issue with one POST and return where it is."""
    gate = deadlines.Gate(deadline)
    try:
        return bounded_by(partial(_create, repository, title, body, gate), deadline=deadline)
    except TimedOut:
        gate.close()
        if gate.passed:
            raise OutcomeUnknown("GitHub took too long to answer.") from None
        raise


def close_issue(repository: Repository, number: int, *, deadline: float) -> None:
    """Close an issue as completed. One that is closed already stays as it is."""
    with making_sense():
        bounded_by(partial(_close, repository, number), deadline=deadline)


def _create(repository: Repository, title: str, body: str, gate: deadlines.Gate) -> Issue:
    def post() -> GitHubAnswer:
        token = tokens.of(repository)
        gate.go_through()
        return _post(repository, token, title, body)

    answer = post()
    if answer.status == 401:  # revoked early; a new one tells whether we are locked out
        tokens.forget(repository)
        answer = post()
    return _made(answer, repository)


def _post(repository: Repository, token: str, title: str, body: str) -> GitHubAnswer:
    path = f"/repositories/{repository.id}/issues"
    auth = with_token(token)
    try:
        return request(auth, "POST", path, input={"title": title, "body": body})
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
