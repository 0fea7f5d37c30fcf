"""What became of the app's own issues in a repository, in case webhooks about them were missed."""

import time
from collections.abc import Iterator
from datetime import datetime
from functools import partial

from core import deadlines
from integrations.github_api import shapes
from integrations.github_api.answers import making_sense
from integrations.github_api.looking import is_ours, listed
from integrations.github_api.reading import IssueFacts, facts_of
from integrations.github_api.transport import bounded_by
from integrations.models import Repository

MOST_PAGES = 5  # of everybody's issues and pull requests


def changed_issues(
    repository: Repository, *, since: datetime, deadline: float, first: int = 1
) -> Iterator[dict[int, IssueFacts]]:
    """The app's own issues by their numbers, among the 500 that were updated last, if that was since then.

    Page by page, from the `first` on, what was updated last before the rest. An error with one raises nothing before
    those ahead of it were given.
    """
    for page in range(first, MOST_PAGES + 1):
        with making_sense():
            read = partial(_read, repository, since, page, deadline)
            found, is_last = bounded_by(read, deadline=deadline)
        yield found
        if is_last:
            return


def _read(
    repository: Repository, since: datetime, page: int, deadline: float
) -> tuple[dict[int, IssueFacts], bool]:
    """What is ours on one page, and whether that is the last one."""
    if time.monotonic() >= deadline:
        raise deadlines.TooLate
    answer = listed(repository, since, page=page, newest_first=True)
    ours = filter(is_ours, answer.body)
    found = {shapes.number(item["number"]): facts_of(item) for item in ours}
    return found, 'rel="next"' not in answer.headers.get("link", "")
