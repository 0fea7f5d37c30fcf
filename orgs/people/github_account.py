"""Sign-in with a GitHub account, as django-allauth is told to do it.

The Hub learns id and login and keeps nothing else: no token, no e-mail address, no name.
"""

import logging

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialLogin
from allauth.socialaccount.providers.base import AuthError, AuthProcess, ProviderException
from allauth.socialaccount.providers.github.provider import GitHubProvider
from allauth.socialaccount.providers.github.views import GitHubOAuth2Adapter
from django.conf import settings
from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from orgs.models import User
from orgs.people import members

log = logging.getLogger(__name__)

STALE = "This sign-in was begun in another browser, or more than ten minutes ago. Begin again."
CANCELLED = "You cancelled at GitHub, so you are not signed in."
TWICE = "You are signing in in another window at this moment. Sign in here once more."
FAILED = "GitHub could not confirm who you are. Try again in a moment."


class Browsers(DefaultAccountAdapter):
    """Where a browser may be sent."""

    def is_safe_url(self, url: str) -> bool:
        """A path of this Hub; the other names that it answers to are not the browser's Hub."""
        return url_has_allowed_host_and_scheme(url, allowed_hosts=None)


class OAuth(GitHubOAuth2Adapter):
    """The conversation with GitHub."""

    def get_callback_url(self, request: HttpRequest, app) -> str:
        """At the Hub's own address, whatever `Host` says."""
        return f"{settings.HUB_BASE_URL}{reverse('github_callback')}"


class Provider(GitHubProvider):
    """What is asked of GitHub, and what is kept of the answer."""

    oauth2_adapter_class = OAuth

    def get_redirect_from_request_kwargs(self, request: HttpRequest) -> dict:
        """Nothing but where to go afterwards: the address may not widen the scope."""
        asked = super().get_redirect_from_request_kwargs(request)
        return {"next_url": asked.get("next_url"), "process": AuthProcess.LOGIN}

    def extract_uid(self, data: object) -> str:
        match data:
            case {"id": int() as github_id, "login": str()}:
                return str(github_id)
        raise ProviderException("GitHub did not say who this is.")

    def extract_common_fields(self, data: dict) -> dict:
        return {"username": data["login"]}

    def extract_extra_data(self, data: dict) -> dict:
        return {"login": data["login"]}


class GitHubAccountAdapter(DefaultSocialAccountAdapter):
    """What the Hub does around a sign-in."""

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        if sociallogin.is_existing:
            _welcome(sociallogin)

    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form=None) -> User:
        try:
            with transaction.atomic():
                user = super().save_user(request, sociallogin, form)
                _welcome(sociallogin)
        except IntegrityError:  # the same person's first sign-in in another window came first
            raise _refused(request, TWICE) from None
        return user

    def on_authentication_error(
        self, request, provider, error=None, exception=None, extra_context=None
    ) -> None:
        if error == AuthError.CANCELLED:
            raise _refused(request, CANCELLED)
        if exception is None:
            raise _refused(request, STALE)
        log.warning("A sign-in failed: %s", type(exception).__name__)
        raise _refused(request, FAILED)


def _welcome(sociallogin: SocialLogin) -> None:
    account = sociallogin.account
    members.welcome(account.user, github_id=int(account.uid), login=account.extra_data["login"])


def _refused(request: HttpRequest, sentence: str) -> ImmediateHttpResponse:
    messages.error(request, sentence)
    return ImmediateHttpResponse(redirect("account_login"))
