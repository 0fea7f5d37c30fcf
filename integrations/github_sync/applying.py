"""Keeping up with what happens at GitHub, whether a webhook tells or `reconcile_installations` asks.

Each function says what is so now, and may be called again and again.
"""

from core import clock
from integrations.delivery import holds
from integrations.github_api import InstallationFacts, RepositoryFacts
from integrations.models import Delivery, Installation, Integration
from integrations.ownership import site_claims
from orgs.models.domain import GRACE

UNSENT = [each for each in Delivery.Status if each != Delivery.Status.SENT]


def apply_installation(installation: Installation, facts: InstallationFacts | None) -> None:
    """As GitHub describes it; None where it describes none."""
    if facts:
        apply_account(installation, facts.account)
    if facts is None:
        mark_uninstalled(installation)
    elif facts.is_suspended and not installation.suspended_at:
        mark_suspended(installation)
    elif installation.suspended_at and not facts.is_suspended:
        holds.unsuspend(installation)


def apply_account(installation: Installation, login: str) -> None:
    """Its account may have been renamed; then its repositories were, and are asked about soon."""
    if login != installation.account:
        installation.account, installation.asked_about_at = login, None
        installation.save(update_fields=["account", "asked_about_at"])


def mark_suspended(installation: Installation) -> None:
    holds.suspend(installation, f"The app was suspended on {installation.account}.")


def mark_uninstalled(installation: Installation) -> None:
    """Nothing proves its sites any more: whoever has the account next may claim them."""
    problem = f"The app was uninstalled from {installation.account}. Install it again to go on."
    holds.suspend(installation, problem)
    for integration in Integration.objects.filter(installation=installation):
        site_claims.lapse_unpublished(integration.organization, "")


def apply_repository(integration: Integration, facts: RepositoryFacts) -> bool:
    """Under this name and owner, public or private, and so on; whether it may receive issues."""
    _follow(integration, facts)
    name = facts.full_name
    if facts.owner.lower() != integration.installation.account.lower():
        _block(integration, f"{name} belongs to another account now. Choose a repository again.")
        site_claims.lapse_unpublished(integration.organization, "")
    elif facts.is_archived:
        _block(integration, f"{name} is archived. Unarchive it, then press Try again.")
    elif not facts.has_issues:
        _block(integration, f"Issues are turned off in {name}. Turn them on, then press Try again.")
    else:
        return True
    return False


def apply_visibility(repository: RepositoryFacts, *, installation_id: int) -> None:
    """Public or private: receipts show where its issues are, or not, whoever sends there now.

    `installation_id` is GitHub's; what was begun through it, and has no issue yet, follows too.
    """
    known = Delivery.objects.filter(repository_id=repository.id)
    others = known.exclude(repository_private=repository.is_private)
    there = Integration.objects.filter(installation__github_id=installation_id)
    sent = others.filter(issue_number__isnull=False)  # each by an index, and so not in one
    begun = others.filter(integration__in=there, status__in=UNSENT)
    for some in (sent, begun):
        some.update(repository_private=repository.is_private)


def mark_out_of_reach(integration: Integration) -> None:
    """Deleted, or not among the repositories of the installation any more."""
    _block(
        integration,
        f"The app's installation on {integration.installation.account} does not reach "
        f"{integration.repository}. Add the repository there, or choose another one.",
    )
    site_claims.lapse_unpublished(integration.organization, "")


def mark_repository_deleted(integration: Integration) -> None:
    _block(integration, f"{integration.repository} was deleted. Choose another repository.")
    site_claims.lapse_unpublished(integration.organization, "")


def mark_taking_issues(integration: Integration) -> None:
    """As far as is known: what was held goes on, and its sites are claimed again, if any was."""
    if integration.problem:
        holds.unblock(integration)
    if integration.is_on_its_account() and not integration.rights_absences:
        site_claims.revive_published(integration.organization, integration.repository)


def rights_stay_lost(integration: Integration) -> None:
    """No member has push right: after the grace time nothing proves its sites any more."""
    lost = Integration.objects.filter(pk=integration.pk, rights_lost_at__lte=clock.now() - GRACE)
    if lost.exists():
        site_claims.lapse_unpublished(
            integration.organization,
            "",
            why=f"is published by {integration.repository}, where no member of yours has had push "
            f"right for more than {GRACE.days} days",
        )


def apply_issue_state(repository_id: int, number: int, state: Delivery.IssueState) -> None:
    """Open, closed or deleted, if it is one of the Hub's."""
    mine = Delivery.objects.filter(repository_id=repository_id, issue_number=number)
    mine.update(issue_state=state)


def _follow(integration: Integration, facts: RepositoryFacts) -> None:
    was = integration.repository
    integration.repo_owner, integration.repo_name = facts.owner, facts.name
    integration.repository_private = facts.is_private
    integration.save(update_fields=["repo_owner", "repo_name", "repository_private"])
    if facts.full_name != was:
        site_claims.lapse_unpublished(integration.organization, facts.full_name)


def _block(integration: Integration, problem: str) -> None:
    if integration.problem != problem:
        holds.block(integration, problem)
