"""Claiming the files of the repository that was just chosen, with the form that chooses it."""

from typing import NamedTuple

from django.conf import settings

from core.errors import ApiError
from hub.screen import setup_steps
from integrations.models import Integration
from integrations.ownership import taking_over
from orgs import repository_pages
from orgs.models import Membership, Site


class Standing(NamedTuple):
    """Who receives reports about a repository's files: this claim of ours, somebody else, or nobody."""

    mine: Site | None = None
    is_elsewhere: bool = False


def standing(integration: Integration) -> Standing:
    """The same of the integration's repository."""
    if integration.repository_id is None:
        return Standing()
    host = repository_pages.code_host_at(settings.HUB_GITHUB_URL).host
    path = repository_pages.claim_path(integration.repository)
    found = Site.objects.live().filter(host=host, path=path).first()
    if found and found.organization_id == integration.organization_id:
        return Standing(mine=found)
    return Standing(is_elsewhere=found is not None)


def claim(member: Membership, saved: Integration) -> str:
    """Claim the files of its repository; why they are not claimed, if they are not."""
    try:
        taking_over.claim_site(member, setup_steps.files_of(saved))
    except ApiError as error:
        return str(error.detail).replace("`", "")
    return ""
