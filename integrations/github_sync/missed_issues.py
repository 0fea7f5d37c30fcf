"""What became of the Hub's issues since GitHub was last asked, in case webhooks about them were missed."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, cast

from core import clock
from integrations import github_api
from integrations.github_api.asking import DEADLINE, deadline
from integrations.github_sync import applying
from integrations.models import Integration, Repository
from integrations.models.integration import IntegrationQuerySet

AGAIN = timedelta(days=1)  # of what was answered before: clocks differ, lists are behind
EVER = datetime(1970, 1, 1, tzinfo=UTC)


class Rest(NamedTuple):
    """The page with which a list goes on, and when GitHub gave those before; None if it gave none yet."""

    page: int = 1
    began_at: datetime | None = None


Rests = dict[tuple[int, int], Rest]  # by the ids of the installation and the repository


def look(integration: Integration, rests: Rests) -> None:
    """Apply what GitHub says of issues in the repository, for all that have it. Raises `GitHubError`.

    Nothing is asked of a repository in which the Hub has opened no issue.
    """
    is_first = not _same_repository(integration).filter(pk__lt=integration.pk).exists()
    if is_first and applying.has_issues(cast(int, integration.repository_id)):
        _read(integration, rests)


def _read(integration: Integration, rests: Rests) -> None:
    """Apply page by page. What GitHub does not give in time, the next look goes on with: it is in `rests`.

    Then what was changed since the list was begun is not in it, and the look after that one asks for it.
    """
    here = (integration.installation_id, cast(int, integration.repository_id))
    page, began_at = rests.pop(here, Rest())
    try:
        for changed in _pages(integration, first=page):
            applying.apply_changed_issues(here[1], changed)
            page += 1
    except github_api.GitHubError:
        if page > 1:
            rests[here] = Rest(page, began_at or _now(integration))
        raise
    _same_repository(integration).note_issues_asked(began_at)


def _pages(integration: Integration, *, first: int) -> Iterator[dict[int, github_api.IssueFacts]]:
    through, answered_at = integration.installation, integration.issues_asked_at
    number = cast(int, integration.repository_id)
    return github_api.changed_issues(
        Repository(through.github_id, number, integration.repository),
        since=answered_at - AGAIN if answered_at else EVER,
        first=first,
        deadline=deadline(DEADLINE),
    )


def _now(integration: Integration) -> datetime:
    """The time of the database."""
    this = Integration.objects.filter(pk=integration.pk)
    return this.annotate(now=clock.now()).values_list("now", flat=True).get()


def _same_repository(integration: Integration) -> IntegrationQuerySet:
    """All that have the same repository through the same installation: GitHub is asked about its issues once."""
    return Integration.objects.filter(
        repository_id=integration.repository_id, installation=integration.installation_id
    )
