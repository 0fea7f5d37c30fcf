"""Claims of static sites: a site belongs to whoever receives issues in the repository that publishes it."""

from contextlib import suppress
from functools import partial
from typing import NamedTuple
from urllib.parse import urlsplit

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from core import clock
from core.errors import ApiError
from integrations.delivery import ownership_changes
from integrations.models import Installation, Integration
from integrations.models.integration import NO_RIGHTS
from integrations.ownership import push_access
from orgs.domains import hosts
from orgs.models import Membership, Organization, Site
from orgs.people import members
from reports import canonical

MOST = 1000  # claims of sites of one organization; a repository that is renamed leaves one behind


class InvalidSite(ApiError):
    """400: not the URL of a site."""

    status_code = 400
    default_code = "invalid_site"


class SharedHost(ApiError):
    """422: the host is shared by many owners."""

    status_code = 422
    default_code = "public_suffix"


class UseDomainClaim(ApiError):
    """422: the host is a domain; claim it as one."""

    status_code = 422
    default_code = "use_domain_claim"


class DifferentRepository(ApiError):
    """422: another repository publishes the site."""

    status_code = 422
    default_code = "different_repository"


class NotConfigured(ApiError):
    """409: no repository is chosen."""

    status_code = 409
    default_code = "not_configured"
    default_detail = "Choose the repository for your issues first."


class ClaimedElsewhere(ApiError):
    """409: another organization has claimed the site."""

    status_code = 409
    default_code = "claimed_elsewhere"
    default_detail = (
        "Another organization on this Hub has claimed that site. Ask them to remove their claim, or "
        "to invite you. If none of their members has push access to the repository that publishes "
        "it, somebody with admin access there can claim it here, and gets it at once."
    )


class TooManySites(ApiError):
    """409: the organization has as many claims of sites as it may have, with those that have lapsed."""

    status_code = 409
    default_code = "too_many_claims"
    default_detail = f"You have {MOST:,} sites. Remove some of the claims that have lapsed first."


class SiteAddress(NamedTuple):
    """The URL of a site in parts: `path` is `/` or `/<name>/`."""

    host: str
    path: str

    @property
    def repository(self) -> str:
        """The repository that publishes it, as `owner/name`."""
        owner = self.host.partition(".")[0]
        return f"{owner}/{self.path.strip('/') or self.host}"

    def path_of(self, repository: str) -> str:
        """The path with the repository's own spelling of its name, as its pages have it."""
        return "/" if self.path == "/" else f"/{repository.partition('/')[2]}/"


def claim_site(organization: Organization, url: str) -> tuple[Site, bool]:
    """The organization's verified claim of the site at `url`, and whether it is new.

    Its repository must be the integration's; GitHub is not called. Raises the errors above.
    """
    where = address(url)
    with transaction.atomic():
        integration = configured(organization)
        if where.repository.lower() != integration.repository.lower():
            raise DifferentRepository(
                f"That site is published from {where.repository}, but your issues go to "
                f"{integration.repository}. Choose {where.repository} as your repository first."
            )
        site, is_new = verified(organization, where, integration.repository)
        ownership_changes.release_regained(organization)
    return site, is_new


def remove_claim(site: Site, *, by: Membership) -> None:
    """Remove a claim on behalf of an owner; what waits for its pages is held.

    For a live claim push access is checked on GitHub, as for disconnecting. Raises
    `members.NotAnOwner`, or as `push_access.require_to_let_go` does.
    """
    members.require_owner(by)
    if site.lapsed_at is None:
        push_access.require_to_let_go(by)
    with transaction.atomic():
        members.require_owner(by)  # they may have changed while GitHub was asked
        site.delete()
        ownership_changes.hold_lost(site.organization)


def opt_out(site: Site, out: bool, *, by: Membership) -> None:
    """Refuse reports about it from now on, or accept them again; for owners with push access.

    Raises `members.NotAnOwner`, or as `push_access.require` does; and `Site.DoesNotExist` if the claim
    was removed in the meantime.
    """
    members.require_owner(by)
    push_access.require(by)
    with transaction.atomic():
        members.require_owner(by)  # they may have changed while GitHub was asked
        site.opt_out(out)


UNPUBLISHED = "is no longer published by your repository"


def lapse_unpublished(
    organization: Organization, repository: str, *, why: str = UNPUBLISHED
) -> int:
    """Let the claims lapse that `repository` (owner/name, or empty) does not publish; returns how many."""
    live = Site.objects.live().filter(organization=organization)
    return _lapse(live.exclude(repository__iexact=repository), why)


