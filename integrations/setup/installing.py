"""Installing the app: what a browser brings back from GitHub has to be proved.

Three proofs: a one-time state of the organization, a code whose owner can see that installation, and
that person's membership of the organization. https://docs.github.com/en/apps/using-github-apps
"""

import math
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from core import client_address, rates
from core.errors import ApiError
from integrations import github_api
from integrations.delivery import holds, pacing
from integrations.github_api import asking
from integrations.github_sync import applying
from integrations.models import Installation, Integration, OneTimeState
from integrations.models.integration import install_page
from integrations.setup import configuration
from orgs.models import Membership, Organization, User
from orgs.people import counted, github_account, members

CALLBACK = "/v1/integrations/github/callback"
# GitHub answers an app 2,000 codes an hour: these, and those of 1,200 sign-ins (`hub.limits`). One network has a
# share, and each organization and person a rate of their own, since a code that GitHub refuses uses up no state. It
# counts apart from those of sign-ins: any site has the browsers of others come back with its own state.
ENDED = "600/hour"
ENDED_BY_ONE = "20/hour"
BEGIN_AGAIN = "The repository was changed in the meantime. Please start over."


class InvalidState(ApiError):
    """400: the state is not valid."""

    status_code = 400
    default_code = "invalid_state"
    default_detail = "This link is not valid. Please start the installation again."


class StateUsed(InvalidState):
    """400: the state was already used."""

    default_detail = "This installation is already complete. To change it, start over."


class StateExpired(InvalidState):
    """400: the state is more than ten minutes old."""

    default_detail = "This installation was started more than ten minutes ago. Please start over."


class BegunElsewhere(ApiError):
    """403: another organization started the installation."""

    status_code = 403
    default_code = "begun_elsewhere"
    default_detail = (
        "Another organization started this installation. Please start it from your own."
    )


class InvalidCode(ApiError):
    """400: GitHub does not accept the code."""

    status_code = 400
    default_code = "invalid_code"
    default_detail = "GitHub does not accept this code. Please start over."


class Declined(ApiError):
    """403: the person cancelled on GitHub."""

    status_code = 403
    default_code = "declined"
    default_detail = (
        "You cancelled on GitHub, so nothing was changed. You can start again at any time."
    )


class Requested(ApiError):
    """409: an owner of the account has to approve the installation."""

    status_code = 409
    default_code = "not_installed"
    default_detail = (
        "GitHub has asked an owner of that account to install the app. Come back when they have."
    )


class NotAMember(ApiError):
    """403: the GitHub account is not a member of the organization."""

    status_code = 403
    default_code = "not_a_member"


class NotYourInstallation(ApiError):
    """403: the person cannot see this installation on GitHub."""

    status_code = 403
    default_code = "not_your_installation"
    default_detail = "That installation belongs to someone else."


class Begun(NamedTuple):
    """Where a browser may go, once, until `expires_at`."""

    install_url: str
    use_existing_url: str
    expires_at: datetime


class SignInFirst(NamedTuple):
    """The browser has to go to this URL first, so that GitHub says who the person is."""

    url: str


class Choice(NamedTuple):
    """An installation, and the URL that chooses it."""

    installation_id: int
    account: str
    url: str


class Choose(NamedTuple):
    """There are several installations to choose from."""

    installations: list[Choice]


def begin(member: Membership) -> Begun:
    """A state for one installation, and the URLs that carry it to GitHub.

    Raises `rates.RateLimited`.
    """
    counted.check(member, settings.HUB_ASKING_RATE, "install")
    state, text = OneTimeState.objects.begin(member)
    return Begun(_install_url(text), _authorize_url(text), state.expires_at)


def complete(
    text: str,
    *,
    network: str,
    code: str = "",
    installation_id: int | None = None,
    user: User | None = None,
) -> Integration | SignInFirst | Choose:
    """Give the organization of the state in `text` an installation, once all three proofs are there.

    `network` is that of the browser (`client_address.network`), which has a share in what GitHub answers all.
    `user` is who is signed in to the Hub, if anybody is. The state is used up only if an Integration is
    returned. Raises the errors above, or as `asking.github` does.
    """
    state = _usable(text, user)
    if not code:
        if installation_id:
            state.remember(installation_id)
        return SignInFirst(_authorize_url(text))
    visitor = _visitor(code, state.member, network)
    wanted = installation_id or state.claimed_installation
    if wanted is None and len(visitor.installations) > 1:
        return Choose([_choice(text, each) for each in visitor.installations])
    facts = _chosen(visitor.installations, wanted)
    if lost := _lost_repository(state.organization, facts):
        configuration.require_to_disconnect(state.member)
    return _save(state, facts, may_lose=lost)


def require_begun(user: User | None) -> None:
    """Raise `InvalidState` for somebody who is signed in and has begun nothing: a link of others led them here."""
    if user and not OneTimeState.objects.are_open_for(user):
        raise InvalidState


def _usable(text: str, user: User | None) -> OneTimeState:
    """The state that this text belongs to, if this person may still use it."""
    state = OneTimeState.objects.find(text)
    if state is None:
        raise InvalidState
    if state.used_at:
        raise StateUsed
    if state.has_expired():
        raise StateExpired
    if state.member.organization_id != state.organization_id:
        raise BegunElsewhere  # the person who started it is now in another organization
    if not _still_has(state.organization, pk=state.member_id):
        raise BegunElsewhere
    if user and not state.organization.memberships.filter(user=user).exists():
        raise BegunElsewhere
    return state


