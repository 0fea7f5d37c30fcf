"""The JSON of integrations and sites in the maintainers' API."""

from typing import Any

from integrations.github_api import RepositoryFacts
from integrations.models import Answer, Integration
from orgs.models import Site


def integration(integration: Integration) -> dict[str, Any]:
    """The JSON of an integration."""
    return {
        "provider": "github",
        "status": integration.status,
        "account": integration.installation.account,
        "repo_owner": integration.repo_owner or None,
        "repo_name": integration.repo_name or None,
        "issue_template": integration.issue_template or None,
        "problem": integration.why_silent or None,
        "alerts": bool(integration.alerts),
        "likeness": integration.likeness,
        "when_reported_again": integration.when_reported_again,
        "shows_known": integration.shows_known,
        "labels": integration.labels or {},
        "assignees": integration.assignees or [],
        "issue_type": integration.issue_type or None,
        "not_applied": integration.not_applied_words or None,
    }


def site(site: Site) -> dict[str, Any]:
    """The JSON of a site."""
    return {
        "id": site.id,
        "url": site.url,
        "status": site.status,
        "repository": site.repository,
        "verified_at": site.verified_at,
        "lapsed_at": site.lapsed_at,
        "opted_out_at": site.opted_out_at,
    }


def repository(repository: RepositoryFacts) -> dict[str, Any]:
    """The JSON of a repository to choose, with what prevents choosing it."""
    return {
        "repo_owner": repository.owner,
        "repo_name": repository.name,
        "private": repository.is_private,
        "archived": repository.is_archived,
        "has_issues": repository.has_issues,
    }


def answer(answer: Answer | None) -> dict[str, Any] | None:
    """The JSON of an answer to reporters, as its organization sees it."""
    if answer is None:
        return None
    return {
        "text": answer.text,
        "link": answer.link or None,
        "made_by": answer.made_by,
        "changed_at": answer.changed_at,
    }
