"""Who may see a page of the settings."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache

from core import at_once
from core.error_answers import page_error
from hub.server import spool
from orgs.models import Membership, User


class MemberRequest(HttpRequest):
    """A request by a member of an organization, which `membership` brings along."""

    user: User
    membership: Membership


def members_only(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Visitors sign in first; to whoever belongs to no organization there is no such page.

    One organization has only so many made at once.
    """

    @never_cache
    @login_required
    @wraps(view)
    def of_a_member(request: MemberRequest, *args, **kwargs) -> HttpResponseBase:
        known = Membership.objects.select_related("organization")
        membership = known.filter(user=request.user).first()
        if membership is None:
            raise Http404
        request.membership = membership
        request.META[spool.WHOSE] = membership.organization_id
        try:
            with at_once.requests.one(membership.organization_id):
                return view(request, *args, **kwargs)
        except at_once.TooManyAtOnce as error:
            return page_error(request, error)

    return of_a_member


def only_post(page: str) -> Callable[[Callable[..., HttpResponseBase]], Any]:
    """A form's target: whoever comes by its address (after a sign-in, say) is led to its page.

    `page` is the name of that page's address, which takes the same arguments.
    """

    def decorate(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        @members_only
        @wraps(view)
        def posted(request: MemberRequest, *args, **kwargs) -> HttpResponseBase:
            if request.method == "POST":
                return view(request, *args, **kwargs)
            return redirect(page, *args, **kwargs)

        return posted

    return decorate