def _visitor(code: str, member: Membership, network: str) -> github_api.Visitor:
    """Who brought the code, if they are in the organization of the member who started this."""
    organization = member.organization
    refused = rates.Limit(github_account.REFUSED, ("codes of installations refused", network))
    if wait := rates.known_wait(*github_account.refusals_of(network), refused):
        raise rates.RateLimited(math.ceil(wait), "refused codes from your network")
    with asking.github(member, also=_limits(member, network), what="installations") as deadline:
        try:
            visitor = github_api.visitor(code, redirect_uri=_callback_url(), deadline=deadline)
        except github_api.BadCode:
            github_account.count(refused)
            raise InvalidCode from None
    if not _still_has(organization, github_id=visitor.github_id):
        raise NotAMember(
            f"On GitHub you are {visitor.login}, who is not a member of {organization.name} here. "
            "Start over with the account that is."
        )
    return visitor


def _still_has(organization: Organization, **who: Any) -> bool:
    """Whether this is a member whom no operator has deactivated."""
    return members.active(organization.pk).filter(**who).exists()


def _limits(member: Membership, network: str) -> list[rates.Limit]:
    everybody = client_address.with_share(ENDED, ("installations ended",), network)
    return [*everybody, *counted.limits(member, ENDED_BY_ONE, "installation ended")]


def _chosen(
    installations: list[github_api.InstallationFacts], wanted: int | None
) -> github_api.InstallationFacts:
    for each in installations:
        if wanted in (None, each.id):
            return each
    if wanted is None:
        raise configuration.NotInstalled(
            "The app is not installed on any of your accounts. Install it first."
        )
    raise NotYourInstallation


def _lost_repository(organization: Organization, facts: github_api.InstallationFacts) -> int | None:
    """GitHub's number of the repository that would be lost, if this installation is on another account."""
    configured = Integration.objects.configured().of(organization)
    elsewhere = configured.exclude(installation__github_id=facts.id)
    lost = elsewhere.exclude(installation__account__iexact=facts.account)
    return lost.values_list("repository_id", flat=True).first()


def _save(
    state: OneTimeState, facts: github_api.InstallationFacts, *, may_lose: int | None = None
) -> Integration:
    """Use the state, and give its organization the installation.

    `may_lose` is the repository that the member may disconnect, as GitHub has answered.
    """
    with transaction.atomic():
        members.lock(state.organization_id)
        if not state.use_up():
            raise StateUsed
        if not _still_has(state.organization, pk=state.member_id):
            raise BegunElsewhere  # the person who started it has just been removed
        installation = _installation(facts)
        mine, others = Q(organization=state.organization), Q(installation=installation)
        # Those of others are changed, too, if the app was suspended.
        Integration.objects.filter(mine | others).lock()
        integration, _ = Integration.objects.get_or_create(
            organization=state.organization, defaults={"installation": installation}
        )
        if lost := _lost_repository(state.organization, facts):
            members.require_owner(state.member)  # they may have changed while GitHub was asked
            if lost != may_lose:
                raise configuration.NotInstalled(BEGIN_AGAIN)
        _move(integration, installation)
        applying.apply_installation(installation, facts)
        # A webhook may have told of something newer while GitHub was asked.
        installation.ask_about_soon()
    return integration


def _installation(facts: github_api.InstallationFacts) -> Installation:
    """The installation, locked as its integrations are, so that those who refer to it do not wait."""
    locked = Installation.objects.select_for_update(no_key=True)
    installation, _ = locked.get_or_create(github_id=facts.id, defaults={"account": facts.account})
    if installation.account != facts.account:
        installation.account = facts.account
        installation.save(update_fields=["account"])
    return installation


def _move(integration: Integration, installation: Installation) -> None:
    """Move to another installation. On an account of the same name the repository stays.

    Nothing is sent or claimed until GitHub has said that the installation can access it: somebody else may
    have taken the name.
    """
    former = integration.installation
    if former != installation:
        pacing.move(integration)
    integration.installation = installation
    if former.account.lower() != installation.account.lower():
        configuration.leave_repository(
            integration, "The app is now on another account. Choose a repository to resume."
        )
    elif former != installation:
        integration.problem, integration.probe_at = "", None
        integration.save(update_fields=["installation", "problem", "probe_at"])
        if integration.repository_id:
            holds.block(integration, _to_be_confirmed(integration))


def _to_be_confirmed(integration: Integration) -> str:
    return (
        f"The app was installed again on {integration.installation.account}. Reports are sent once GitHub "
        f"confirms that it can see {integration.repository}, usually within a minute. Or press Try again."
    )


def _install_url(state: str) -> str:
    return f"{install_page()}?{urlencode({'state': state})}"


def _authorize_url(state: str) -> str:
    query = {
        "client_id": settings.HUB_GITHUB_CLIENT_ID,
        "redirect_uri": _callback_url(),
        "state": state,
    }
    return f"{settings.HUB_GITHUB_URL}/login/oauth/authorize?{urlencode(query)}"


def _choice(state: str, facts: github_api.InstallationFacts) -> Choice:
    """Its URL brings no code, so the person is asked again and everything is proved."""
    query = urlencode({"state": state, "installation_id": facts.id})
    return Choice(facts.id, facts.account, f"{_callback_url()}?{query}")


def _callback_url() -> str:
    return f"{settings.HUB_BASE_URL}{CALLBACK}"
