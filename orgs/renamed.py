"""Where pages are now whose repository was renamed, for the organization that has received reports about them.

A rename moves no report: there may be any number. The address that was left is kept with the claim's
organization, and a report that waits is found by it when its turn comes.
"""

from collections.abc import Collection
from typing import NamedTuple

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet, Subquery

from core import clock
from orgs import ownership, repository_pages
from orgs.models import FormerAddress, Organization, Site

MOST = 100  # of one organization; the oldest are forgotten


class Received(NamedTuple):
    """A page, by its canonical URL, and the id of the organization that has received a report about it."""

    url: str
    organization: str


def leave(site: Site, repository_id: int) -> None:
    """Remember the address of the claim of this repository, which is about to move."""
    mine = FormerAddress.objects.filter(organization=site.organization_id)
    mine.update_or_create(
        organization_id=site.organization_id,
        host=site.host,
        path=site.path,
        defaults={"repository_id": repository_id, "left_at": clock.now()},
    )
    oldest = mine.order_by("-left_at", "-pk").values_list("pk", flat=True)[MOST : MOST * 2]
    FormerAddress.objects.filter(pk__in=list(oldest)).delete()


def forget(organization: Organization, host: str, path: str) -> None:
    """Forget that a repository was at this address, since another one of the organization is there."""
    FormerAddress.objects.filter(organization=organization, host=host, path=path).delete()


def of_nobody() -> QuerySet[FormerAddress]:
    """Those of organizations that the version before has deleted, which does not know of them."""
    its = Organization.objects.filter(pk=OuterRef("organization_id"))
    return FormerAddress.objects.filter(~Exists(its))


def address_now(page: Received) -> str | None:
    """The URL by which the organization owns the page now; None if it does not."""
    if ownership.owner_of(page.url) == page.organization:
        return page.url
    return addresses_now([page]).get(page)


def addresses_now(pages: Collection[Received]) -> dict[Received, str]:
    """The URLs of those of `pages` whose repository was renamed, and is its organization's. One query."""
    left = {page: path for page in pages if (path := _path(page.url))}
    if not left:
        return {}
    claimed = Site.objects.live().filter(
        organization=OuterRef("organization"), repository_id=OuterRef("repository_id")
    )
    code_host = repository_pages.code_host_at(settings.HUB_GITHUB_URL)
    former = FormerAddress.objects.filter(
        organization__in={page.organization for page in left},
        host=code_host.host,
        path__in=set(left.values()),
    ).annotate(now=Subquery(claimed.values("path")[:1]))
    there = {(each.organization_id, each.path): each.now for each in former if each.now}
    return {
        page: _moved(page.url, code_host.url, path, there[page.organization, path])
        for page, path in left.items()
        if (page.organization, path) in there
    }


def _path(url: str) -> str | None:
    """The path of the claim of a repository that covers `url`; None if none can."""
    page = repository_pages.read(url, code_host=settings.HUB_GITHUB_URL)
    return page.claim_path if page else None


def _moved(url: str, code_host: str, before: str, now: str) -> str:
    """The canonical URL of the same page in the repository at `now`."""
    rest = url.removeprefix(f"{code_host}{before.removesuffix('/')}")
    return f"{code_host}{now.removesuffix('/')}{rest}"
