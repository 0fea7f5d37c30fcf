"""Applies what has changed on GitHub, whether a webhook or `reconcile_installations` found it.

Each function states what is true now, and may be called again and again.
"""

from core import clock
from integrations.comments import again
from integrations.delivery import holds, issue_states
from integrations.delivery.issue_states import IssueNews
from integrations.github_api import ARCHIVED, InstallationFacts, IssueFacts, RepositoryFacts
from integrations.github_sync import visibility
from integrations.models import Alert, Delivery, Installation, Integration
from integrations.ownership import site_claims
from orgs.models.domain import GRACE

VISIBLE = ["repository_private", "was_public", "alerts"]  # what `note_visibility` changes


def apply_installation(installation: Installation, facts: InstallationFacts | None) -> None:
    """Apply what GitHub says about the installation; None if it does not exist."""
    if facts:
        apply_account(installation, facts.account)
    if facts is None:
        mark_uninstalled(installation)
    elif facts.is_suspended and not installation.suspended_at:
        mark_suspended(installation)
    elif facts.is_suspended:
        visibility.hide_all(installation)
    elif installation.suspended_at:
        holds.unsuspend(installation)


def apply_account(installation: Installation, login: str) -> None:
    """Apply the login of its account. If that was renamed, its repositories are asked about soon.

    The claims of sites of the old name lapse at once: those of a suspended one cannot be asked about.
    """
    if login != installation.account:
        installation.account, installation.asked_about_at = login, None
        mine = Installation.objects.filter(pk=installation.pk)
        mine.update(account=login, asked_about_at=None)
    site_claims.lapse_of_other_accounts(installation)


def mark_suspended(installation: Installation) -> None:
    """The app was suspended on the account."""
    problem = f"The app was suspended on {installation.account}. Unsuspend it on GitHub to resume."
    holds.suspend(installation, problem)
    visibility.hide_all(installation)


def mark_uninstalled(installation: Installation) -> None:
    """The app was uninstalled. Nothing proves its sites any more, so others may claim them."""
    holds.suspend(installation, installation.uninstalled, for_good=True)
    for integration in Integration.objects.filter(installation=installation):
        site_claims.lapse_unpublished(integration.organization, why=site_claims.UNSEEN)
    visibility.hide_all(installation)


def apply_repository(
    integration: Integration, facts: RepositoryFacts, *, is_late: bool = False
) -> bool:
    """Apply what GitHub says about the repository; returns whether it may receive issues.

    What may come late is not believed that the repository is public, and replaces no problem that is known.
    """
    if facts.is_private or not is_late:
        integration.note_visibility(private=facts.is_private)
    if integration.may_not_learn(facts.full_name):
        integration.save(update_fields=VISIBLE)
        site_claims.lapse_unpublished(integration.organization)
        return False
    _follow(integration, facts, is_late=is_late)
    name = facts.full_name
    if facts.owner.lower() != integration.installation.account.lower():
        _block(integration, f"{name} now belongs to another account. Choose a repository again.")
        site_claims.lapse_unpublished(integration.organization)
    elif facts.is_archived:
        _block(integration, f"{name}{ARCHIVED}", is_late=is_late)
    elif not facts.has_issues:
        problem = f"Issues are turned off in {name}. Turn them on, then press Try again."
        _block(integration, problem, is_late=is_late)
    else:
        return True
    return False


def mark_out_of_reach(integration: Integration) -> None:
    """The repository was deleted, or the installation can no longer access it. `visibility.hide` does the rest."""
    _lose(
        integration,
        f"The app's installation on {integration.installation.account} can't see "
        f"{integration.repository}. Give it access on GitHub, or choose another repository.",
    )


def mark_repository_deleted(integration: Integration) -> None:
    """The repository was deleted. `visibility.hide` does the rest."""
    _lose(integration, f"{integration.repository} was deleted. Choose another repository.")


def mark_taking_issues(integration: Integration) -> None:
    """The repository accepts issues again: release what was held, and restore the claims of its sites."""
    if integration.problem:
        holds.unblock(integration)
    if integration.is_on_its_account() and not integration.rights_absences:
        site_claims.revive_published(integration)


