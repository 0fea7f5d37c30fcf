"""Whether a claim is proved, and what follows from that."""

import threading
from functools import cache
from typing import NamedTuple

from django.conf import settings
from django.db import connection, transaction

from core import rates
from core.at_once import AtOnce
from core.errors import ApiError
from orgs.domains.diagnosis import Finding, look
from orgs.models import Domain

looks = AtOnce(
    1, "The Hub is looking at a domain of yours at the moment. Try again in a few seconds."
)
BUSY = "The Hub is looking at many domains at the moment. Try again in a few seconds."


class VerifiedElsewhere(ApiError):
    """Another organization has it verified, and its record is still there."""

    status_code = 409
    default_code = "verified_elsewhere"
    default_detail = (
        "Another organization has verified this domain, and its DNS record is still there. "
        "Remove that record first; then check again, and the domain passes on to you."
    )


class Gone(Exception):
    """The claim was deleted in the meantime."""


class Verdict(NamedTuple):
    """The claim as it is now, and what DNS answered, in words, unless its record is there."""

    domain: Domain
    hint: str


def check(domain: Domain) -> Verdict:
    """Look for the record of a claim on behalf of somebody who waits, and record what was found.

    Asks the DNS, at most 12 queries and 8 seconds; not to be called in a transaction. Raises
    `VerifiedElsewhere`, `Gone`, `TooManyAtOnce` while the organization has another looked at, and
    `rates.TooMany` where it has asked too often.
    """
    with looks.one(domain.organization_id):
        rates.check(settings.HUB_ASKING_RATE, "dns", domain.organization_id)
        if not _slots().acquire(blocking=False):
            return Verdict(domain, BUSY)
        try:
            return _check(domain)
        finally:
            _slots().release()


def _check(domain: Domain) -> Verdict:
    if Domain.objects.expired().filter(pk=domain.pk).exists():
        domain.renew_challenge()
    earlier = domain.earlier_values()
    connection.close()  # none is held while the DNS takes its time
    finding = look(domain, earlier, thorough=True)
    return Verdict(record(domain, finding), finding.hint)


@cache
def _slots() -> threading.BoundedSemaphore:
    """At most a quarter of the server's threads may wait for the DNS; the rest keep answering."""
    return threading.BoundedSemaphore(max(1, settings.HUB_THREADS // 4))


@transaction.atomic(durable=True)
def record(domain: Domain, finding: Finding) -> Domain:
    """Write down what a look at the DNS has found; the claim as it is then.

    All claims of the name wait for each other here, so one of them at a time becomes verified.
    """
    claims = Domain.objects.filter(name=domain.name).order_by("pk").select_for_update(of=("self",))
    of_the_name = {claim.pk: claim for claim in claims.select_related("organization")}
    claim = of_the_name.pop(domain.pk, None)
    if claim is None:
        raise Gone
    if finding.proven is None:
        claim.record_checked()
    elif claim.record_value not in finding.proven:
        claim.record_missing()
    else:
        for other in of_the_name.values():
            _pass_on(other, to=claim, proven=finding.proven)
        claim.record_found()
    return claim


def _pass_on(other: Domain, *, to: Domain, proven: frozenset[str]) -> None:
    """Take the name from whoever has it verified and has taken the record away."""
    if other.verified_at is None:
        return
    if other.record_value in proven:
        raise VerifiedElsewhere
    other.lapse(
        f"{other.name} has passed on: another organization has proved that it is theirs, and your "
        "DNS record is gone. Reports about it no longer come to you."
    )
    to.organization.tell(
        f"{to.name} has passed on to you from another organization, whose DNS record is gone."
    )
