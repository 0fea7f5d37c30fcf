"""The integration: which repository receives the issues, and their template."""

from collections.abc import Collection, Mapping

from django.db import transaction

from core import as_shown, rates
from core.errors import ApiError
from integrations import github_api
from integrations.delivery import holds
from integrations.github_api import Person, asking
from integrations.github_sync import visibility
from integrations.issue import plain_html, template_limits
from integrations.issue.rendering import unknown_placeholder
from integrations.models import Delivery, Integration, News, Webhook
from integrations.ownership import push_access, site_claims
from integrations.setup import labels, mentions, values
from integrations.setup.choices import Choices
from integrations.setup.labels import AS_IT_IS, Choice
from orgs.models import Membership, Organization
from orgs.people import counted, members

NO_CHOICE = Choices()  # all as it is
CHANGED = "The repository was changed in the meantime. Reload the page."
TEMPLATE_CHANGED = "The template was changed in the meantime. Please try again."
OVERTAKEN = "GitHub has just told of a change to the repository. Please try again."
LISTS = "20/hour"  # of repositories, for each member; twice as many for an installation


class UnknownPlaceholder(ApiError):
    """400: the template has a placeholder that does not exist."""

    status_code = 400
    default_code = "unknown_placeholder"


class TemplateTooLong(ApiError):
    """400: the template is too large."""

    status_code = 400
    default_code = "template_too_long"


class TemplateHasOddHtml(ApiError):
    """400: the template has HTML that not every parser reads alike, or that GitHub does not show."""

    status_code = 400
    default_code = "template_has_odd_html"


class NotInstalled(ApiError):
    """409: the app is not installed, or no repository is chosen."""

    status_code = 409
    default_code = "not_installed"
    default_detail = "Install the app on your account first."


class RepositoryChanged(NotInstalled):
    """409: another repository is chosen by now than the one that was shown, or checked."""

    default_detail = CHANGED


class RepositoryNotWritable(ApiError):
    """422: the repository cannot receive issues."""

    status_code = 422
    default_code = "repository_not_writable"


def configure(
    member: Membership,
    *,
    repo_owner: str,
    repo_name: str,
    issue_template: str = "",
    alerts: bool | None = None,
    choices: Choices = NO_CHOICE,
    choice: Choice = AS_IT_IS,
    shown: Mapping[str, str] = as_shown.UNMARKED,
) -> Integration:
    """Send the organization's issues to this repository, after checking it on GitHub.

    `alerts`: whether bad news is told by issues there. None leaves that as it is; for another repository,
    it then depends on who may read it. If the repository has become public, it goes off in any case.

    `choice`: the labels, assignees and type of new issues. They stay when the repository changes.

    `shown`: the marks of what a form has shown (`core/as_shown.py`), and GitHub's number of the repository, empty for
    none, as `repository_id`. What was left as shown stays as it is. Raises `as_shown.ChangedMeanwhile`, and
    `RepositoryChanged` if another one is chosen by now: the rest of the form was about the one before.

    The repository must be in the organization's installation, with issues turned on and not archived;
    the app may write issues there, and `member` has push access. If claims of sites lapse with the one
    before, `member` needs it there, too, as for disconnecting. Raises the errors above, or as
    `mentions.confirmed` and `push_access.require_to_let_go` do; then nothing is saved.
    """
    wanted = values.wanted(checked_template(issue_template), alerts, labels.checked(choice))
    integration = _integration(member.organization)
    before = integration.repository_id
    _require_shown(before, shown.get("repository_id"))
    template = as_shown.settle(wanted, values.stored(integration), shown)[values.TEMPLATE]
    heard = Webhook.objects.newest()
    facts = _writable(integration, f"{repo_owner}/{repo_name}", member)
    mentioned = mentions.confirmed(template, integration, facts, member)
    if before != facts.id and site_claims.would_lapse(member.organization, facts):
        push_access.require_to_let_go(member)
    with transaction.atomic():
        integration = _unchanged(integration, member)
        if integration.repository_id not in (before, facts.id):
            raise RepositoryChanged
        _require_no_news(integration, facts, since=heard)
        settled = as_shown.settle(wanted, values.stored(integration), shown)
        if settled[values.TEMPLATE] != template:  # GitHub was asked about another one
            raise NotInstalled(TEMPLATE_CHANGED)
        alerts = settled.get(values.ALERTS)
        if integration.repository_id != facts.id:
            integration.note_visibility(private=facts.is_private)  # the choice is about this one
            is_old = as_shown.is_left(values.ALERTS, wanted.get(values.ALERTS), shown)
            alerts = facts.is_private if alerts is None or (alerts and is_old) else alerts
            integration.forget_issues()
        labels.save_to(integration, labels.named(settled))
        integration.alerts = integration.alerts if alerts is None else alerts
        integration.repository_id = facts.id
        integration.issue_template, integration.mentions = template, mentioned
        choices.set_on(integration)
        _goes_on(integration, facts, member)
        if before != facts.id:
            visibility.leave(before, installation_id=integration.installation.github_id)
        site_claims.lapse_unpublished(integration.organization, facts)
    return integration


