"""Claims of sites and repositories: they belong to whoever receives issues in the repository behind them.

A static site is published by the repository of a certain name. A repository's own pages on the code host
are known by GitHub's number of it: its claim follows that through renames (`follow`).
"""

from contextlib import suppress
from typing import Any, NamedTuple, Self, cast
from urllib.parse import urlsplit

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from core import after_commit, clock
from core.errors import ApiError
from core.locking import locked
from integrations.delivery import ownership_changes
from integrations.github_api import RepositoryFacts
from integrations.models import Installation, Integration
from integrations.models.integration import NO_RIGHTS, InstallationQuerySet
from integrations.ownership import other_claims, push_access
from orgs import renamed, repository_pages
from orgs.domains import hosts
from orgs.models import Membership, Notice, Organization, Site
from orgs.people import members
from reports import canonical

CHANGED = "The repository of your integration was changed in the meantime. Please try again."
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


class NotPublished(ApiError):
    """422: GitHub Pages publishes no site from the repository."""

    status_code = 422
    default_code = "not_published"


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
    of_repository = (
        "Another organization on this Hub has claimed that repository. Ask them to remove their claim, "
        "or to invite you. If none of their members has push access to it, somebody with admin access "
        "can claim it here, and gets it at once."
    )
    of_lapsed = " Its claim has lapsed for now, but comes back by itself, since its issues go to the same repository."

    @classmethod
    def of(cls, where: "SiteAddress", theirs: Site | None = None) -> Self:
        """The error in words about this site or repository, and about that claim if it has lapsed."""
        words = cls.of_repository if where.is_repository else cls.default_detail
        return cls(words + cls.of_lapsed if theirs and theirs.lapsed_at else words)


class TooManySites(ApiError):
    """409: the organization has as many claims of sites as it may have, with those that have lapsed."""

    status_code = 409
    default_code = "too_many_claims"
    default_detail = f"You have {MOST:,} sites. Remove some of the claims that have lapsed first."


class SiteAddress(NamedTuple):
    """The URL of a site in parts: `path` is `/` or `/<name>/`, of a repository `/<owner>/<name>/`."""

    host: str
    path: str
    is_repository: bool = False

    @property
    def repository(self) -> str:
        """The repository that it is, or that publishes it, as `owner/name`."""
        if self.is_repository:
            return self.path.strip("/")
        owner = self.host.partition(".")[0]
        return f"{owner}/{self.path.strip('/') or self.host}"

    @property
    def words(self) -> str:
        """What it is, in a sentence."""
        return "repository" if self.is_repository else "site"

    def claimed_with(self, integration: Integration) -> dict[str, Any]:
        """The columns of its claim. A site's path has the repository's own spelling of its name."""
        repository = integration.repository
        if self.is_repository:
            return _columns(cast(int, integration.repository_id), repository)
        path = _site_path(self.path, repository)
        return {"host": self.host, "path": path, "repository": repository, "repository_id": None}


def claim_site(organization: Organization, url: str) -> tuple[Site, bool]:
    """The organization's verified claim of the site or repository at `url`, and whether it is new.

    Its repository must be the integration's; GitHub is not called. Raises the errors above, and
    `members.OrganizationLeft`.
    """
    where = address(url)
    with transaction.atomic():
        members.lock_for_claim(organization)
        integration = configured(organization)
        if where.repository.lower() != integration.repository.lower():
            it = "is" if where.is_repository else "site is published from"
            raise DifferentRepository(
                f"That {it} {where.repository}, but your issues go to "
                f"{integration.repository}. Choose {where.repository} as your repository first."
            )
        if not (where.is_repository or integration.has_pages):
            raise NotPublished(
                f"GitHub Pages publishes nothing from {integration.repository}, so it does not prove "
                "whose that site is. Turn Pages on in the repository's settings; then save the "
                "integration here again, and claim the site."
            )
        if theirs := other_claims.in_the_way(integration, where.claimed_with(integration)):
            raise ClaimedElsewhere.of(where, theirs)
        site, is_new = verified(organization, where, integration)
        if is_new:
            ownership_changes.release_regained(organization)
    return site, is_new


