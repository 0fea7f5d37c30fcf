"""Verifies a claim, and does what follows from it."""

import threading
from functools import cache
from typing import NamedTuple

from django.conf import settings
from django.db import transaction

from core import connections
from core.at_once import AtOnce
from core.errors import ApiError
from orgs.domains import parts
from orgs.domains.diagnosis import Finding, look
from orgs.models import Domain, Membership, Notice
from orgs.people import counted

looks = AtOnce(1, "The Hub is already checking one of your claims. Try again in a few seconds.")
BUSY = "The Hub is checking many domains at the moment. Try again in a few seconds."


class VerifiedElsewhere(ApiError):
    """409: another organization has verified the domain, and its record is still there."""

    status_code = 409
    default_code = "verified_elsewhere"
    default_detail = (
        "Another organization has verified this domain, and its DNS record is still there. "
        "Remove that record, then check again; the domain is then yours."
    )


class NotConfirmed(VerifiedElsewhere):
    """409: the same, and its record is not seen, but that is not an answer of the domain's own name servers."""

    default_detail = (
        "Another organization has verified this domain. Its DNS record seems to be gone, but the domain is "
        "yours only if its own name servers answer the Hub, over TCP, with a TXT record at the name itself, not "
        "a CNAME. Try again in a few minutes. If they do not, the other claim lapses about nine days after its "
        "record is gone; then check again."
    )


class Gone(Exception):
    """The claim was deleted in the meantime."""


class Verdict(NamedTuple):
    """The claim as it is now, and what the DNS said about it."""

    domain: Domain
    finding: Finding


def check(domain: Domain, *, by: Membership) -> Verdict:
    """Check the record of a claim while a person waits, and save what was found.

    Asks the DNS, with at most 24 queries and 8 seconds; do not call it in a transaction. Raises
    `VerifiedElsewhere`, `Gone`, `TooManyAtOnce` while another check of `by` is in progress (see
    `counted.whose`), and `rates.RateLimited` if they have asked too often.
    """
    with looks.one(counted.whose(by)):
        counted.check(by, settings.HUB_ASKING_RATE, "dns")
        if not slots().acquire(blocking=False):
            return Verdict(domain, Finding(None, BUSY, "The Hub is busy"))
        try:
            return _check(domain)
        finally:
            slots().release()


def _check(domain: Domain) -> Verdict:
    if Domain.objects.expired().filter(pk=domain.pk).exists():
        domain.renew_challenge()
    earlier = domain.earlier_values()
    holder = Domain.objects.verified().filter(name=domain.name).first()
    connections.give_back()  # hold no connection while waiting for the DNS
    finding = look(domain, earlier, thorough=True)
    return Verdict(record(domain, finding, holder), finding)


@cache
def slots() -> threading.BoundedSemaphore:
    """At most a quarter of the server's threads may wait for claimed hosts; the rest keep answering."""
    return threading.BoundedSemaphore(max(1, settings.HUB_THREADS // 4))


@connections.again_after_deadlock
@transaction.atomic(durable=True)
def record(domain: Domain, finding: Finding, holder: Domain | None = None) -> Domain:
    """Save what a check of the DNS has found; returns the claim as it is then. Raises `VerifiedElsewhere`.

    All claims of the name are locked here, so only one of them at a time can become verified. `holder` was
    verified as the DNS was asked: from whom has proved the name since, what was found takes nothing.
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
            is_certain = finding.by_zone and other == holder
            _pass_on(other, to=claim, proven=finding.proven, is_certain=is_certain)
        is_to_be_noted = claim.verified_at is None or claim.is_below_unknown
        claim.record_found()
        if is_to_be_noted:
            parts.note(claim)
    return claim


def _pass_on(other: Domain, *, to: Domain, proven: frozenset[str], is_certain: bool) -> None:
    """Take the name from the organization that had verified it, if its record is gone.

    Only if the zone's own name servers say so: a former owner can have a resolver remember their record.
    """
    if other.verified_at is None:
        return
    if other.record_value in proven:
        raise VerifiedElsewhere
    if not is_certain:
        raise NotConfirmed
    other.lapse(
        f"{other.name} now belongs to another organization, which has verified it; your DNS record is "
        "gone. You no longer receive reports about it.",
        Notice.Kind.TAKEN,
    )
    to.organization.tell(
        Notice.Kind.GAINED,
        f"{to.name} is now yours. Another organization had claimed it, but its DNS record is gone.",
    )
