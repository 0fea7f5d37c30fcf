"""Calls to GitHub while a maintainer waits: if GitHub cannot be reached, nothing is saved and they are told."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction

from django.conf import settings

from core import connections, rates
from core.at_once import AtOnce
from core.errors import ApiError
from integrations import github_api
from integrations.models import Installation, Integration
from orgs.models import Membership
from orgs.people import counted

DEADLINE = 10  # seconds, for all GitHub calls of one request

# Times `HUB_ASKING_RATE`, for one installation. Whoever may read one of its account's repositories can ask
# through it, and GitHub allows it 5,000 calls an hour. With the rate as shipped, these are 600 questions:
# 40 lists of repositories of up to 54 calls, and 560 others of at most 3 for somebody who only reads. So
# more than 1,000 calls are left, for 400 issues an hour, and for 30 templates that mention people, of up to 11
# calls each, which only those with push access save. Those without a repository there have half of them
# together: GitHub is not asked whether they still may read anything.
TIMES_THROUGH = 2
SHARE = Fraction(1, 2)  # of that, for one of these organizations, and for a person

looks = AtOnce(
    1, "The Hub is already asking GitHub for your organization. Try again in a few seconds."
)


class CodeHostUnavailable(ApiError):
    """502: GitHub cannot be reached now."""

    status_code = 502
    default_code = "code_host_unavailable"


@contextmanager
def github(
    member: Membership,
    *,
    through: Installation | None = None,
    also: Iterable[rates.Limit] = (),
    what: str = "requests",
) -> Iterator[float]:
    """The deadline for the calls in the block (in `time.monotonic`); gives the database connection back.

    `also`: other limits on `what` is asked, counted with its own.

    Raises `TooManyAtOnce` while the organization has another call in progress, `rates.RateLimited` if it
    or the person has asked too often, or others too often `through` the same installation, and
    `CodeHostUnavailable` for GitHub errors that the block does not catch, and while GitHub limits the
    installation.
    """
    with looks.one(counted.whose(member)):
        rates.check_all(*_limits(member, through), *also, what=what)
        with _asking(through) as until:
            yield until


@contextmanager
def _asking(through: Installation | None) -> Iterator[float]:
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


def _limits(member: Membership, through: Installation | None) -> Iterator[rates.Limit]:
    rate = settings.HUB_ASKING_RATE
    yield from counted.limits(member, rate, "github")
    if through:
        yield rates.Limit(rate, ("github through", str(through.github_id)), times=TIMES_THROUGH)
        if not Integration.objects.configured().of(member.organization_id).exists():
            key = "github through, for nobody", str(through.github_id)
            yield from shared_with_others(member, rate, *key)


def shared_with_others(member: Membership, rate: str, *key: str) -> list[rates.Limit]:
    """`rate` for all organizations together that have no repository in an installation, and the share of the member's.

    Without that, one person who may read one repository keeps all others of the account from setting up theirs.
    """
    own = counted.limits(member, rate, *key)
    return [rates.Limit(rate, key), *(each._replace(times=SHARE) for each in own)]


def deadline(seconds: int) -> float:
    """The time (in `time.monotonic`) at which calls that start now must end; gives the database connection back."""
    connections.give_back()
    return time.monotonic() + seconds