def remove_claim(site: Site, *, by: Membership) -> None:
    """Remove a claim on behalf of an owner; what waits for its pages is held.

    For a live claim push access is checked on GitHub, as for disconnecting. Raises
    `members.NotAnOwner`, or as `push_access.require_to_let_go` does.
    """
    members.require_owner(by)
    asked_about = None
    if site.lapsed_at is None:
        asked_about = push_access.repository_of(by)
        push_access.require_to_let_go(by)
    with suppress(Site.DoesNotExist), transaction.atomic():  # somebody may just have removed it
        now = push_access.locked_repository_of(by)
        site.refresh_from_db()
        if site.lapsed_at is None and now != asked_about:
            raise push_access.NoPushAccess(CHANGED)
        site.delete()
        ownership_changes.hold_lost(site.organization)


def opt_out(site: Site, out: bool, *, by: Membership) -> None:
    """Refuse reports about it from now on, or accept them again; for owners with push access.

    Raises `members.NotAnOwner`, or as `push_access.require` does, also if the claim has lapsed: it may be of
    another repository than GitHub is asked about. `Site.DoesNotExist` if it was removed in the meantime.
    """
    members.require_owner(by)
    _require_live(site)
    asked_about = push_access.repository_of(by)
    push_access.require(by)
    with transaction.atomic():
        now = push_access.locked_repository_of(by)
        site.refresh_from_db()
        _require_live(site)
        if now != asked_about:
            raise push_access.NoPushAccess(CHANGED)
        site.opt_out(out)


def _require_live(site: Site) -> None:
    if site.lapsed_at:
        raise push_access.NoPushAccess(
            f"The claim of {site} has lapsed, so nothing depends on this. Claim it again first."
        )


class Why(NamedTuple):
    """Why claims lapse: the words about a site, and about a repository."""

    site: str
    repository: str


UNPUBLISHED = Why(
    "is no longer published by your repository", "is no longer the repository of your integration"
)
UNSEEN = Why(
    "is published by a repository that the app cannot see now",
    "is a repository that the app cannot see now",
)
RENAMED = Why("", "is the address of another repository now")


def without_push_access(repository: str, days: int) -> Why:
    """Why claims lapse once nobody has had push access for so long."""
    nobody = f"none of your members has had push access for more than {days} days"
    return Why(
        f"is published by {repository}, to which {nobody}", f"is a repository to which {nobody}"
    )


def lapse_unpublished(
    organization: Organization,
    repository: RepositoryFacts | None = None,
    *,
    why: Why = UNPUBLISHED,
) -> int:
    """Let the claims lapse of what this repository, if any, neither publishes nor is. Returns how many."""
    return _lapse(_unproved(organization, repository), why)


def would_lapse(organization: Organization, repository: RepositoryFacts) -> bool:
    """Whether claims would lapse if the organization's issues went to this repository."""
    return _unproved(organization, repository).exists()


def _unproved(organization: Organization, repository: RepositoryFacts | None) -> QuerySet[Site]:
    """The live claims of what this repository, if any, neither publishes nor is."""
    live = Site.objects.live().filter(organization=organization)
    if repository is None:
        return live
    kept = _belongs_to(repository.full_name, repository.id, has_pages=repository.has_pages)
    return live.exclude(kept)


def lapse_of_other_accounts(installation: Installation) -> int:
    """Let the claims lapse that are not of the installation's account; returns how many.

    When an account is renamed, somebody else may take its old name, and the sites of that name. Its
    repositories go by its new one at once: their claims move.
    """
    organizations = Integration.objects.filter(installation=installation).values("organization")
    live = Site.objects.live().filter(organization__in=organizations)
    of_others = live.exclude(repository__istartswith=f"{installation.account}/")
    for site in of_others.exclude(repository_id=None).select_related("organization"):
        name = site.repository.partition("/")[2]
        _move(site.organization, cast(int, site.repository_id), f"{installation.account}/{name}")
    return _lapse(of_others, UNPUBLISHED)


def follow(
    organization: Organization, number: int, full_name: str, *, is_late: bool = False
) -> None:
    """Move the claim of the repository with this number to the name that GitHub says it has now.

    What others have claimed by that name has another number: an earlier repository of that name, and
    their claim lapses. What may come late does not move it there, since theirs may be the later one: GitHub
    is asked soon. Claims of its sites move if only the case of the name has changed.
    """
    if is_late and (theirs := namesakes(organization, number, full_name)).exists():
        _installations_of(theirs).ask_about_soon()
        return
    _respell_sites(organization, full_name)
    if Site.objects.filter(organization=organization, repository_id=number).exists():
        lapse_namesakes(organization, number, full_name)
        _move(organization, number, full_name)


