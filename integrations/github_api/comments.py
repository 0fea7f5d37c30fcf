"""Comments on the Hub's own issues: writing one with one POST, finding it again, editing it."""

import time
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from django.conf import settings

from core import deadlines
from integrations.github_api.answers import GitHubAnswer, limit_left, making_sense
from integrations.github_api.errors import OutcomeUnknown, Unreachable
from integrations.github_api.issues import raise_for_refusal
from integrations.github_api.looking import PAGE_SIZE, is_ours
from integrations.github_api.transport import bounded_by
from integrations.github_api.writing import asked, posted
from integrations.models import Repository


class IssueComment(NamedTuple):
    """A comment as GitHub has it; `limit_left`: the GitHub calls left this hour, if known."""

    id: int
    url: str
    body: str
    limit_left: int | None = None


def create_comment(
    repository: Repository, number: int, body: str, *, deadline: float
) -> IssueComment:
    """Comment on an issue with one POST."""
    path = f"/issues/{number}/comments"
    answer = posted(repository, path, {"body": body}, deadline=deadline)
    if (
        answer.status == 201
        and isinstance(answer.body, dict)
        and type(answer.body.get("id")) is int
    ):
        return _comment(answer.body, repository, number, answer)
    raise_for_refusal(answer, repository, what="comment")
    raise OutcomeUnknown(f"GitHub answered {answer.status} without a comment.")


def read_comment(
    repository: Repository, number: int, comment_id: int, *, deadline: float
) -> IssueComment | None:
    """The comment with this id on an issue; None if GitHub has none."""
    with making_sense():
        return bounded_by(partial(_read, repository, number, comment_id), deadline=deadline)


def edit_comment(
    repository: Repository, number: int, comment_id: int, body: str, *, deadline: float
) -> IssueComment:
    """Write a comment anew; doing so twice changes nothing."""
    with making_sense():
        return bounded_by(partial(_edit, repository, number, comment_id, body), deadline=deadline)


def find_comment(
    repository: Repository, number: int, marker: str, *, since: datetime, deadline: float
) -> IssueComment | None:
    """The app's own comment on an issue that contains `marker`, among all updated since then.

    GitHub keeps at most 2,500 comments on an issue, so there is time for all of them.
    """
    with making_sense():
        find = partial(_find, repository, number, marker, since, deadline)
        return bounded_by(find, deadline=deadline)


def _read(repository: Repository, number: int, comment_id: int) -> IssueComment | None:
    answer = asked(repository, "GET", f"/issues/comments/{comment_id}")
    if answer.status == 404:
        return None
    return _comment_in(answer, repository, number)


def _edit(repository: Repository, number: int, comment_id: int, body: str) -> IssueComment:
    answer = asked(repository, "PATCH", f"/issues/comments/{comment_id}", input={"body": body})
    return _comment_in(answer, repository, number)


def _comment_in(answer: GitHubAnswer, repository: Repository, number: int) -> IssueComment:
    if answer.status == 200:
        return _comment(answer.body, repository, number, answer)
    raise_for_refusal(answer, repository, what="comment")
    raise Unreachable(f"GitHub answered {answer.status} when asked about a comment.")


def _find(
    repository: Repository, number: int, marker: str, since: datetime, deadline: float
) -> IssueComment | None:
    page, is_more = 1, True
    while is_more:
        if time.monotonic() >= deadline:
            raise deadlines.TooLate
        answer = _listed(repository, number, since, page)
        for item in filter(is_ours, answer.body):
            if marker in (item.get("body") or ""):
                return _comment(item, repository, number, answer)
        page, is_more = page + 1, 'rel="next"' in answer.headers.get("link", "")
    return None


def _listed(repository: Repository, number: int, since: datetime, page: int) -> GitHubAnswer:
    parameters = {
        "since": since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "per_page": PAGE_SIZE,
        "page": page,
    }
    answer = asked(repository, "GET", f"/issues/{number}/comments", parameters=parameters)
    if answer.status == 200 and isinstance(answer.body, list):
        return answer
    raise_for_refusal(answer, repository, what="comment")
    raise Unreachable(f"GitHub answered {answer.status} when asked for comments.")


def _comment(
    item: dict[str, Any], repository: Repository, number: int, answer: GitHubAnswer
) -> IssueComment:
    url = item.get("html_url") or (
        f"{settings.HUB_GITHUB_URL}/{repository.name}/issues/{number}#issuecomment-{item['id']}"
    )
    return IssueComment(item["id"], url, item.get("body") or "", limit_left(answer))
