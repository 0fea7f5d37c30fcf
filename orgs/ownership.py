"""Who owns a page."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from django.conf import settings

from core.prepared import PreparedStatement, time_of
from orgs import repository_pages
from orgs.domains import hosts
from orgs.models import Domain, Site

ASKED_AGAIN = 128  # addresses, about each of which a request asks several times
REMEMBERED = 10_000  # names whose pages were somebody's
NAMES = 5000  # names or places per query, of a place at most three parts; SQLite accepts 32,766
LONGEST_NAME = hosts.MAX_NAME
T = TypeVar("T")

DOMAINS = (
    "orgs_domain WHERE verified_at IS NOT NULL AND name = ANY(%s) AND (registrable OR name = %s)"
)
SITES = "orgs_site WHERE lapsed_at IS NULL AND host = %s AND path = ANY(%s)"
DOMAIN = PreparedStatement(
    "Which verified claim covers a host: of this name, or of the registrable one above it?",
    f"SELECT id, organization_id, opted_out_at FROM {DOMAINS} ORDER BY length(name) DESC LIMIT 1",  # noqa: S608
)
SITE = PreparedStatement(
    "Which live claim of a site on this host has one of these paths? The longest.",
    f"SELECT id, organization_id, opted_out_at FROM {SITES} ORDER BY length(path) DESC LIMIT 1",  # noqa: S608
)
NO_DOMAIN = f"NOT EXISTS (SELECT 1 FROM {DOMAINS})"  # noqa: S608
NO_SITE = f"NOT EXISTS (SELECT 1 FROM {SITES})"  # noqa: S608


class Claim(NamedTuple):
    """What decides about a page: a claim of a domain or of a site."""

    id: str
    organization_id: str
    opted_out_at: datetime | None


class Unclaimed(NamedTuple):
    """A condition in SQL, as `PreparedStatement` takes it: that no live claim covers a page; its values."""

    sql: str
    values: tuple[Any, ...]


class Place(NamedTuple):
    """The parts of a URL that decide its owner; `paths` only on a user's site, or of a repository."""

    host: str
    paths: tuple[str, ...] = ()


def owner_of(url: str) -> str | None:
    """The id of the organization that owns the page at `url`, a canonical URL; None for a path or if nobody does."""
    claim = claim_covering(url)
    return claim.organization_id if claim else None


def owners_at(places: Iterable[Place]) -> dict[Place, str]:
    """The id of the owner of each place; places that nobody owns are left out."""
    return {place: claim.organization_id for place, claim in claims_at(places).items()}


def claims_at(places: Iterable[Place]) -> dict[Place, Domain | Site]:
    """The most specific live claim that covers each place; places that nobody owns are left out.

    Two queries for some hundreds of places, however many hosts they are on.
    """
    places = set(places)
    on_sites = {place for place in places if place.paths}
    sites = {
        (site.host, site.path): site
        for some in _some(on_sites)
        for site in Site.objects.live().filter(
            host__in={place.host for place in some},
            path__in={path for place in some for path in place.paths},
        )
    }
    others = {place.host for place in places if not place.paths}
    domains = {
        domain.name: domain
        for some in _some(others.union(map(_registrable, others)))
        for domain in Domain.objects.verified().filter(name__in=some)
    }
    claims = {place: _nearest(place, sites, domains) for place in places}
    return {place: claim for place, claim in claims.items() if claim}


def claim_covering(url: str) -> Claim | None:
    """The most specific live claim that covers `url`. One statement, however many claims there are.

    A domain covers its own host, and if it is registrable the hosts below it that are not below a public
    suffix of their own. On `<user>.<pages host>`
    a site covers what is below its path; a site of `/` covers the rest. The port does not matter. On the
    code host a repository covers its own pages, at the code host's port; the others belong to nobody.
    """
    where = place(url)
    claim = _claim_at(where) if where else None
    if claim and (name := shared_name(url)):
        _remember(name)
    return claim


def unclaimed(url: str) -> Unclaimed | None:
    """What a statement may ask instead of `claim_covering`; None if that is likely to find a claim.

    It has found one here, or beside it, in this process.
    """
    where = place(url)
    if where is None:
        return Unclaimed("", ())
    if shared_name(url) in _somebodys:
        return None
    return Unclaimed(NO_SITE if where.paths else NO_DOMAIN, _asked(where))


