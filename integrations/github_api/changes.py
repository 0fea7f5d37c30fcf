"""What became of the app's own issues in a repository, in case webhooks about them were missed."""

import time
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
    repository: Repository, *, since: datetime, deadline: float
) -> dict[int, IssueFacts]:
    """The app's own issues by their numbers, among the 500 that were updated last, if that was since then."""
    with making_sense():
        return bounded_by(partial(_changed, repository, since, deadline), deadline=deadline)


def _changed(repository: Repository, since: datetime, deadline: float) -> dict[int, IssueFacts]:
    found: dict[int, IssueFacts] = {}
    for page in range(1, MOST_PAGES + 1):
        if time.monotonic() >= deadline:
            raise deadlines.TooLate
        answer = listed(repository, since, page=page, newest_first=True)
        for item in filter(is_ours, answer.body):
            found.setdefault(shapes.number(item["number"]), facts_of(item))
        if 'rel="next"' not in answer.headers.get("link", ""):
            break
    return found
