"""Which links of answers are shown: to pages that are their organization's, and that everybody may see."""

from collections.abc import Iterable

from integrations.models import Integration
from integrations.ownership import public_files
from orgs.ownership import owners_at, place
from reports import canonical


def shown(links: Iterable[str], organization_id: str) -> set[str]:
    """Those on a domain or site that the organization claims now. Of files on the code host, only public ones.

    Two queries at most, however many there are, and another one where there are such files.
    """
    urls = {link: canonical.url(link) for link in links if link}
    places = {link: where for link, url in urls.items() if (where := place(url))}
    owners = owners_at(places.values()) if places else {}
    theirs = {link for link, where in places.items() if owners.get(where) == organization_id}
    files = {link for link in theirs if public_files.are_at(urls[link])}
    return theirs - files | _public(files, urls, organization_id)


def _public(files: set[str], urls: dict[str, str], organization_id: str) -> set[str]:
    mine = Integration.objects.configured().of(organization_id).first() if files else None
    return {link for link in files if mine and public_files.are_of(mine, urls[link])}
