"""Claiming a domain, and removing a claim."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction

from core import batches, clock
from core.errors import ApiError
from orgs.domains import hosts
from orgs.models import Domain, Membership, Notice, Organization
from orgs.models.domain import CHALLENGE_LIFETIME, DomainQuerySet, listed
from orgs.people import counted, members

MOST = 1000  # claims of domains of one organization
DROPPED = 100  # expired claims at a time, since checking others waits for it
MOST_UNPROVED = 100  # of one organization; every list of claims shows all of them


class TooManyUnproved(ApiError):
    """409: too many claims are waiting for their DNS records."""

    status_code = 409
    default_code = "too_many_claims"
    default_detail = (
        f"{MOST_UNPROVED} of your claims are waiting for their DNS records. Publish those records, or "
        "remove some of the claims first."
    )


class TooManyClaims(ApiError):
    """409: the organization has as many claims as it may have."""

    status_code = 409
    default_code = "too_many_claims"
    default_detail = f"You have {MOST} domains. Remove some of the claims first."


class ClaimsChanged(ApiError):
    """409: somebody has claimed something meanwhile, or its claim was removed."""

    status_code = 409
    default_code = "claims_changed"
    default_detail = (
        "What they have claimed has changed in the meantime, so nothing was removed. Look again."
    )


def claim_domain(member: Membership, text: str) -> tuple[Domain, bool]:
    """The claim of the member's organization of the name in `text`, in any spelling, and whether it is new.

    A claim that was not proved in time gets a new value to publish, and one that never was and that nobody who is
    here has made is theirs. Raises `hosts.NotClaimable`,
    `rates.RateLimited`, `members.OrganizationLeft`, `TooManyClaims`, `TooManyUnproved`.
    """
    name = _claimable(text)
    counted.check(member, settings.HUB_ASKING_RATE, "claim")
    with transaction.atomic():
        members.lock_for_claim(member.organization)
        return _claim(member, name)


def _claim(member: Membership, name: str) -> tuple[Domain, bool]:
    organization = member.organization
    others = organization.domains.exclude(name=name)
    if others[MOST - 1 : MOST].exists():
        raise TooManyClaims
    if others.filter(verified_at=None)[MOST_UNPROVED - 1 : MOST_UNPROVED].exists():
        raise TooManyUnproved
    locked = Domain.objects.select_for_update(no_key=True)  # a colleague may be removing it
    domain, is_new = locked.get_or_create(
        organization=organization,
        name=name,
        defaults={
            "registrable": hosts.is_registrable(name, pages_host=settings.HUB_PAGES_HOST),
            "expires_at": clock.now() + CHALLENGE_LIFETIME,
            "claimed_by": member.login,
            "claimed_by_number": member.github_id,
        },
    )
    if is_new:
        domain.refresh_from_db(fields=["expires_at"])
        return domain, is_new
    if not (domain.was_proved or domain.claimant_is_member()):
        domain.claimed_by, domain.claimed_by_number = member.login, member.github_id
        domain.save(update_fields=["claimed_by", "claimed_by_number"])
    if Domain.objects.expired().filter(pk=domain.pk).exists():
        domain.renew_challenge()
    return domain, is_new


def claim_of(organization: Organization, text: str) -> Domain:
    """The organization's claim of the name in `text`. Raises `Domain.DoesNotExist`."""
    try:
        name = hosts.normalize(text)
    except hosts.InvalidHost:
        raise Domain.DoesNotExist from None
    return organization.domains.get(name=name)


def opt_out(domain: Domain, out: bool, *, by: Membership) -> None:
    """Refuse reports about a domain from now on, or accept them again.

    Raises `members.NotAnOwner`, and `Domain.DoesNotExist` if the claim was just removed.
    """
    members.require_owner(by)
    domain.opt_out(out)


def remove_claim(domain: Domain, *, by: Membership) -> None:
    """Remove a claim, which only an owner may do. Raises `members.NotAnOwner`."""
    members.require_owner(by)
    domain.remove_claim()


def which(claims: DomainQuerySet) -> str:
    """Which claims these are, as a hash: what a page has asked about is not what there is by now."""
    return hashlib.sha256(
        "\n".join(sorted(claims.values_list("pk", flat=True))).encode()
    ).hexdigest()


@transaction.atomic
def remove_with_claims(gone: Membership, asked_about: str, *, by: Membership) -> None:
    """Remove a member with all claims that they have made, which only an owner may do, or neither.

    `asked_about` is `which` claims the owner has seen. Raises `ClaimsChanged`, and as `members.remove` does.
    """
    members.lock(by.organization_id)
    members.require_owner(by)
    theirs = Domain.objects.of_member(gone)
    if asked_about != which(theirs):
        raise ClaimsChanged
    theirs.remove_claims()
    members.remove(gone, by=by)


@transaction.atomic
def remove_for_operator(domain: Domain) -> bool:
    """Remove a claim that an operator has deleted, and tell its organization; False if it is gone."""
    if Domain.objects.filter(pk=domain.pk).select_for_update().first() is None:
        return False
    domain.organization.tell(
        Notice.Kind.OPERATOR,
        f"An operator of this Hub has deleted your claim of {domain.name}. Reports about its pages "
        "do not come to you any more.",
    )
    domain.remove_claim()
    return True


def drop_expired(go_on: Callable[[], bool] = lambda: True) -> int:
    """Remove the first `DROPPED` claims whose record was not published in time; returns how many.

    Those of an organization go together, and it is told once.
    """
    theirs: dict[str, list[str]] = {}
    for organization, pk in Domain.objects.expired().values_list("organization", "pk")[:DROPPED]:
        theirs.setdefault(organization, []).append(pk)
    return sum(batches.at_leisure(go_on, map(_drop, theirs.values())))


@transaction.atomic
def _drop(domain_ids: Sequence[str]) -> int:
    """Remove these claims of an organization, but for those that somebody has just renewed; returns how many."""
    expired = Domain.objects.expired().filter(pk__in=domain_ids).order_by("pk")
    gone = list(expired.select_for_update())
    if not gone:
        return 0
    claims, records, them = "claim", "its DNS record was", "it again to get a new record"
    if gone[1:]:
        claims, records, them = "claims", "their DNS records were", "them again to get new records"
    gone[0].organization.tell(
        Notice.Kind.UNPROVED,
        f"The {claims} of {listed([each.name for each in gone])} {'were' if gone[1:] else 'was'} removed because "
        f"{records} not published within {CHALLENGE_LIFETIME.days} days. Claim {them}.",
    )
    Domain.objects.filter(pk__in=[each.pk for each in gone]).remove_claims()
    return len(gone)


def refused_today() -> Iterator[tuple[Domain, str]]:
    """Verified claims that the current public suffix list would refuse, and why."""
    verified = Domain.objects.verified().select_related("organization")
    for domain in verified.order_by("name").iterator():
        try:
            _claimable(domain.name)
        except hosts.NotClaimable as error:
            yield domain, str(error)


def _claimable(text: str) -> str:
    return hosts.claimable_domain(
        text,
        pages_host=settings.HUB_PAGES_HOST,
        code_host=urlsplit(settings.HUB_GITHUB_URL).hostname or "",
    )