def lapse_namesakes(organization: Organization, number: int, full_name: str) -> None:
    """Let the others' claims lapse of repositories that had the name of this one before.

    They have another name by now: GitHub is asked about them soon, and then their claims come back.
    """
    theirs = namesakes(organization, number, full_name)
    asked = _installations_of(theirs)
    _lapse(theirs, RENAMED)
    asked.ask_about_soon()


def namesakes(organization: Organization, number: int, full_name: str) -> QuerySet[Site]:
    """The others' live claims of repositories that had the name of this one before."""
    where = _columns(number, full_name)
    there = Site.objects.live().filter(host=where["host"], path=where["path"])
    return there.exclude(organization=organization).exclude(repository_id=number)


def _installations_of(sites: QuerySet[Site]) -> InstallationQuerySet:
    """Those through which GitHub is asked about these repositories now."""
    known = Integration.objects.filter(repository_id__in=sites.values("repository_id"))
    return Installation.objects.filter(pk__in={*known.values_list("installation_id", flat=True)})


def _respell_sites(organization: Organization, full_name: str) -> None:
    """Move the claims of the sites of a repository whose name is in another case now: GitHub Pages tells them apart."""
    mine = organization.sites.filter(repository_id=None, repository__iexact=full_name)
    for site in mine.exclude(repository=full_name):
        path = _site_path(site.path, full_name)
        there = organization.sites.filter(host=site.host, path=path).exclude(pk=site.pk)
        there.exclude(lapsed_at=None).delete()
        if there.exists():  # claimed by its present name since then
            site.delete()
        else:
            _put(mine.filter(pk=site.pk), {"path": path, "repository": full_name})


def _site_path(path: str, repository: str) -> str:
    """The path of a site of this repository, in the repository's own spelling."""
    return "/" if path == "/" else f"/{repository.partition('/')[2]}/"


def _move(organization: Organization, number: int, full_name: str) -> None:
    """Move the claim to this name; it lapses if somebody else's is there."""
    columns = _columns(number, full_name)
    mine = Site.objects.filter(organization=organization, repository_id=number)
    before = mine.exclude(path=columns["path"], repository=full_name).first()
    if before is None:
        return
    _forget_earlier(organization, columns)
    _put(mine, columns)
    if before.path != columns["path"]:
        renamed.leave(before, number)


def _put(mine: QuerySet[Site], columns: dict[str, Any]) -> None:
    """Change these columns of a claim; it lapses if somebody else's is there."""
    try:
        with transaction.atomic():
            mine.update(**columns)
    except IntegrityError:
        _lapse(mine.filter(lapsed_at=None), UNPUBLISHED)
        mine.update(**columns)


def _forget_earlier(organization: Organization, columns: dict[str, Any]) -> None:
    """Remove the organization's own claim of an earlier repository of this name."""
    at = Site.objects.filter(organization=organization, host=columns["host"], path=columns["path"])
    at.exclude(repository_id=columns["repository_id"]).delete()
    renamed.forget(organization, columns["host"], columns["path"])


def _columns(number: int, full_name: str) -> dict[str, Any]:
    """The columns of the claim of a repository."""
    return {
        "host": repository_pages.code_host_at(settings.HUB_GITHUB_URL).host,
        "path": repository_pages.claim_path(full_name),
        "repository": full_name,
        "repository_id": number,
    }


def _belongs_to(repository: str, number: int | None, *, has_pages: bool) -> Q:
    """The repository's own pages, and the sites that it publishes, if it does; `number` is GitHub's of it."""
    own = Q(repository_id=number, repository_id__isnull=False)
    return own | Q(repository_id=None, repository__iexact=repository) if has_pages else own


def _lapse(sites: QuerySet[Site], why: Why) -> int:
    lost = list(sites.select_related("organization"))
    Site.objects.filter(pk__in=[site.pk for site in lost]).update(lapsed_at=clock.now())
    for site in lost:
        words = why.repository if site.is_repository else why.site
        site.organization.tell(
            Notice.Kind.LOST,
            f"{site.url} {words}, so you no longer receive reports about it. Claim it again when "
            "that has changed.",
        )
    for organization in {site.organization for site in lost}:
        # after what holds for the integration, which says better what to do
        after_commit.do(ownership_changes.hold_lost, organization)
    return len(lost)