def forget() -> None:
    """Forget whose pages `claim_covering` has found."""
    _somebodys.clear()


_somebodys: set[str] = set()  # only a hint of which question is the shorter one


def _remember(name: str) -> None:
    if len(_somebodys) >= REMEMBERED:
        _somebodys.clear()
    _somebodys.add(name)


def place(url: str) -> Place | None:
    """Where a page is; None for a path, and for what is on the code host and no page of a repository."""
    if page := _repository_page(url):
        return Place(page.code_host.host, (page.claim_path,))
    address = urlsplit(url)
    host = address.hostname if address.scheme else None
    if not host:
        return None
    if hosts.is_user_site(host, pages_host=settings.HUB_PAGES_HOST):
        return Place(host, _claimable_paths(address.path))
    return None if _is_code_host(host) else Place(host)


def shared_name(url: str) -> str | None:
    """The name that pages share with those that may have the same owner; None for a path.

    The registrable name of the host, or `host/owner/repository` on the code host, where everybody's
    repositories are below one name. Reports that nobody owns are found and counted by it.
    """
    return _shared_name(url, settings.HUB_GITHUB_URL, settings.HUB_PAGES_HOST)


@lru_cache(ASKED_AGAIN)
def _shared_name(url: str, code_host: str, pages_host: str) -> str | None:
    if page := repository_pages.read(url, code_host=code_host):
        return f"{page.code_host.host}{page.claim_path.removesuffix('/')}"[:LONGEST_NAME]
    host = urlsplit(url).hostname if "://" in url else None
    return hosts.registrable(host, pages_host=pages_host) if host else None


def is_site_page(url: str) -> bool:
    """Whether a site or a repository may cover `url`, a canonical URL. If so, no domain covers it."""
    where = place(url)
    return bool(where and where.paths)


def _claim_at(place: Place) -> Claim | None:
    row = (SITE if place.paths else DOMAIN).first(*_asked(place))
    if row is None:
        return None
    claim, organization, opted_out_at = row
    return Claim(claim, organization, time_of(opted_out_at) if opted_out_at else None)


def _asked(place: Place) -> tuple[Any, ...]:
    """The values of SITE or DOMAIN."""
    if place.paths:
        return place.host, list(place.paths)
    return [place.host, _registrable(place.host)], place.host


def _nearest(
    place: Place, sites: dict[tuple[str, str], Site], domains: dict[str, Domain]
) -> Domain | Site | None:
    """What `_claim_at` finds, among live claims that are already loaded."""
    if place.paths:
        longest_first = [sites.get((place.host, path)) for path in reversed(place.paths)]
        return next(filter(None, longest_first), None)
    above = domains.get(_registrable(place.host))
    return domains.get(place.host) or (above if above and above.registrable else None)


def _registrable(host: str) -> str:
    """The name whose owner has all hosts below it, down to where others have theirs, such as s3.amazonaws.com."""
    return hosts.registrable(host, pages_host=settings.HUB_PAGES_HOST)


def _repository_page(url: str) -> repository_pages.RepositoryPage | None:
    return repository_pages.read(url, code_host=settings.HUB_GITHUB_URL)


def _some(each: set[T]) -> Iterator[list[T]]:
    """All of them, in lists of at most `NAMES`."""
    every = list(each)
    for first in range(0, len(every), NAMES):
        yield every[first : first + NAMES]


def _is_code_host(host: str) -> bool:
    """A registrable domain above it may be claimed, but a link to it would be live in an issue."""
    code_host = repository_pages.code_host_at(settings.HUB_GITHUB_URL)
    return f".{host}".endswith(f".{code_host.host}")


def _claimable_paths(path: str) -> tuple[str, ...]:
    """The site paths that contain the page at `path`: `/`, and `/<first segment>/`.

    >>> _claimable_paths("//repo/./guide/../install")
    ('/', '/repo/')
    """
    segments: list[str] = []
    for segment in path.replace("%2e", ".").replace("%2E", ".").split("/"):
        if segment == "..":
            segments[-1:] = []
        elif segment not in ("", "."):
            segments.append(segment)
    return ("/", f"/{segments[0]}/") if segments else ("/",)
