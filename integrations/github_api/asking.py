"""Asking GitHub while a maintainer waits: where it cannot be asked, nothing is saved, and they are told."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connection

from core import rates
from core.at_once import AtOnce
from core.errors import ApiError
from integrations import github_api
from integrations.models import Installation
from orgs.models import Organization

DEADLINE = 10  # seconds, for all that one call of a maintainer asks
looks = AtOnce(
    1, "The Hub is asking GitHub for you or your colleagues already. Try again in a few seconds."
)


class CodeHostUnavailable(ApiError):
    """GitHub did not answer, or is not to be asked now."""

    status_code = 502
    default_code = "code_host_unavailable"


@contextmanager
def github(organization: Organization, *, through: Installation | None = None) -> Iterator[float]:
    """Gives the deadline (in `time.monotonic`); no database connection is held meanwhile.

    Raises `TooManyAtOnce` while the organization asks something else, `rates.RateLimited` where it has
    asked too often, and `CodeHostUnavailable` for what the block does not catch itself, and where
    GitHub wants the installation that is asked `through` to be left alone.
    """
    with looks.one(organization.pk), _asking(organization, through) as until:
        yield until


@contextmanager
def _asking(organization: Organization, through: Installation | None) -> Iterator[float]:
    rates.check(settings.HUB_ASKING_RATE, "github", organization.pk)
    if through and through.is_left_alone():
        raise CodeHostUnavailable(
            f"GitHub asked the Hub not to call for {through.account} for a while. Nothing was "
            "saved; try again in a few minutes."
        )
    try:
        yield deadline(DEADLINE)
    except github_api.GitHubError as error:
        if through and isinstance(error, github_api.Limited):
            through.leave_alone_for(error.wait)
        raise CodeHostUnavailable(f"{error} Nothing was saved; try again in a moment.") from error


def deadline(seconds: int) -> float:
    """The end (in `time.monotonic`) of what is asked from now on; no database connection is held meanwhile."""
    connection.close()
    return time.monotonic() + seconds
