"""Comments on the Hub's own issues: writing one with one POST, finding it again, editing it."""

from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from django.conf import settings

from core import told
from integrations.github_api import shapes
from integrations.github_api.answers import (
    GitHubAnswer,
    limit_left,
    making_sense,
    require_same_time,
)
from integrations.github_api.errors import OutcomeUnknown, ReadOn, TimedOut, Unreachable
from integrations.github_api.issues import raise_for_refusal
from integrations.github_api.looking import PAGE_SIZE, is_ours
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


class _Place(NamedTuple):
    """A place in the list of comments on an issue, which is in the order of their ids."""

    page: int = 1  # to be read next
    last: int = 0  # the greatest id that was read
    is_sure: bool = True  # that all before this page were read

    def after(self, ids: list[int]) -> "_Place":
        """The next one, after a page with these. If it begins too late, the page before it."""
        if not self.is_sure and self.page > 1 and (not ids or ids[0] > self.last):
            return self._replace(page=self.page - 1)
        return _Place(self.page + 1, max([self.last, *ids]))

    def later(self) -> "_Place":
        """Where to read on later: once more the page before it, since what is deleted meanwhile moves the others."""
        return self._replace(page=max(1, self.page - 1), is_sure=False)


MOST_READ = 1000  # issues whose places are remembered
_read: dict[tuple[int, int, str], _Place] = {}  # by repository, issue and marker, the latest last


def create_comment(
    repository: Repository, number: int, body: str, *, deadline: float
) -> IssueComment:
    """Comment on an issue with one POST. Raises `IssueGone` if there is none any more, as all of these."""
    path = f"/issues/{number}/comments"
    write = partial(post, repository, path, {"body": body})
    answer = once(write, deadline=deadline)
    if answer.status == 201 and isinstance(answer.body, dict) and told.is_id(answer.body.get("id")):
        said = answer.body.get("body")
        made = answer.body | {"body": said if isinstance(said, str) else ""}
        return _comment(made, repository, number, answer)
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
    ask = partial(asked, repository, "PATCH", path, fields={"body": body})
    answer = bounded_by(ask, deadline=deadline)
    return _there(answer, repository, number, comment_id, deadline)


def find_comment(
    repository: Repository,
    number: int,
    marker: str,
    *,
    since: datetime,
    now: datetime,
    deadline: float,
) -> IssueComment | None:
    """The app's own comment on an issue that contains `marker`, among all updated since then; `now` by that clock.

    GitHub keeps at most 2,500 comments on an issue. If it lists them too slowly for the deadline, raises `ReadOn`:
    how far they were read is kept in memory for the next call.
    """
    look = repository.id, number, marker
    begun = place = _read.get(look, _Place())
    while True:
        list_ = partial(_listed, repository, number, since, place.page)
        try:
            answer = bounded_by(list_, deadline=deadline)
        except TimedOut:
            if begun in (place, place.later()):
                raise
            raise ReadOn("There are many comments on the issue. The Hub reads on.") from None
        if answer.status != 200 or not isinstance(answer.body, list):
            _raise_why(answer, repository, number, deadline)
            raise Unreachable(f"GitHub answered {answer.status} when asked for comments.")
        with making_sense():
            ours = [each for each in answer.body if is_ours(each)]
            found = next((each for each in ours if marker in (each.get("body") or "")), None)
            following = place.after([each["id"] for each in answer.body])
            is_more = 'rel="next"' in answer.headers.get("link", "") or following.page < place.page
            if found or not is_more:
                _read.pop(look, None)
                if not found:
                    require_same_time(answer, now)
                return _comment(found, repository, number, answer) if found else None
        place = following
        _keep(look, place.later())


def forget_places() -> None:
    """Drop what was remembered of issues."""
    _read.clear()


def _keep(look: tuple[int, int, str], place: _Place) -> None:
    _read.pop(look, None)
    _read[look] = place
    for oldest in list(_read)[:-MOST_READ]:
        _read.pop(oldest, None)


def _there(
    answer: GitHubAnswer, repository: Repository, number: int, comment_id: int, deadline: float
) -> IssueComment | None:
    is_one = answer.status == 200 and isinstance(answer.body, dict)
    if is_one and answer.body.get("id") == comment_id:
        with making_sense():
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
    url = shapes.page(item.get("html_url")) or (
        f"{settings.HUB_GITHUB_URL}/{repository.name}/issues/{number}#issuecomment-{item['id']}"
    )
    comment_id, body = shapes.number(item["id"]), shapes.text(item.get("body"))
    return IssueComment(comment_id, url, body, limit_left(answer))
