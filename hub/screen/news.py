"""`/settings/news/`: what the organization was told, newest first. *Overview* shows a few of each kind."""

import re
from datetime import timedelta
from typing import NamedTuple

from django.http import Http404, HttpResponse
from django.shortcuts import render

from core import clock, counting
from hub.screen.access import MemberRequest, members_only
from orgs.models import Notice, Organization

RECENTLY = timedelta(days=14)
FEW = 5  # on Overview, or one of each kind if these are more
PAGE_SIZE = 50
NUMBER = re.compile("[1-9][0-9]{0,17}")


class Told(NamedTuple):
    """Whether the organization was ever told anything, and how often `RECENTLY`, such as "1,000+"."""

    anything: bool
    lately: str

    @classmethod
    def of(cls, organization: Organization) -> "Told":
        """In one statement."""
        every = organization.notices.order_by()
        found = counting.each_up_to_most(
            anything=every[:1], lately=every.filter(at__gte=clock.now() - RECENTLY)
        )
        return cls(bool(found["anything"]), counting.in_short(found["lately"]))


def latest(organization: Organization) -> list[Notice]:
    """What *Overview* shows: of each kind the newest, so that many of one kind hide none of another."""
    return organization.notices.filter(at__gte=clock.now() - RECENTLY).some_of_each_kind(FEW)


@members_only
def news(request: MemberRequest) -> HttpResponse:
    """List what is kept, in pages; `after` is the number of the last one on the page before."""
    found, after = request.membership.organization.notices.order_by("-pk"), request.GET.get("after")
    if after:
        if not NUMBER.fullmatch(after):
            raise Http404
        found = found.filter(pk__lt=int(after))
    rows = list(found[: PAGE_SIZE + 1])
    shown = rows[:PAGE_SIZE]
    following = shown[-1].pk if rows[PAGE_SIZE:] else None
    return render(request, "hub/news.html", {"rows": shown, "after": after, "following": following})
