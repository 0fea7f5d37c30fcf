"""Who may see a page of the settings."""

from collections.abc import Callable
from functools import wraps

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.cache import never_cache

from orgs.models import Membership, User


class MemberRequest(HttpRequest):
    """A request by a member of an organization, which `membership` brings along."""

    user: User
    membership: Membership


def members_only(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Visitors sign in first; to whoever belongs to no organization there is no such page."""

    @never_cache
    @login_required
    @wraps(view)
    def of_a_member(request: MemberRequest, *args, **kwargs) -> HttpResponseBase:
        known = Membership.objects.select_related("organization")
        membership = known.filter(user=request.user).first()
        if membership is None:
            raise Http404
        request.membership = membership
        return view(request, *args, **kwargs)

    return of_a_member
