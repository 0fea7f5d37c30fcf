"""Comments on the Hub's own issues: writing one with one POST, finding it again, editing it."""

from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from django.conf import settings

from integrations.github_api.answers import GitHubAnswer, limit_left, making_sense
from integrations.github_api.errors import OutcomeUnknown, TimedOut, Unfinished, Unreachable
from integrations.github_api.issues import raise_for_refusal
from integrations.github_api.looking import PAGE_SIZE, SECOND, is_ours, time_in
from integrations.github_api.reading import read_issue
from integrations.github_api.transport import bounded_by
from integrations.github_api.writing import asked, once, post
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
    """Comment on an issue with one POST. Raises `IssueGone` if there is none any more, as all of these."""
    path = f"/issues/{number}/comments"
    write = partial(post, repository, path, {"body": body})
    answer = once(write, deadline=deadline)
    if (
        answer.status == 201
        and isinstance(answer.body, dict)
        and type(answer.body.get("id")) is int
    ):
        return _comment(answer.body, repository, number, answer)
    _raise_why(answer, repository, number, deadline)
    raise OutcomeUnknown(f"GitHub answered {answer.status} without a comment.")


def read_comment(
    repository: Repository, number: int, comment_id: int, *, deadline: float
) -> IssueComment | None:
    """The comment with this id on an issue; None if somebody has deleted it."""
    ask = partial(asked, repository, "GET", f"/issues/comments/{comment_id}")
    answer = bounded_by(ask, deadline=deadline)
    return _there(answer, repository, number, comment_id, deadline)


def edit_comment(
    repository: Repository, number: int, comment_id: int, body: str, *, deadline: float
) -> IssueComment | None:
    """Write a comment anew; doing so twice changes nothing. None if somebody has deleted it."""
    path = f"/issues/comments/{comment_id}"
    ask = partial(asked, repository, "PATCH", path, input={"body": body})
    answer = bounded_by(ask, deadline=deadline)
    return _there(answer, repository, number, comment_id, deadline)


def find_comment(
    repository: Repository, number: int, marker: str, *, since: datetime, deadline: float
) -> IssueComment | None:
    """The app's own comment on an issue that contains `marker`, among all updated since then.

    They are listed by when they were written, so what was not read yet was written, and updated, after the last
    that was. Raises `Unfinished` from there on if GitHub lists too slowly for the deadline.
    """
    page, is_more, reached = 1, True, since
    while is_more:
        list_ = partial(_listed, repository, number, since, page)
        try:
            answer = bounded_by(list_, deadline=deadline)
        except TimedOut:
            if reached - since < SECOND:
                raise
            raise Unfinished(reached, "comments on the issue") from None
        if answer.status != 200 or not isinstance(answer.body, list):
            _raise_why(answer, repository, number, deadline)
            raise Unreachable(f"GitHub answered {answer.status} when asked for comments.")
        with making_sense():
            for item in filter(is_ours, answer.body):
                if marker in (item.get("body") or ""):
                    return _comment(item, repository, number, answer)
            for item in answer.body[-1:]:
                reached = max(reached, time_in(item, "created_at"))
        page, is_more = page + 1, 'rel="next"' in answer.headers.get("link", "")
    return None


def _there(
    answer: GitHubAnswer, repository: Repository, number: int, comment_id: int, deadline: float
) -> IssueComment | None:
    is_one = answer.status == 200 and isinstance(answer.body, dict)
    if is_one and answer.body.get("id") == comment_id:
        return _comment(answer.body, repository, number, answer)
    if answer.status == 404:
        read_issue(repository, number, deadline=deadline)
        return None
    _raise_why(answer, repository, number, deadline)
    raise Unreachable(f"GitHub answered {answer.status} when asked about a comment.")


def _raise_why(answer: GitHubAnswer, repository: Repository, number: int, deadline: float) -> None:
    """Raise the error that the answer means: perhaps nothing but the issue is gone, or it was moved."""
    if answer.status in (200, 301, 404, 410):
        read_issue(repository, number, deadline=deadline)
    raise_for_refusal(answer, repository, what="comment")


def _listed(repository: Repository, number: int, since: datetime, page: int) -> GitHubAnswer:
    parameters = {
        "since": since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "per_page": PAGE_SIZE,
        "page": page,
    }
    return asked(repository, "GET", f"/issues/{number}/comments", parameters=parameters)


def _comment(
    item: dict[str, Any], repository: Repository, number: int, answer: GitHubAnswer
) -> IssueComment:
    url = item.get("html_url") or (
        f"{settings.HUB_GITHUB_URL}/{repository.name}/issues/{number}#issuecomment-{item['id']}"
    )
    return IssueComment(item["id"], url, item.get("body") or "", limit_left(answer))