@transaction.atomic
def choose(
    organization: Organization, choices: Choices, *, shown: Mapping[str, str] = as_shown.UNMARKED
) -> Integration:
    """Save choices without asking GitHub, which has no say in them; `shown` as for `configure`.

    Raises `NotInstalled`, `as_shown.ChangedMeanwhile`.
    """
    mine = Integration.objects.of(organization)
    if now := mine.select_for_update(no_key=True).first():
        stored = Choices.of(now)._asdict()
        mine.update(**as_shown.settle(choices.columns(), stored, shown))
    return _integration(organization)


def try_again(member: Membership) -> Integration:
    """Ask GitHub whether the problem is gone; if so, release what was held.

    Raises as `configure` does, with the problem that remains.
    """
    known = _integration(member.organization)
    if known.repository_id is None:
        raise NotInstalled(known.problem or "Choose a repository first.")
    heard = Webhook.objects.newest()
    facts = _writable(known, known.repository, member)
    with transaction.atomic():
        integration = _unchanged(known, member)
        if integration.repository_id != facts.id:
            raise RepositoryChanged
        _require_no_news(integration, facts, since=heard)
        _goes_on(integration, facts, member)
    return integration


def disconnect(member: Membership, *, shown: str | None = None) -> None:
    """Disconnect the repository on behalf of an owner, who was `shown` it (as for `configure`).

    Raises `members.NotAnOwner`, `NotInstalled` if another repository is chosen meanwhile, or as
    `push_access.require_to_let_go` does; then nothing is saved.
    """
    asked_about = push_access.repository_of(member)
    _require_shown(asked_about, shown)
    require_to_disconnect(member)
    with transaction.atomic():
        if push_access.locked_repository_of(member) != asked_about:
            raise RepositoryChanged
        forget(member.organization)


def require_to_disconnect(member: Membership) -> None:
    """Raise as `disconnect` does if the member may not do that."""
    members.require_owner(member)
    push_access.require_to_let_go(member)


def forget(organization: Organization) -> None:
    """Forget the repository: what waits is held, and the claims of its sites lapse."""
    with transaction.atomic():
        mine = Integration.objects.select_for_update(no_key=True).of(organization)
        if integration := mine.first():
            leave_repository(integration, holds.NO_REPOSITORY)


def leave_repository(integration: Integration, reason: str) -> None:
    """Clear the repository of an integration and hold its deliveries for `reason`."""
    before, integration.repository_id = integration.repository_id, None
    integration.repo_owner = integration.repo_name = integration.problem = ""
    integration.probe_at = None
    integration.forget_issues()
    integration.forget_rights()
    integration.save()
    visibility.leave(before, installation_id=integration.installation.github_id)
    rights, here = Delivery.Cause.RIGHTS, Delivery.Cause.INTEGRATION
    holds.follow(integration.deliveries.waiting(), lambda some: some.hold(here, reason))
    without_right = integration.deliveries.held(rights)
    holds.follow(without_right, lambda some: some.hold_instead(rights, here, reason))
    site_claims.lapse_unpublished(integration.organization)


def repositories(member: Membership, *, page: int) -> github_api.RepositoryPage:
    """One page of the repositories that the member may choose. Raises as `configure` does."""
    integration = _integration(member.organization)
    installation, limits = integration.installation, _list_limits(integration, member)
    with asking.github(
        member, through=installation, also=limits, what="lists of repositories"
    ) as deadline:
        try:
            return github_api.pushable(
                installation.github_id,
                person=Person(member.github_id, member.login),
                page=page,
                deadline=deadline,
            )
        except github_api.Suspended:
            raise _not_installed(integration) from None


def _list_limits(integration: Integration, member: Membership) -> list[rates.Limit]:
    """On lists of repositories, each of which takes 52 calls, of the 5,000 an hour of the installation.

    Whoever may read one of an account's repositories can have them listed.
    """
    key = ("lists", str(integration.installation.github_id))
    limits = [rates.Limit(LISTS, key, times=2), *counted.limits(member, LISTS, *key)]
    if integration.repository_id is None:  # as with other questions (`asking`)
        limits += asking.shared_with_others(member, LISTS, "lists for nobody", key[1])
    return limits


