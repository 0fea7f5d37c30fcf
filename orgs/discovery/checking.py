"""Reads what claimed hosts publish: while a member waits, and once a day."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from core import clock, connections, rates
from core.errors import ApiError
from orgs.discovery import published
from orgs.discovery.published import Finding
from orgs.domains import verification
from orgs.models import Domain, Site

EVERY = timedelta(days=1)
AT_ONCE = 20  # claims that are taken together, each with a thread of its own

Claim = Domain | Site


class Busy(ApiError):
    """429: too many members are having claims checked."""

    status_code = 429
    default_code = "rate_limited"
    default_detail = verification.BUSY


def check(claim: Claim) -> list[Finding]:
    """What agents find at a claim, while a member waits; notes whether its host refuses reports.

    Asks the host for three files, of at most 8 seconds each; do not call it in a transaction. Raises
    `TooManyAtOnce`, `rates.RateLimited`, `Busy`.
    """
    with verification.looks.one(claim.organization_id):
        rates.check(settings.HUB_ASKING_RATE, "sites", claim.organization_id)
        if not verification.slots().acquire(blocking=False):
            raise Busy
        try:
            connections.give_back()  # hold no connection while waiting for the host
            opted_out = claim.opted_out_at is not None
            found = published.look(url_of(claim), settings.HUB_BASE_URL, opted_out=opted_out)
        finally:
            verification.slots().release()
    _note(claim, found.refuses)
    return found.findings


def maintain(go_on: Callable[[], bool] = lambda: True) -> int:
    """Read the `docs-feedback.json` of each claim that is due; returns how many were read."""
    looked_at = 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for claims in _due(go_on):
            connections.give_back()
            answers = pool.map(published.refuses, [host_of(each) for each in claims])
            for claim, refuses in zip(claims, answers, strict=True):
                _note(claim, refuses)
            looked_at += len(claims)
    return looked_at


def url_of(claim: Claim) -> str:
    """The URL where the claimed pages begin."""
    return claim.url if isinstance(claim, Site) else f"https://{claim.name}/"


def host_of(claim: Claim) -> str:
    """The host of the claimed pages."""
    return urlsplit(url_of(claim)).hostname or ""


def _due(go_on: Callable[[], bool]) -> Iterator[Sequence[Claim]]:
    """Claims whose file is due, a few at a time; they are due again a day later."""
    counting: list[Any] = [Domain.objects.verified(), Site.objects.live()]
    for claims in counting:
        while go_on() and (some := list(claims.file_due()[:AT_ONCE])):
            taken = claims.filter(pk__in=[each.pk for each in some])
            taken.update(file_due_at=clock.now() + EVERY)
            yield some


def _note(claim: Claim, refuses: bool | None) -> None:
    if refuses is not None:
        claim.note_refusal(refuses, published.file_of(host_of(claim)))