def lapse_of_other_accounts(installation: Installation) -> int:
    """Let the claims lapse that are not of the installation's account; returns how many.

    When an account is renamed, somebody else may take its old name, and the sites of that name.
    """
    organizations = Integration.objects.filter(installation=installation).values("organization")
    live = Site.objects.live().filter(organization__in=organizations)
    return _lapse(live.exclude(repository__istartswith=f"{installation.account}/"), UNPUBLISHED)


def _lapse(sites: QuerySet[Site], why: str) -> int:
    lost = list(sites.select_related("organization"))
    Site.objects.filter(pk__in=[site.pk for site in lost]).update(lapsed_at=clock.now())
    for site in lost:
        site.organization.tell(
            f"{site.url} {why}, so you no longer receive reports about it. Claim it again when "
            "that has changed."
        )
    for organization in {site.organization for site in lost}:
        # after what holds for the integration, which says better what to do
        transaction.on_commit(partial(ownership_changes.hold_lost, organization), robust=True)
    return len(lost)


def revive_published(organization: Organization, repository: str) -> int:
    """Restore the claims that lapsed while `repository` was out of reach; returns how many.

    What somebody else has claimed since then stays theirs.
    """
    mine = Site.objects.filter(organization=organization, repository__iexact=repository)
    revived = 0
    for site in mine.exclude(lapsed_at=None):
        with suppress(IntegrityError), transaction.atomic():
            revived += Site.objects.filter(pk=site.pk).update(lapsed_at=None)
    if revived:
        ownership_changes.release_regained(organization)
    return revived


def address(url: str) -> SiteAddress:
    """The parts of the site URL `url`. Raises the errors above, with what to claim instead."""
    try:
        parts = urlsplit(canonical.url(url))
    except canonical.InvalidURL as error:
        raise InvalidSite(str(error)) from None
    host, pages = parts.hostname, hosts.normalize(settings.HUB_PAGES_HOST)
    if host is None:
        raise InvalidSite(f"Give the full URL, for example https://you.{pages}/repo/.")
    if host == pages:
        raise SharedHost(
            f"`{pages}` is shared by many owners, so nobody can claim all of it. "
            f"Claim your own address, for example https://you.{pages}/repo/."
        )
    if not hosts.is_user_site(host, pages_host=pages):
        raise UseDomainClaim(f"`{host}` is not a site on {pages}. Claim it as a domain.")
    return _whole_site(host, parts.path, query=parts.query)


def _whole_site(host: str, path: str, *, query: str) -> SiteAddress:
    """The site itself; for a page of it, or a host that is no site, an error says what to claim."""
    pages = hosts.normalize(settings.HUB_PAGES_HOST)
    user = host.removesuffix(f".{pages}").rpartition(".")[2]
    first = path.strip("/").partition("/")[0]
    has_path = first and first.lower() != host  # <user>.<pages host> itself is published at /
    site = SiteAddress(f"{user}.{pages}", f"/{first}/" if has_path else "/")
    if host != site.host or path.strip("/") != site.path.strip("/") or query:
        raise InvalidSite(
            f"Sites are claimed as a whole: claim https://{site.host}{site.path} to cover that page."
        )
    return site


def configured(organization: Organization) -> Integration:
    """The organization's integration, locked, so that its repository does not change in the meantime."""
    mine = Integration.objects.configured().select_for_update().of(organization)
    integration = mine.select_related("installation").first()
    if integration is None:
        raise NotConfigured
    if integration.rights_lost_at or integration.problem:  # then it proves nothing
        raise NotConfigured(NO_RIGHTS if integration.rights_lost_at else integration.problem)
    if not integration.is_on_its_account():  # somebody else may own that name now
        raise NotConfigured(
            f"{integration.repository} belongs to an account that was renamed, or to a different one "
            f"than {integration.installation.account}. Save the integration again."
        )
    return integration


def verified(organization: Organization, where: SiteAddress, repository: str) -> tuple[Site, bool]:
    """The organization's live claim, and whether it is new. Raises `ClaimedElsewhere`, `TooManySites`."""
    path = where.path_of(repository)
    mine = Site.objects.filter(organization=organization, host=where.host, path=path)
    if site := mine.live().first():
        return site, False
    if not mine.exists() and organization.sites.all()[MOST - 1 : MOST].exists():
        raise TooManySites
    try:
        with transaction.atomic():
            site, _ = Site.objects.update_or_create(
                organization=organization,
                host=where.host,
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
