"""Opening an issue with one POST, finding it again if there was no answer, and closing it."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

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
    OutcomeUnknown,
    Refused,
    TimedOut,
    Unfinished,
    Unreachable,
)
from integrations.github_api.transport import ask, bounded_by, never_connected, request, with_token
from integrations.models import Repository

PAGE_SIZE = 100
SECOND = timedelta(seconds=1)  # as exactly as GitHub tells when an issue was updated


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


def find_issue(
    repository: Repository, marker: str, *, since: datetime, deadline: float
) -> Issue | None:
    """The app's own issue that contains `marker`, among all issues updated since then.

    Raises `Unfinished` if there are more of them than can be read until the deadline.
    """
    if not (settings.HUB_GITHUB_APP_SLUG or settings.HUB_GITHUB_APP_ID):
        raise Unreachable(
            "The Hub's GitHub App is not configured. An operator of this Hub has to fix this."
        )
    look = _Look(repository, marker, since)
    with making_sense():
        try:
            return bounded_by(partial(look.through, deadline), deadline=deadline)
        except TimedOut:
            if look.since - since < SECOND:
                raise
            raise Unfinished(look.since) from None


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
    _raise_for_refusal(answer, repository)
    raise OutcomeUnknown(f"GitHub answered {answer.status} without an issue.")


def _close(repository: Repository, number: int) -> None:
    answer = _patch(repository, number)
    if answer.status == 401:
        tokens.forget(repository)
        answer = _patch(repository, number)
    if answer.status == 200:
        return
    _raise_for_refusal(answer, repository)
    raise Unreachable(f"GitHub answered {answer.status} when asked to close the issue.")


def _patch(repository: Repository, number: int) -> GitHubAnswer:
    """https://docs.github.com/en/rest/issues/issues (update an issue)"""
    path = f"/repositories/{repository.id}/issues/{number}"
    closed = {"state": "closed", "state_reason": "completed"}
    return ask(with_token(tokens.of(repository)), "PATCH", path, input=closed)


def _is_ours(item: dict[str, Any]) -> bool:
    """Whether the app's own account wrote it: markers by others do not count.

    The login changes with the app's name, so a bot with the app's id counts as well.
    """
    user, app = item.get("user") or {}, item.get("performed_via_github_app") or {}
    if settings.HUB_GITHUB_APP_ID and str(app.get("id")) == settings.HUB_GITHUB_APP_ID:
        return user.get("type") == "Bot"
    login = f"{settings.HUB_GITHUB_APP_SLUG}[bot]"
    return user.get("login", "").lower() == login.lower()


@dataclass
class _Look:
    """A look through the issues in the order of their last update, which moves `since` on.

    What is updated meanwhile comes up again at the end, so nothing is missed between two pages, and a
    later look may begin where this one ended.
    """

    repository: Repository
    marker: str
    since: datetime
    page: int = 1  # of those updated since then

    def through(self, deadline: float) -> Issue | None:
        """The issue with the marker; None if there is none."""
        while True:
            answer = self._read()
            for item in answer.body:
                if _is_ours(item) and self.marker in (item.get("body") or ""):
                    return Issue(item["number"], item["html_url"])
            if 'rel="next"' not in answer.headers.get("link", ""):
                return None
            self._go_on_after(answer.body)
            if time.monotonic() >= deadline:
                raise deadlines.TooLate

    def _read(self) -> GitHubAnswer:
        parameters = {
            "state": "all",
            "since": self.since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "sort": "updated",
            "direction": "asc",
            "per_page": PAGE_SIZE,
            "page": self.page,
        }
        return _get(self.repository, f"/repositories/{self.repository.id}/issues", parameters)

    def _go_on_after(self, items: list[dict[str, Any]]) -> None:
        """Begin at the last update that was read, or with the next page if all are of one second."""
        last = max(map(_updated_at, items), default=self.since)
        if last - SECOND > self.since:
            self.since, self.page = last - SECOND, 1
        else:
            self.page += 1


def _updated_at(item: dict[str, Any]) -> datetime:
    try:
        return datetime.fromisoformat(item["updated_at"])
    except ValueError:
        raise Unreachable("GitHub's response could not be understood.") from None


def _get(repository: Repository, path: str, parameters: dict[str, Any]) -> GitHubAnswer:
    """A list, read with the repository's token."""
    answer = ask(with_token(tokens.of(repository)), "GET", path, parameters=parameters)
    if answer.status == 401:
        tokens.forget(repository)
        answer = ask(with_token(tokens.of(repository)), "GET", path, parameters=parameters)
    if answer.status == 200 and isinstance(answer.body, list):
        return answer
    _raise_for_refusal(answer, repository)
    raise Unreachable(f"GitHub answered {answer.status} when asked for issues.")


def _raise_for_refusal(answer: GitHubAnswer, repository: Repository) -> None:
    """Raise the error that a 4xx means; other statuses say nothing about a refusal."""
    raise_for_limit(answer)
    match answer.status:
        case 401:
            raise Blocked(f"GitHub does not accept the app's token for {repository.name}.")
        case 403 if "archived" in answer.message.lower():
            raise Blocked(f"{repository.name} is archived. Unarchive it, then press Try again.")
        case 403:
            raise Blocked(
                f"The app may not write issues in {repository.name}. Give it the permission Issues: "
                "read and write, then press Try again."
            )
        case 404:
            raise Blocked(
                f"The app can't see {repository.name}. Give it access on GitHub, or choose another "
                "repository."
            )
        case 410:
            raise Blocked(
                f"Issues are turned off in {repository.name}. Turn them on, then press Try again."
            )
        case status if 400 <= status < 500:
            raise Refused(f"GitHub refused the issue: {answer.reason}.")