def revive_published(integration: Integration) -> int:
    """Restore the claims that lapsed while its repository was out of reach, or had no Pages; returns how many.

    What somebody else has claimed since then stays theirs, also while that has lapsed for a moment.
    """
    organization = integration.organization
    there = _belongs_to(
        integration.repository, integration.repository_id, has_pages=integration.has_pages
    )
    mine = Site.objects.filter(there, organization=organization)
    revived = 0
    for site in mine.exclude(lapsed_at=None):
        where = SiteAddress(site.host, site.path, site.is_repository)
        if other_claims.in_the_way(integration, where.claimed_with(integration)):
            continue
        with suppress(IntegrityError), transaction.atomic():
            revived += Site.objects.filter(pk=site.pk).update(lapsed_at=None)
    if revived:
        ownership_changes.release_regained(organization)
    return revived


def address(url: str) -> SiteAddress:
    """The parts of the URL of a site or repository. Raises the errors above, with what to claim instead."""
    pages = hosts.normalize(settings.HUB_PAGES_HOST)
    written = _as_written(url)
    if not _is_on_pages(written) and (repository := _repository_at(url, written)):
        return repository
    try:
        parts = urlsplit(canonical.as_written(url).url)
    except canonical.InvalidURL as error:
        raise InvalidSite(str(error)) from None
    host = parts.hostname
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


def _is_on_pages(url: str) -> bool:
    """Whether it is on the pages host or below. That may be below the code host, but is not its own name."""
    host = urlsplit(url).hostname or ""
    own = repository_pages.code_host_at(settings.HUB_GITHUB_URL)
    is_there = hosts.is_of_pages_host(host, pages_host=settings.HUB_PAGES_HOST)
    return is_there and host not in (*own.names, *own.raw_names)


def _repository_at(url: str, written: str) -> SiteAddress | None:
    """The repository whose root `url` is; None if it is not on the code host.

    `written` is the same address as `_as_written` has it.
    """
    code_host = repository_pages.code_host_at(settings.HUB_GITHUB_URL)
    found = repository_pages.mentioned(written or url, code_host=settings.HUB_GITHUB_URL)
    if found is None:
        return None
    if not found:
        raise InvalidSite(
            f"Nobody can claim that page of the code host. Claim a repository, for example "
            f"{code_host.url}/you/repo/."
        )
    if not _is_root(written):
        raise InvalidSite(
            f"Repositories are claimed as a whole: claim {code_host.url}/{found}/ to cover its pages."
        )
    return SiteAddress(code_host.host, f"/{found}/", is_repository=True)


def _is_root(url: str) -> bool:
    """Whether it is the URL of a repository itself, and no other page of it."""
    page = repository_pages.read(url, code_host=settings.HUB_GITHUB_URL)
    return page is not None and page.kind == "root" and not urlsplit(url).query


def _as_written(url: str) -> str:
    """A URL without what has no meaning; empty for a path, and for what a page cannot have."""
    try:
        found = canonical.as_written(url)
    except canonical.InvalidURL:
        return ""
    return found.url if found.host else ""


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
    """The organization's integration, locked, so that its repository does not change in the meantime.

    Without its installation: others lock that before its integrations.
    """
    mine = Integration.objects.configured().of(organization)
    integration = locked(mine).select_related("installation").first()
    if integration is None:
        raise NotConfigured
    if why := why_it_proves_nothing(integration):
        raise NotConfigured(why)
    if not integration.is_on_its_account():  # somebody else may own that name now
        raise NotConfigured(
            f"{integration.repository} belongs to an account that was renamed, or to a different one "
            f"than {integration.installation.account}. Save the integration again."
        )
    return integration


def why_it_proves_nothing(integration: Integration) -> str:
    """Why its repository does not prove whose a site is now, as a sentence or two; empty if it does."""
    return NO_RIGHTS if integration.rights_lost_at else integration.problem


def verified(
    organization: Organization, where: SiteAddress, integration: Integration
) -> tuple[Site, bool]:
    """The organization's live claim, and whether it is new. Raises `ClaimedElsewhere`, `TooManySites`."""
    columns = where.claimed_with(integration)
    if where.is_repository:
        _move(organization, columns["repository_id"], columns["repository"])
        _forget_earlier(organization, columns)
    mine = Site.objects.filter(
        organization=organization, host=columns["host"], path=columns["path"]
    )
    if site := mine.live().first():
        return site, False
    if not mine.exists() and organization.sites.all()[MOST - 1 : MOST].exists():
        raise TooManySites
    now = {
        "verified_at": timezone.now(),
        "lapsed_at": None,
    }  # opted out, it stays so: owners decide that
    try:
        with transaction.atomic():
            site, _ = mine.update_or_create(
                organization=organization,
                host=columns["host"],
                path=columns["path"],
                defaults=columns | now,
            )
    except IntegrityError:
        raise ClaimedElsewhere.of(where) from None
    return site, True
