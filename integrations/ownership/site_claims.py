"""Claims of static sites: whoever receives issues in the repository that publishes a site owns it."""

from contextlib import suppress
from typing import NamedTuple
from urllib.parse import urlsplit

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from core import clock
from core.errors import ApiError
from integrations.delivery import ownership_changes
from integrations.models import Integration
from integrations.models.integration import NO_RIGHTS
from integrations.ownership import push_access
from orgs.domains import hosts
from orgs.models import Membership, Organization, Site
from orgs.people import members
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
        "or to let you join. Where no member of theirs may push to the repository that publishes "
        "it any more, somebody with admin right there can claim it here, and it passes on at once."
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

    def path_of(self, repository: str) -> str:
        """In the repository's own spelling of its name, which is how its pages are addressed."""
        return "/" if self.path == "/" else f"/{repository.partition('/')[2]}/"


def claim_site(organization: Organization, url: str) -> tuple[Site, bool]:
    """The organization's verified claim of the site at `url`, and whether it is new.

    Its repository has to be the integration's; nothing is asked of GitHub. Raises the errors above.
    """
    where = address(url)
    with transaction.atomic():
        integration = configured(organization)
        if where.repository.lower() != integration.repository.lower():
            raise DifferentRepository(
                f"That site is published from {where.repository}, and your integration is for "
                f"{integration.repository}. Make {where.repository} the integration first."
            )
        site, is_new = verified(organization, where, integration.repository)
        ownership_changes.release_regained(organization)
    return site, is_new


def give_up(site: Site, *, by: Membership) -> None:
    """Let an owner delete a claim; what is waiting for its pages is held.

    Where it is live GitHub is asked, as before a disconnection. Raises `members.NotAnOwner`, or as
    `rights.require_to_let_go` does.
    """
    members.require_owner(by)
    if site.lapsed_at is None:
        push_access.require_to_let_go(by)
    with transaction.atomic():
        members.require_owner(by)  # GitHub may have taken its time
        site.delete()
        ownership_changes.hold_lost(site.organization)


def opt_out(site: Site, out: bool, *, by: Membership) -> None:
    """Let an owner with push right refuse reports about it from now on, or take them again.

    Raises `members.NotAnOwner`, or as `rights.require` does; and `Site.DoesNotExist` where it was
    given up meanwhile.
    """
    members.require_owner(by)
    push_access.require(by)
    with transaction.atomic():
        members.require_owner(by)  # GitHub may have taken its time
        site.opt_out(out)


UNPUBLISHED = "is not published by your repository any more"


def lapse_unpublished(
    organization: Organization, repository: str, *, why: str = UNPUBLISHED
) -> int:
    """Let the claims lapse that `repository` (owner/name, or empty) does not publish; how many."""
    live = Site.objects.live().filter(organization=organization)
    lost = list(live.exclude(repository__iexact=repository))
    Site.objects.filter(pk__in=[site.pk for site in lost]).update(lapsed_at=clock.now())
    for site in lost:
        organization.tell(
            f"{site.url} {why}, so reports about it no longer come to you. Claim it again when "
            "that has changed."
        )
    if lost:
        ownership_changes.hold_lost(organization)
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
        ownership_changes.release_regained(organization)
    return revived


def address(url: str) -> Address:
    """Of the site at `url`. Raises the errors above, with what to claim instead."""
    try:
        parts = urlsplit(canonical.url(url))
    except canonical.InvalidURL as error:
        raise InvalidSite(str(error)) from None
    host, pages = parts.hostname, hosts.normalize(settings.HUB_PAGES_HOST)
    if host is None:
        raise InvalidSite(f"Give the whole address, for example https://you.{pages}/repo/.")
    if host == pages:
        raise SharedHost(
            f"`{pages}` is shared by many owners, so nobody can claim all of it. "
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


def configured(organization: Organization) -> Integration:
    """The organization's integration, locked: it must not move to another repository meanwhile."""
    mine = Integration.objects.configured().select_for_update().filter(organization=organization)
    integration = mine.select_related("installation").first()
    if integration is None:
        raise NotConfigured
    if integration.rights_lost_at or integration.problem:  # then it proves nothing
        raise NotConfigured(NO_RIGHTS if integration.rights_lost_at else integration.problem)
    if not integration.is_on_its_account():  # somebody else may have that name by now
        raise NotConfigured(
            f"{integration.repository} belongs to an account that was renamed, or to another one "
            f"than {integration.installation.account}. Save the integration again."
        )
    return integration


def verified(organization: Organization, where: Address, repository: str) -> tuple[Site, bool]:
    """The organization's live claim, and whether it is new. Raises `ClaimedElsewhere`."""
    path = where.path_of(repository)
    mine = Site.objects.filter(organization=organization, host=where.host, path=path)
    if site := mine.live().first():
        return site, False
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
