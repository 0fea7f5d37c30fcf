"""Finding an issue again of which GitHub has said nothing, by its mark."""

import re
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

from django.conf import settings

from core import deadlines, told
from integrations.github_api import shapes
from integrations.github_api.answers import GitHubAnswer, date, making_sense, require_same_time
from integrations.github_api.errors import TimedOut, Unfinished, Unreachable
from integrations.github_api.issues import Issue, raise_for_refusal
from integrations.github_api.transport import bounded_by
from integrations.github_api.writing import asked
from integrations.models import Repository
from integrations.models.delivery import SETTLE

PAGE_SIZE = 100
SECOND = timedelta(seconds=1)  # as exactly as GitHub tells when an issue was updated
MARK = re.compile(r"<!-- hub:\w{1,40} -->")
MOST_ISSUES = 5000  # of one repository that are remembered
MOST_REPOSITORIES = 20


class _Read(NamedTuple):
    """Our issues in a repository by their marks, all that were updated from `since` to `until`."""

    since: datetime
    until: datetime
    issues: dict[str, Issue]

    def leads_on_from(self, time: datetime) -> bool:
        """Whether a look at all that was updated since this time may begin where it ended."""
        return self.since <= time <= self.until


_read: dict[int, _Read] = {}  # by the id of the repository, the latest last


def forget_read() -> None:
    """Drop what was remembered of repositories."""
    _read.clear()


def find_issue(
    repository: Repository,
    marker: str,
    *,
    since: datetime,
    now: datetime,
    deadline: float,
    remembers: bool = False,
) -> Issue | None:
    """The app's own issue that contains `marker`, among all issues updated since then; `now` by the same clock.

    With `remembers`, what was read is kept in memory for the next look in the same repository: after a
    restored backup there are many. Raises `Unfinished` if there are more than can be read until the deadline.
    """
    if not (settings.HUB_GITHUB_APP_SLUG or settings.HUB_GITHUB_APP_ID):
        raise Unreachable(
            "The Hub's GitHub App is not configured. An operator of this Hub has to fix this."
        )
    look = _Look(repository, marker, since, now, remembers)
    with making_sense():
        try:
            return bounded_by(partial(look.through, deadline), deadline=deadline)
        except TimedOut:
            reached = look.reached  # first: what was found until there is noted before
            if look.found:
                return look.found
            if reached - since < SECOND:
                raise
            raise Unfinished(reached) from None


@dataclass
class _Look:
    """A look through the issues in the order of their last update, which moves `until` on.

    What is updated meanwhile comes up again at the end, so nothing is missed between two pages.
    """

    repository: Repository
    marker: str
    since: datetime
    now: datetime
    remembers: bool
    until: datetime = field(init=False)
    settled: datetime = field(init=False)  # what was updated until then is in GitHub's list
    found: Issue | None = None
    issues: dict[str, Issue] = field(default_factory=dict)  # only if it `remembers`
    is_begun: bool = False
    # Where a page is not enough for one second: the pages of this reading, of the one before, and its end.
    page: int = 1
    pages: list[list[tuple[int, str]]] = field(default_factory=list)
    before: list[list[tuple[int, str]]] = field(default_factory=list)
    end: tuple[datetime, bool] = field(init=False)

    def __post_init__(self) -> None:
        self.until = self.settled = self.since
        known = _read.get(self.repository.id) if self.remembers else None
        if known and known.leads_on_from(self.since):
            self.since, self.until, self.issues = known
            self.found = self.issues.get(self.marker)

    @property
    def reached(self) -> datetime:
        """Where a later look may begin: not after what GitHub may list late."""
        return min(self.until, self.settled)

    def through(self, deadline: float) -> Issue | None:
        """The issue with the marker; None if there is none."""
        is_more = True
        while is_more and not self.found:
            answer = self._ask()
            if not self.is_begun:
                self.settled, self.is_begun = date(answer) - SETTLE, True
            self._note(answer.body)
            is_more = self._go_on_after(answer)
            if not is_more and not self.found:
                require_same_time(answer, self.now)
            if is_more and not self.found and time.monotonic() >= deadline:
                raise deadlines.TooLate
        return self.found

    def _ask(self) -> GitHubAnswer:
        return listed(self.repository, self.until, page=self.page)

    def _note(self, items: list[dict[str, Any]]) -> None:
        for item in filter(is_ours, items):
            body, number = shapes.text(item.get("body")), shapes.number(item["number"])
            issue = Issue(number, shapes.page(item["html_url"]) or self._page_of(number))
            if self.marker in body:
                self.found = self.found or issue
            if self.remembers and (marks := MARK.findall(body)):
                self.issues.setdefault(marks[-1], issue)  # one each: who may edit it may add more

    def _page_of(self, number: int) -> str:
        return f"{settings.HUB_GITHUB_URL}/{self.repository.name}/issues/{number}"

    def _go_on_after(self, answer: GitHubAnswer) -> bool:
        """Begin at the last update that was read; False at the end of the list.

        If all on a page are of one second, the next page follows. There an update to one of an earlier page
        moves the others forward, so these pages are read again until they are as they were.
        """
        last = max(map(_updated_at, answer.body), default=self.until)
        is_more = 'rel="next"' in answer.headers.get("link", "")
        if is_more and last - SECOND <= self.until:
            self.pages.append([(item["number"], item["updated_at"]) for item in answer.body])
            self.page += 1
            if self.pages != self.before:
                return True
            last, is_more = self.end
        elif self.page > 1:
            self.before, self.end = self.pages, (last, is_more)
            self.pages, self.page = [], 1
            return True
        self.until, self.page = max(self.until, last - SECOND), 1
        self.pages, self.before = [], []
        if self.remembers:
            self._keep()
        return is_more

    def _keep(self) -> None:
        _read.pop(self.repository.id, None)
        if len(self.issues) > MOST_ISSUES:
            self.remembers, self.issues = False, {}
            return
        _read[self.repository.id] = _Read(self.since, self.reached, self.issues)
        for oldest in list(_read)[:-MOST_REPOSITORIES]:
            _read.pop(oldest, None)


def is_ours(item: dict[str, Any]) -> bool:
    """Whether the app's own account wrote it: markers by others do not count.

    The login changes with the app's name, which another app can have from then on. So the app's id counts, and the
    login only where one of both is not known.
    """
    user, app = item.get("user") or {}, item.get("performed_via_github_app") or {}
    if settings.HUB_GITHUB_APP_ID.isdecimal() and told.is_id(app.get("id")):
        return app["id"] == int(settings.HUB_GITHUB_APP_ID) and user.get("type") == "Bot"
    login = f"{settings.HUB_GITHUB_APP_SLUG}[bot]"
    return user.get("login", "").lower() == login.lower()


def _updated_at(item: dict[str, Any]) -> datetime:
    try:
        return datetime.fromisoformat(item["updated_at"])
    except ValueError:
        raise Unreachable("GitHub's response could not be understood.") from None


def listed(
    repository: Repository, since: datetime, *, page: int, newest_first: bool = False
) -> GitHubAnswer:
    """A page of everybody's issues that were updated since then, in the order of their last update."""
    parameters = {
        "state": "all",
        "since": since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "sort": "updated",
        "direction": "desc" if newest_first else "asc",
        "per_page": PAGE_SIZE,
        "page": page,
    }
    answer = asked(repository, "GET", "/issues", parameters=parameters)
    if answer.status == 200 and isinstance(answer.body, list):
        return answer
    raise_for_refusal(answer, repository)
    raise Unreachable(f"GitHub answered {answer.status} when asked for issues.")
