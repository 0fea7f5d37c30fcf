"""Sign-in with a GitHub account, through django-allauth.

The Hub keeps the id and login and nothing else: no token, no email address, no name.
"""

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import requests
from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter, get_adapter
from allauth.socialaccount.models import SocialLogin, SocialToken
from allauth.socialaccount.providers.base import AuthError, AuthProcess, ProviderException
from allauth.socialaccount.providers.github.provider import GitHubProvider
from allauth.socialaccount.providers.github.views import GitHubOAuth2Adapter
from allauth.socialaccount.providers.oauth2.client import OAuth2Client, OAuth2Error
from django.conf import settings
from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from core import client_address, connections, deadlines, outgoing, rates, told
from orgs.models import User
from orgs.people import members

log = logging.getLogger(__name__)

T = TypeVar("T")

DEADLINE = 10  # seconds, for both calls to GitHub of one sign-in
REFUSED = "5/hour"  # codes of one network that GitHub refuses, until it ends no more sign-ins
REFUSED_OTHERWISE = "10/hour"  # those refused for another reason, which are no guesses
OF_ONE = "20/hour"  # sign-ins of one account; what it ends beyond them counts as a refused code
BAD_CODE = "error=bad_verification_code"  # in allauth's error
OTHERWISE = "error="  # the same of any refusal; no outage has it
LONGEST_NEXT = 500  # characters of the page to go to afterwards, which is kept meanwhile

STALE = (
    "This sign-in started in another browser, or more than ten minutes ago. Please sign in again."
)
CANCELLED = "You cancelled on GitHub, so you are not signed in."
TWICE = "You are also signing in in another window. Please sign in again."
FAILED = "GitHub could not confirm who you are. Please try again."
UNREACHED = "The Hub could not reach GitHub. Please try again in a minute."
BUSY = "Too many calls to GitHub are in progress. Please try again."
OF_YOURS = "sign-ins of your GitHub account"


class TooLate(ProviderException):
    """GitHub has not answered in time."""


class Busy(ProviderException):
    """Too many calls to GitHub are in progress."""


class Browsers(DefaultAccountAdapter):
    """Where a browser may be sent after sign-in."""

    def is_safe_url(self, url: str) -> bool:
        """Only a short path of this Hub, never another host name, even if the Hub answers to it."""
        return len(url) <= LONGEST_NEXT and url_has_allowed_host_and_scheme(url, allowed_hosts=None)


class OAuth(GitHubOAuth2Adapter):
    """The OAuth exchange with GitHub, whose calls share the deadline and the slots of other questions to it."""

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request)
        self._deadline = time.monotonic() + DEADLINE

    def get_callback_url(self, request: HttpRequest, app: Any) -> str:
        """The callback URL at the Hub's own address, whatever `Host` says."""
        return f"{settings.HUB_BASE_URL}{reverse('github_callback')}"

    def get_access_token_data(
        self,
        request: HttpRequest,
        app: Any,
        client: OAuth2Client,
        pkce_code_verifier: str | None = None,
    ) -> dict:
        """The token for the code that the browser brought. Raises `TooLate`, `Busy`, `OAuth2Error`.

        A code that GitHub refuses is counted for `refusals`.
        """
        exchange = super().get_access_token_data
        outgoing.expect(self.profile_url)
        try:
            said = self._in_time(partial(exchange, request, app, client, pkce_code_verifier))
        except OAuth2Error as error:
            _count_if_refused(str(error), client_address.network_of(request))
            raise
        match said:
            case {"access_token": str(token)} if token.isascii():
                return {"access_token": token}
        raise ProviderException("GitHub did not issue a token.")

    def complete_login(
        self, request: HttpRequest, app: Any, token: SocialToken, **kwargs: Any
    ) -> SocialLogin:
        """Whose token it is. Raises `TooLate`, `Busy`."""
        said = self._in_time(partial(self._profile, token.token))
        return self.get_provider().sociallogin_from_response(request, said)

    def _profile(self, token: str) -> Any:
        with get_adapter().get_requests_session() as session:
            answer = session.get(self.profile_url, headers={"Authorization": f"token {token}"})
            answer.raise_for_status()
            return answer.json()

    def _in_time(self, call: Callable[[], T]) -> T:
        """What `call` returns; it runs in another thread, so it must not ask the database."""
        connections.give_back()
        try:
            return deadlines.run(call, deadline=self._deadline)
        except deadlines.TooLate:
            raise TooLate from None
        except deadlines.NoFreeSlot:
            raise Busy from None
        except requests.RequestException:
            raise
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise ProviderException("GitHub's response could not be understood.") from error


