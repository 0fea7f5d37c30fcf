"""Who may see the pages of the settings."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache

from core import at_once, rates
from core.error_answers import page_error
from core.watching import current
from hub.server import spool
from orgs.models import Membership, User
from orgs.people import counted

View = Callable[..., HttpResponseBase]


class SignedInRequest(HttpRequest):
    """A request by a person who has signed in; `membership` is None without an organization."""

    user: User
    membership: Membership | None


class MemberRequest(SignedInRequest):
    """A request by a member of an organization; `membership` is theirs."""

    membership: Membership


def signed_in(view: View) -> View:
    """Send visitors to sign in. Each person has a limit on requests in progress, and a rate of changes.

    What is over a rate, also one of the view's own, is answered with a page that says so.
    """

    @never_cache
    @login_required
    @wraps(view)
    def of_a_person(request: SignedInRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        known = Membership.objects.select_related("organization")
        membership = request.membership = known.filter(user=request.user).first()
        whose = membership.organization_id if membership else f"user {request.user.pk}"
        request.META[spool.WHOSE] = whose
        current.note(organization=membership.organization_id if membership else "")
        try:
            with _in_progress(request):
                if membership and request.method == "POST":
                    counted.check_change(membership, counted.BROWSER)
                return view(request, *args, **kwargs)
        except (at_once.TooManyAtOnce, rates.RateLimited) as error:
            return page_error(request, error)

    return of_a_person


def _in_progress(request: SignedInRequest) -> AbstractContextManager[None]:
    if request.membership:
        return counted.in_progress(request.membership, counted.BROWSER)
    return at_once.requests.one(f"user {request.user.pk}")


def members_only(view: View) -> View:
    """Like `signed_in`, and people without an organization get 404."""

    @signed_in
    @wraps(view)
    def of_a_member(request: MemberRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.membership is None:
            raise Http404
        return view(request, *args, **kwargs)

    return of_a_member


def only_post(page: str) -> Callable[[View], View]:
    """Accept only forms; other visits (after a sign-in, say) are redirected to the form's page.

    `page` is the name of that page's URL, which takes the same arguments.
    """

    def decorate(view: View) -> View:
        @members_only
        @wraps(view)
        def posted(request: MemberRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if request.method == "POST":
                return view(request, *args, **kwargs)
            return redirect(page, *args, **kwargs)

        return posted

    return decorate
