"""Claiming a domain, and giving it up."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction

from core import clock, rates
from core.errors import ApiError
from orgs.domains import hosts
from orgs.models import Domain, Membership, Organization
from orgs.models.domain import CHALLENGE_LIFETIME
from orgs.people import members

MOST_UNPROVED = 100  # claims of one organization; each page that lists claims shows all of them


class TooManyUnproved(ApiError):
    status_code = 409
    default_code = "too_many_claims"
    default_detail = (
        f"{MOST_UNPROVED} of your claims wait for their DNS records. Publish these, or give some of "
        "the claims up, and claim this one then."
    )


def claim_domain(organization: Organization, text: str) -> tuple[Domain, bool]:
    """The organization's claim of the name in `text`, in any spelling; and whether it is new.

    A claim that was never proved in time gets another value to publish. Raises
    `hosts.NotClaimable`, `rates.TooMany`, `TooManyUnproved`.
    """
    name = _claimable(text)
    rates.check(settings.HUB_ASKING_RATE, "claim", organization.pk)
    others = organization.domains.exclude(name=name)
    if others.filter(verified_at=None)[MOST_UNPROVED - 1 : MOST_UNPROVED].exists():
        raise TooManyUnproved
    domain, is_new = Domain.objects.get_or_create(
        organization=organization,
        name=name,
        defaults={
            "registrable": hosts.is_registrable(name, pages_host=settings.HUB_PAGES_HOST),
            "expires_at": clock.now() + CHALLENGE_LIFETIME,
        },
    )
    if is_new:
        domain.refresh_from_db(fields=["expires_at"])
    elif Domain.objects.expired().filter(pk=domain.pk).exists():
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
    """Refuse reports about it from now on, or take them again.

    Raises `members.NotAnOwner`, and `Domain.DoesNotExist` where it was given up at this moment.
    """
    members.require_owner(by)
    domain.opt_out(out)


def give_up(domain: Domain, *, by: Membership) -> None:
    """Delete a claim, which its DNS record alone has proved. Raises `members.NotAnOwner`."""
    members.require_owner(by)
    domain.give_up()


def drop_expired() -> int:
    """Give up the claims whose record was not published in time; how many."""
    return sum(_drop(pk) for pk in list(Domain.objects.expired().values_list("pk", flat=True)))


@transaction.atomic
def _drop(domain_id: str) -> bool:
    """Give up one claim, if nobody has got it another value meanwhile."""
    domain = Domain.objects.expired().filter(pk=domain_id).select_for_update().first()
    if domain is None:
        return False
    domain.organization.tell(
        f"The claim of {domain.name} was given up, since its DNS record was not published "
        f"within {CHALLENGE_LIFETIME.days} days. Claim it again to get a new one."
    )
    domain.give_up()
    return True


def refused_today() -> Iterator[tuple[Domain, str]]:
    """Verified claims that could not be made any more, since the list of public suffixes has changed."""
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