class Provider(GitHubProvider):
    """What the Hub asks of GitHub, and what it keeps of the response."""

    oauth2_adapter_class = OAuth

    def get_redirect_from_request_kwargs(self, request: HttpRequest) -> dict:
        """Accept only the page to go to afterwards: a URL may not ask for more scopes."""
        asked = super().get_redirect_from_request_kwargs(request)
        return {"next_url": asked.get("next_url"), "process": AuthProcess.LOGIN}

    def extract_uid(self, data: object) -> str:
        """GitHub's id of the account. Raises `ProviderException` without one."""
        match data:
            case {"id": github_id, "login": login} if told.is_id(github_id) and told.is_name(login):
                return str(github_id)
        raise ProviderException("GitHub did not say who this is.")

    def extract_common_fields(self, data: dict) -> dict:
        """The login, as the user name."""
        return {"username": data["login"]}

    def extract_extra_data(self, data: dict) -> dict:
        """What is kept about the account: the login."""
        return {"login": data["login"]}


class GitHubAccountAdapter(DefaultSocialAccountAdapter):
    """What the Hub does when somebody signs in."""

    def get_requests_session(self) -> requests.Session:
        """For the calls to GitHub. It raises at a redirect: the form with the app's secret would be sent along."""
        session = outgoing.bounded(super().get_requests_session())
        session.max_redirects = 0
        return session

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Update the membership of somebody who has signed in before.

        An account that signs in all the time is refused: from a few networks, it would use up the sign-ins of all.
        """
        try:
            rates.check(OF_ONE, "signed in", sociallogin.account.uid, what=OF_YOURS)
        except rates.RateLimited as error:
            count_refusal(client_address.network_of(request))
            raise _refused(request, str(error)) from None
        if sociallogin.is_existing:
            _welcome(sociallogin)

    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form: Any = None) -> User:
        """Create the user and the membership at the first sign-in."""
        try:
            with transaction.atomic():
                user = super().save_user(request, sociallogin, form)
                _welcome(sociallogin)
        except IntegrityError:  # the same person's first sign-in in another window was faster
            raise _refused(request, TWICE) from None
        return user

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: Any = None,
        exception: Any = None,
        extra_context: Any = None,
    ) -> None:
        """Return to the sign-in page with a message that says what went wrong.

        To somebody who is signed in nothing is said of a sign-in that this browser has not begun: any link could
        have the Hub ask them to sign in again.
        """
        if error == AuthError.CANCELLED:
            raise _refused(request, CANCELLED)
        if exception is None and request.user.is_authenticated:
            raise ImmediateHttpResponse(redirect("account_login"))
        if exception is None:
            raise _refused(request, STALE)
        log.warning("Sign-in failed: %s", type(exception).__name__)
        raise _refused(request, _sentence(exception))


def _sentence(error: Exception) -> str:
    if isinstance(error, Busy):
        return BUSY
    unreached = isinstance(error, TooLate | requests.ConnectionError | requests.Timeout)
    return UNREACHED if unreached else FAILED


def refusals(request: HttpRequest) -> list[rates.Limit]:
    """The limits of the codes from the network of `request` that GitHub refuses."""
    return refusals_of(client_address.network_of(request))


def refusals_of(network: str) -> list[rates.Limit]:
    """The same for `network`, as `client_address.network`."""
    return [_guesses_of(network), rates.Limit(REFUSED_OTHERWISE, ("refused otherwise", network))]


def count_refusal(network: str) -> None:
    """Count a code from `network` that GitHub calls wrong or expired."""
    count(_guesses_of(network))


def _guesses_of(network: str) -> rates.Limit:
    return rates.Limit(REFUSED, ("codes refused", network))


def _count_if_refused(error: str, network: str) -> None:
    """Count what allauth says of an exchange, if GitHub has refused it."""
    guesses, others = refusals_of(network)
    if BAD_CODE in error:
        count(guesses)
    elif OTHERWISE in error:
        count(others)


def count(limit: rates.Limit) -> None:
    """Count a refusal, also where its limit has no room any more."""
    with suppress(rates.RateLimited):
        rates.check_all(limit)


def _welcome(sociallogin: SocialLogin) -> None:
    account = sociallogin.account
    members.welcome(account.user, github_id=int(account.uid), login=account.extra_data["login"])


def _refused(request: HttpRequest, sentence: str) -> ImmediateHttpResponse:
    messages.error(request, sentence)
    return ImmediateHttpResponse(redirect("account_login"))
