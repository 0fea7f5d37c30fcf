"""Asking GitHub while a maintainer waits: where it cannot be asked, nothing is saved, and they are told."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connection

from integrations import github_api
from orgs import rates
from orgs.errors import ApiError
from orgs.models import Organization

DEADLINE = 10  # seconds, for all that one call of a maintainer asks


class CodeHostUnavailable(ApiError):
    status_code = 502
    default_code = "code_host_unavailable"


@contextmanager
def github(organization: Organization) -> Iterator[float]:
    """Gives the deadline (in `time.monotonic`); no database connection is held meanwhile.

    Raises `rates.TooMany` where the organization has asked too often, and `CodeHostUnavailable`
    for what the block does not catch itself.
    """
    rates.check(settings.HUB_ASKING_RATE, "github", organization.pk)
    try:
        yield deadline()
    except github_api.GitHubError as error:
        raise CodeHostUnavailable(f"{error} Nothing was saved; try again in a moment.") from error


def deadline(seconds: int = DEADLINE) -> float:
    """The end (in `time.monotonic`) of what is asked from now on; no database connection is held meanwhile."""
    connection.close()
    return time.monotonic() + seconds
