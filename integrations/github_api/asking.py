"""Calls to GitHub while a maintainer waits: if GitHub cannot be reached, nothing is saved and they are told."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

from core import connections, rates
from core.at_once import AtOnce
from core.errors import ApiError
from integrations import github_api
from integrations.models import Installation
from orgs.models import Organization

DEADLINE = 10  # seconds, for all GitHub calls of one request
looks = AtOnce(
    1, "The Hub is already asking GitHub for your organization. Try again in a few seconds."
)


class CodeHostUnavailable(ApiError):
    """502: GitHub cannot be reached now."""

    status_code = 502
    default_code = "code_host_unavailable"


@contextmanager
def github(organization: Organization, *, through: Installation | None = None) -> Iterator[float]:
    """The deadline for the calls in the block (in `time.monotonic`); gives the database connection back.

    Raises `TooManyAtOnce` while the organization has another call in progress, `rates.RateLimited` if it
    has asked too often, and `CodeHostUnavailable` for GitHub errors that the block does not catch, and
    while GitHub limits the installation that is asked `through`.
    """
    with looks.one(organization.pk), _asking(organization, through) as until:
        yield until


@contextmanager
def _asking(organization: Organization, through: Installation | None) -> Iterator[float]:
    rates.check(settings.HUB_ASKING_RATE, "github", organization.pk)
    if through and through.is_left_alone():
        raise CodeHostUnavailable(
            f"GitHub's rate limit for {through.account} is reached. Nothing was saved; try again in "
            "a few minutes."
        )
    try:
        yield deadline(DEADLINE)
    except github_api.GitHubError as error:
        if through and isinstance(error, github_api.Limited):
            through.leave_alone_for(error.wait)
        raise CodeHostUnavailable(f"{error} Nothing was saved; please try again.") from error


def deadline(seconds: int) -> float:
    """The time (in `time.monotonic`) at which calls that start now must end; gives the database connection back."""
    connections.give_back()
    return time.monotonic() + seconds
