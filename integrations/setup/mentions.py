"""Whom the template of an organization may mention: asked of GitHub when it is saved, and kept."""

from collections.abc import Sequence

from django.conf import settings

from core import rates
from core.errors import ApiError
from integrations import github_api
from integrations.github_api import RepositoryFacts, asking
from integrations.issue import addressing
from integrations.issue.addressing import Audience
from integrations.models import Integration
from orgs import repository_pages
from orgs.models import Membership

MOST = 10  # accounts and teams of one template
ASKED = "30/hour"  # for each installation: each takes up to 11 of its 5,000 calls
LONGEST_LOGIN = 100  # characters
SHOWN = 100  # characters of what is wrong
AS_CODE = "or put it between backticks, as code, outside of HTML."


class TemplateAddressesOthers(ApiError):
    """400: the template mentions, or refers to, what the organization may not address."""

    status_code = 400
    default_code = "template_names_others"


def confirmed(
    template: str, integration: Integration, facts: RepositoryFacts, member: Membership
) -> list[str]:
    """Whom a template may mention in this repository: logins and `owner/team`, in lower case.

    Asks GitHub whether each account can be assigned there. Raises `TemplateAddressesOthers` if one cannot,
    and `asking.CodeHostUnavailable` if GitHub does not say.
    """
    audience = audience_of(facts.full_name)
    found = addressing.found_in_template(template, audience)
    if problem := _problem(found, audience):
        raise TemplateAddressesOthers(problem[1], found=problem[0])
    logins = [each[1:] for each in found if "/" not in each]
    strangers = set(logins) - set(_assignable(logins, integration, facts, member))
    for login in filter(strangers.__contains__, logins):
        raise TemplateAddressesOthers(
            f"@{login} cannot be mentioned: no issue of {facts.full_name} can be assigned to {login}. "
            f"Give {login} access there, {AS_CODE}",
            found=f"@{login}",
        )
    return sorted(each[1:].lower() for each in found)


def audience_of(repository: str, mentions: Sequence[str] = ()) -> Audience:
    """Whom a template may address in this repository (`owner/name`), on our code host."""
    host = repository_pages.code_host_at(settings.HUB_GITHUB_URL).host
    return Audience(frozenset(mentions), repository, host)


def not_allowed(integration: Integration) -> str:
    """What of a saved template is broken in each issue, in words, and what to do; empty if nothing is.

    Nothing is while no repository is chosen: with the next one, the template is saved again.
    """
    if not integration.repository:
        return ""
    audience = audience_of(integration.repository, integration.mentions)
    found = addressing.found_in_template(integration.issue_template, audience)
    if not found:
        return ""
    return (
        f"Not live in your issues: {_listed(found)}. Save the template again: "
        "then GitHub is asked, and you are told what may not be in it."
    )


def notices(template: str, repository: str, integration: Integration | None) -> list[str]:
    """What to know before a template is saved for this repository (`owner/name`, as it was typed), a sentence each."""
    is_same = integration and integration.repository.lower() == repository.lower()
    audience = audience_of(repository, integration.mentions if integration and is_same else ())
    found = addressing.found_in_template(template, audience)
    if problem := _problem(found, audience):
        return [problem[1]]
    if not found:
        return []
    asked = "Then GitHub is asked who can be assigned in your repository."
    return [f"Not live before the template is saved: {_listed(found)}. {asked}"]


def _problem(found: Sequence[str], audience: Audience) -> tuple[str, str] | None:
    """The first thing that no GitHub needs to be asked about, and what to do."""
    owner = audience.repository.partition("/")[0][:SHOWN] or "the owner of the repository"
    for each in found:
        name, _, team = each[1:].partition("/")
        shown = each[:SHOWN]
        if not each.startswith("@"):
            return shown, (
                f"{shown} refers to another repository, whose people GitHub would tell of each issue. "
                f"Remove it, {AS_CODE}"
            )
        if team and not audience.is_owner(name):
            return shown, (
                f"{shown} cannot be mentioned: it would be a team of {name[:SHOWN]}. Mention teams of {owner} only, "
                f"{AS_CODE}"
            )
        if len(name) > LONGEST_LOGIN:
            return (
                shown,
                f"{shown} cannot be mentioned: no account has such a name. Remove it, {AS_CODE}",
            )
    mentions = [each for each in found if each.startswith("@")]
    if len(mentions) > MOST:
        return mentions[MOST][:SHOWN], (
            f"The template mentions {len(mentions):,} accounts and teams. Keep at most {MOST}."
        )
    return None


def _assignable(
    logins: Sequence[str], integration: Integration, facts: RepositoryFacts, member: Membership
) -> list[str]:
    if not logins:
        return []
    installation = integration.installation
    limit = rates.Limit(ASKED, ("mentions", str(installation.github_id)))
    with asking.github(
        member, through=installation, also=[limit], what="templates that mention people"
    ) as deadline:
        return github_api.assignable(installation.github_id, facts.id, logins, deadline=deadline)


def _listed(found: Sequence[str]) -> str:
    named = [each[:SHOWN] for each in found[:3]]
    *others, last = named if len(found) <= 3 else [*named, f"{len(found) - 3:,} more"]
    return f"{', '.join(others)} and {last}" if others else last