def mark_unarchived(integration: Integration) -> None:
    """The repository is no longer archived: what was held for that is released.

    Webhooks overtake each other, and come through other installations: the app may be gone by now, or cannot
    access the repository. What GitHub says of that when it is asked counts.
    """
    is_away = integration.installation.suspended_at is not None
    if integration.problem.endswith(ARCHIVED) and not is_away:
        mark_taking_issues(integration)


def mark_in_reach(integration: Integration) -> None:
    """The installation can access the repository again: it is asked about soon, and then goes on.

    Whether it takes issues, whether it has Pages, whose its site is by its present name: that is not known.
    """
    integration.installation.ask_about_soon()


def rights_stay_lost(integration: Integration) -> None:
    """Still no member has push access: after the grace period the claims of its sites lapse."""
    lost = Integration.objects.filter(pk=integration.pk, rights_lost_at__lte=clock.now() - GRACE)
    if lost.exists():
        site_claims.lapse_unpublished(
            integration.organization,
            why=site_claims.without_push_access(integration.repository, GRACE.days),
        )


def is_ours(repository_id: int, number: int) -> bool:
    """Whether the Hub has opened this issue."""
    issue = {"repository_id": repository_id, "issue_number": number}
    return any(each.objects.filter(**issue).exists() for each in (Delivery, Alert))


def has_issues(repository_id: int) -> bool:
    """Whether the Hub has opened any issue there."""
    there = {"repository_id": repository_id, "issue_number__isnull": False}
    return any(each.objects.filter(**there).exists() for each in (Delivery, Alert))


def apply_issue_state(repository_id: int, number: int, news: IssueNews) -> None:
    """Save whether an issue is open, closed or deleted, and why, if it is one of the Hub's.

    If it was closed long ago, its problem may have been reported again before the Hub heard of that.
    """
    issue_states.note(repository_id, number, news)
    is_open = news.state == Delivery.IssueState.OPEN
    if news.state == Delivery.IssueState.CLOSED:
        again.note_missed_at(repository_id, number)
    Alert.objects.note_state(repository_id, number, is_open=is_open, updated_at=news.updated_at)


def apply_changed_issues(repository_id: int, changed: dict[int, IssueFacts]) -> None:
    """Save what became of these issues, by their numbers, as far as they are the Hub's and that is news."""
    news = {number: issue_states.read(facts) for number, facts in changed.items()}
    here = {"repository_id": repository_id, "issue_number__in": news}
    deliveries, alerts = Delivery.objects.filter(**here), Alert.objects.filter(**here)
    known = {
        *deliveries.values_list("issue_number", "issue_updated_at", "issue_state"),
        *alerts.values_list("issue_number", "issue_updated_at", "status"),
    }
    for number, updated_at, state in known:
        now = news[number]
        if (updated_at, state) != (now.updated_at, now.state):
            apply_issue_state(repository_id, number, now)


def _follow(integration: Integration, facts: RepositoryFacts, *, is_late: bool) -> None:
    was = integration.repository
    integration.repo_owner, integration.repo_name = facts.owner, facts.name
    integration.has_pages = facts.has_pages
    integration.save(update_fields=["repo_owner", "repo_name", *VISIBLE, "has_pages"])
    site_claims.follow(integration.organization, facts.id, facts.full_name, is_late=is_late)
    if facts.full_name != was or not facts.has_pages:
        site_claims.lapse_unpublished(integration.organization, facts)


def _block(integration: Integration, problem: str, *, is_late: bool = False) -> None:
    if is_late and integration.problem:  # such as that the app is gone: it would end with this one
        return
    if integration.problem != problem:
        holds.block(integration, problem)


def _lose(integration: Integration, problem: str) -> None:
    _block(integration, problem)
    Integration.objects.filter(pk=integration.pk).count_as_private()
    site_claims.lapse_unpublished(integration.organization, why=site_claims.UNSEEN)
