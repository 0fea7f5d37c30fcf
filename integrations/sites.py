"""Claims of static sites: whoever receives issues in the repository that publishes a site owns it."""

from contextlib import suppress
from typing import NamedTuple
from urllib.parse import urlsplit

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from integrations import claims
from integrations.models import Integration
from orgs import clock, hosts
from orgs.errors import ApiError
from orgs.models import Organization, Site
from reports import canonical


class InvalidSite(ApiError):
    status_code = 400
    default_code = "invalid_site"


class SharedHost(ApiError):
    status_code = 422
    default_code = "public_suffix"


class UseDomainClaim(ApiError):
    status_code = 422
    default_code = "use_domain_claim"


class DifferentRepository(ApiError):
    status_code = 422
    default_code = "different_repository"


class NotConfigured(ApiError):
    status_code = 409
    default_code = "not_configured"
    default_detail = "Choose the repository for your issues first."


class ClaimedElsewhere(ApiError):
    status_code = 409
    default_code = "claimed_elsewhere"
    default_detail = (
        "Another organization of this Hub has claimed that site. Ask them to remove their claim, "
        "or to let you join."
    )


class Address(NamedTuple):
    """The URL of a site, taken apart: `path` is `/` or `/<name>/`."""

    host: str
    path: str

    @property
    def repository(self) -> str:
        """Who publishes it, as `owner/name`."""
        owner = self.host.partition(".")[0]
        return f"{owner}/{self.path.strip('/') or self.host}"


def claim_site(organization: Organization, url: str) -> tuple[Site, bool]:
    """The organization's verified claim of the site at `url`, and whether it is new.

    Its repository has to be the integration's; nothing is asked of GitHub. Raises the errors above.
    """
    address = _address(url)
    with transaction.atomic():
        integration = _configured(organization)
        if address.repository.lower() != integration.repository.lower():
            raise DifferentRepository(
                f"That site is published from {address.repository}, and your integration is for "
                f"{integration.repository}. Make {address.repository} the integration first."
            )
        site, is_new = _verified(organization, address, integration.repository)
        claims.release_regained(organization)
    return site, is_new


def release_site(site: Site) -> None:
    """Delete a claim; what is waiting for its pages is held."""
    with transaction.atomic():
        organization = site.organization
        site.delete()
        claims.hold_lost(organization)


def lapse_unpublished(organization: Organization, repository: str) -> int:
    """Let the claims lapse that `repository` (owner/name, or empty) does not publish; how many."""
    live = Site.objects.live().filter(organization=organization)
    lost = list(live.exclude(repository__iexact=repository))
    Site.objects.filter(pk__in=[site.pk for site in lost]).update(lapsed_at=clock.now())
    for site in lost:
        organization.tell(
            f"{site.url} is not published by your repository any more, so reports about it no "
            "longer come to you. Claim it again when it is."
        )
    if lost:
        claims.hold_lost(organization)
    return len(lost)


def revive_published(organization: Organization, repository: str) -> int:
    """Take back the claims that lapsed while `repository` was out of reach; how many.

    What somebody else has claimed since stays theirs.
    """
    mine = Site.objects.filter(organization=organization, repository__iexact=repository)
    revived = 0
    for site in mine.exclude(lapsed_at=None):
        with suppress(IntegrityError), transaction.atomic():
            revived += Site.objects.filter(pk=site.pk).update(lapsed_at=None)
    if revived:
        claims.release_regained(organization)
    return revived


def _address(url: str) -> Address:
    try:
        parts = urlsplit(canonical.url(url))
    except canonical.InvalidURL as error:
        raise InvalidSite(str(error)) from None
    host, pages = parts.hostname, hosts.normalize(settings.HUB_PAGES_HOST)
    if host is None:
        raise InvalidSite(f"Give the whole address, for example https://you.{pages}/repo/.")
    if host == pages:
        raise SharedHost(
            f"`{pages}` is shared by many owners, so nobody can claim it whole. "
            f"Claim your own address, for example https://you.{pages}/repo/."
        )
    if not hosts.is_user_site(host, pages_host=pages):
        raise UseDomainClaim(
            f"`{host}` is a domain of its own, not a site on {pages}. Claim it as a domain."
        )
    return _whole_site(host, parts.path, query=parts.query)


def _whole_site(host: str, path: str, *, query: str) -> Address:
    """The site itself; a page of it, or a host that is nobody's site, is refused with what to claim."""
    pages = hosts.normalize(settings.HUB_PAGES_HOST)
    user = host.removesuffix(f".{pages}").rpartition(".")[2]
    first = path.strip("/").partition("/")[0]
    has_path = first and first.lower() != host  # <user>.<pages host> itself is published at /
    site = Address(f"{user}.{pages}", f"/{first}/" if has_path else "/")
    if host != site.host or path.strip("/") != site.path.strip("/") or query:
        raise InvalidSite(
            f"A site is claimed whole: claim https://{site.host}{site.path} to cover that page."
        )
    return site


def _configured(organization: Organization) -> Integration:
    """The organization's integration, locked: it must not move to another repository meanwhile."""
    mine = Integration.objects.configured().select_for_update().filter(organization=organization)
    integration = mine.select_related("installation").first()
    if integration is None:
        raise NotConfigured
    if integration.problem:  # what is out of reach proves nothing
        raise NotConfigured(integration.problem)
    if not integration.is_on_its_account():  # somebody else may have that name by now
        raise NotConfigured(
            f"{integration.repository} belongs to an account that was renamed, or to another one "
            f"than {integration.installation.account}. Save the integration again."
        )
    return integration


def _verified(organization: Organization, address: Address, repository: str) -> tuple[Site, bool]:
    """In the repository's own spelling of its name, which is how its pages are addressed."""
    path = "/" if address.path == "/" else f"/{repository.partition('/')[2]}/"
    mine = Site.objects.filter(organization=organization, host=address.host, path=path)
    if site := mine.live().first():
        return site, False
    try:
        with transaction.atomic():
            site, _ = Site.objects.update_or_create(
                organization=organization,
                host=address.host,
                path=path,
                defaults={
                    "repository": repository,
                    "verified_at": timezone.now(),
                    "lapsed_at": None,
                    "opted_out_at": None,
                },
            )
    except IntegrityError:
        raise ClaimedElsewhere from None
    return site, True
