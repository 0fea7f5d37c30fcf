"""What strangers may know of a repository's files: nothing that says that a private repository exists."""

from django.conf import settings
from django.db.models import Q, QuerySet

from core import counting
from integrations.models import Delivery, Integration
from orgs import renamed, repository_pages
from orgs.renamed import Received
from reports.models import Report

AMONG = 10  # times as many reports as are counted at most


def are_at(url: str) -> bool:
    """Whether a canonical URL is of a file of some repository."""
    return repository_pages.read(url, code_host=settings.HUB_GITHUB_URL) is not None


def are_of(integration: Integration, url: str) -> bool:
    """Whether the file at `url` is of the integration's repository, and GitHub called that public."""
    page = repository_pages.read(url, code_host=settings.HUB_GITHUB_URL)
    its_path = repository_pages.claim_path(integration.repository)
    return page is not None and page.claim_path == its_path and not integration.repository_private


def without_private_ones(reports: QuerySet[Report], organization: str) -> QuerySet[Report]:
    """What strangers may count of the newest of an organization's reports: of files, those that `are_of` it."""
    there = repository_pages.code_host_at(settings.HUB_GITHUB_URL).url
    files = Q(canonical_url__startswith=f"{there}/")
    public = Integration.objects.of(organization).configured().filter(repository_private=False)
    for mine in public:
        root = there + repository_pages.claim_path(mine.repository)
        files &= ~Q(canonical_url__startswith=root) & ~Q(canonical_url=root.removesuffix("/"))
    # A bound, since the others have no index of their own; so wide that a few private ones move nothing.
    newest = reports.values("pk")[: AMONG * counting.MOST + 1]
    return Report.objects.filter(pk__in=newest).exclude(files)


def are_told(url: str, delivery: Delivery | None) -> bool:
    """Whether strangers may know what became of a report about `url`; if that is no such file, they may."""
    if not are_at(url):
        return True
    if delivery is None:
        return False
    if delivery.public_issue_url() is not None:
        return True
    mine = delivery.integration
    now = renamed.address_now(Received(url, mine.organization_id))  # it may wait since before
    return are_of(mine, now or url)