def checked_template(template: str) -> str:
    """The template with plain line ends; empty if it is blank, or the default.

    Raises `TemplateTooLong`, `UnknownPlaceholder`, `TemplateHasOddHtml`.
    """
    template = template_limits.with_line_feeds(template)
    if problem := template_limits.problem(template):
        raise TemplateTooLong(problem)
    if unknown := unknown_placeholder(template):
        placeholder, suggestion = unknown
        raise UnknownPlaceholder(
            f"There is no placeholder {{{placeholder}}}. Did you mean {{{suggestion}}}?",
            placeholder=placeholder,
            suggestion=suggestion,
        )
    if odd := plain_html.odd_in_template(template):
        raise TemplateHasOddHtml(plain_html.words(odd), found=odd.piece)
    return values.own_template(template)


def _integration(organization: Organization) -> Integration:
    mine = Integration.objects.select_related("installation").of(organization)
    if integration := mine.first():
        return integration
    raise NotInstalled


def _not_installed(integration: Integration) -> NotInstalled:
    return NotInstalled(
        f"The app is suspended on {integration.installation.account}, or no longer installed there. "
        "Fix this on GitHub first."
    )


def _writable(
    integration: Integration, full_name: str, member: Membership
) -> github_api.RepositoryFacts:
    """The repository as GitHub describes it, if it can receive issues."""
    installation_id = integration.installation.github_id
    person = Person(member.github_id, member.login)
    with asking.github(member, through=integration.installation) as deadline:
        installation = github_api.installation(installation_id, deadline=deadline)
        if installation is None or installation.is_suspended:
            raise _not_installed(integration)
        if not installation.may_write_issues:
            raise RepositoryNotWritable(
                f"The app may not write issues on {installation.account}. Give it the permission "
                "Issues: read and write there."
            )
        try:
            found = github_api.candidate(
                installation_id, full_name, person=person, deadline=deadline
            )
        except github_api.Suspended:
            raise _not_installed(integration) from None
    if found is None or not found.may_see:
        raise RepositoryNotWritable(
            f"The app can't see {full_name}. Give it access on GitHub, or choose another repository."
        )
    if problem := _problem(found):
        raise RepositoryNotWritable(problem)
    return found.repository


def _problem(found: github_api.Candidate) -> str:
    """Why the repository cannot receive issues, as a sentence; empty if it can."""
    name = found.repository.full_name
    if not found.may_push:
        return f"You don't have push access to {name}. Ask somebody who has it to set this up."
    if found.repository.is_archived:
        return f"{name} is archived. Unarchive it first."
    if not found.repository.has_issues:
        return f"Issues are turned off in {name}. Turn them on first."
    return ""


def _unchanged(checked: Integration, member: Membership) -> Integration:
    """The integration, locked, if nothing that was checked on GitHub has changed."""
    integration = Integration.objects.select_for_update(no_key=True).get(pk=checked.pk)
    if integration.installation_id != checked.installation_id:
        raise NotInstalled("The installation was changed in the meantime. Choose again.")
    if not members.active(integration.organization_id).filter(pk=member.pk).exists():
        raise NotInstalled("You are no longer a member of this organization.")
    return integration


def _require_shown(repository_id: int | None, shown: str | None) -> None:
    """Raise `RepositoryChanged` if a form has shown another repository than the one that is chosen now."""
    if shown is not None and shown != str(repository_id or ""):
        raise RepositoryChanged


def _require_no_news(
    integration: Integration, facts: github_api.RepositoryFacts, *, since: Collection[int]
) -> None:
    """Raise `NotInstalled` if a webhook has told of a change while GitHub was asked: it may be newer."""
    news = News(integration.installation.github_id, facts.id)
    is_being_chosen = integration.repository_id != facts.id
    if Webhook.objects.have_told(news, since=since, is_being_chosen=is_being_chosen):
        raise NotInstalled(OVERTAKEN)


def _goes_on(
    integration: Integration, facts: github_api.RepositoryFacts, member: Membership
) -> None:
    """Save the repository that GitHub has confirmed, release what was held, and restore its sites."""
    integration.repo_owner, integration.repo_name = facts.owner, facts.name
    integration.has_pages = facts.has_pages
    integration.note_visibility(private=facts.is_private)
    integration.problem, integration.probe_at = "", None
    integration.save()
    visibility.apply(facts, installation_id=integration.installation.github_id)
    holds.record_push_access_found(integration, member.github_id)
    holds.release(integration, Delivery.Cause.INTEGRATION)
    site_claims.follow(integration.organization, facts.id, facts.full_name)
    site_claims.revive_published(integration)
