"""Reads what claimed hosts publish: while a member waits, and once a day."""

import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from functools import cache
from itertools import chain, zip_longest
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db.models import QuerySet

from core import clock, connections
from core.errors import ApiError
from orgs.discovery import published
from orgs.discovery.published import Finding
from orgs.domains import verification
from orgs.domains.turns import in_turn
from orgs.models import Domain, Membership, Site
from orgs.models.published import PublishedQuerySet
from orgs.people import counted

log = logging.getLogger(__name__)

EVERY = timedelta(days=1)
AT_ONCE = 20  # claims that are taken together, each with a thread of its own

Claim = Domain | Site


class Busy(ApiError):
    """429: too many members are having claims checked."""

    status_code = 429
    default_code = "rate_limited"
    default_detail = "The Hub is checking many sites at the moment. Try again in a few seconds."


def check(claim: Claim, *, by: Membership) -> list[Finding]:
    """What agents find at a claim, while a member waits; notes whether its host refuses reports.

    Nothing of a repository: its pages and the files at their host's root are the code host's.
    Asks the host for three files at once, for at most 5 seconds; do not call it in a transaction.
    Raises `TooManyAtOnce`, `rates.RateLimited`, `Busy`.
    """
    if isinstance(claim, Site) and claim.is_repository:
        return []
    with verification.looks.one(counted.whose(by)):
        counted.check(by, settings.HUB_ASKING_RATE, "sites")
        with _a_thread():
            connections.give_back()  # hold no connection while waiting for the host
            opted_out = claim.opted_out_at is not None
            found = published.look(claim.url, settings.HUB_BASE_URL, opted_out=opted_out)
    _note(claim, found.refuses)
    return found.findings


@contextmanager
def _a_thread() -> Iterator[None]:
    """One of the threads that may wait for claimed hosts. Raises `Busy`."""
    with ExitStack() as taken:
        for slots in (_slots(), verification.slots()):
            if not slots.acquire(blocking=False):
                raise Busy
            taken.callback(slots.release)
        yield


@cache
def _slots() -> threading.BoundedSemaphore:
    """Half of the threads that may wait for the DNS: the other half check domains."""
    return threading.BoundedSemaphore(max(1, settings.HUB_THREADS // 8))


def maintain(go_on: Callable[[], bool] = lambda: True) -> int:
    """Read the `docs-feedback.json` of each claim that is due; returns how many were read."""
    looked_at = 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for claims in _due():
            if not go_on():
                break
            looked_at += _read(_taken(claims), pool)
    return looked_at


def host_of(claim: Claim) -> str:
    """The host of the claimed pages."""
    return urlsplit(claim.url).hostname or ""


def _due() -> Iterator[QuerySet[Any]]:
    """The claims whose file is due, a few at a time: domains and sites in turn, as organizations are."""
    sites = Site.objects.live().filter(repository_id=None)  # a repository has no host of its own
    kinds = _in_turn(Domain.objects.verified()), _in_turn(sites)
    for claims in chain.from_iterable(zip_longest(*kinds)):
        if claims is not None:
            yield claims


def _in_turn(claims: PublishedQuerySet[Any]) -> Iterator[QuerySet[Any]]:
    for batch in in_turn(claims.file_due(), "file_due_at"):
        for start in range(0, len(batch), AT_ONCE):
            yield claims.filter(pk__in=batch[start : start + AT_ONCE])


def _taken(claims: QuerySet[Any]) -> list[Claim]:
    """These claims, which are due again a day later."""
    claims.update(file_due_at=clock.now() + EVERY)
    return list(claims.select_related("organization"))


def _read(claims: list[Claim], pool: ThreadPoolExecutor) -> int:
    connections.give_back()
    answers = pool.map(_refuses, [host_of(each) for each in claims])
    for claim, refuses in zip(claims, answers, strict=True):
        _note(claim, refuses)
    return len(claims)


def _refuses(host: str) -> bool | None:
    try:
        return published.refuses(host)
    except Exception:  # one host must not end the run
        log.exception("The public file of %s could not be read", host)
        return None


def _note(claim: Claim, refuses: bool | None) -> None:
    if refuses is not None:
        claim.note_refusal(refuses, published.file_of(host_of(claim)))
