"""Moves times back that cannot have come yet, once the database's clock was ahead and is put back.

Each column of a time says by how much it may be ahead of now; `maintain` moves what is later back by as much as
the clock was put back. Else it would wait, or be believed, for as long as the clock was ahead.
"""

import logging
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import reduce
from operator import or_
from typing import Any

from django.db import models, transaction
from django.db.models import Case, F, Max, Q, QuerySet, When
from django.utils import timezone

from core import clock, durations
from core.batches import AT_ONCE, at_leisure
from core.times import DAY, HOUR
from hub.models import Lease, Offer
from hub.registering.offer import LIFETIME as OFFER_LIFETIME
from integrations.delivery.holds import PROBE_EVERY
from integrations.models import (
    Alert,
    Answer,
    Attempt,
    Comment,
    Delivery,
    Hold,
    Installation,
    Integration,
    OneTimeState,
    PastTry,
    Verdict,
    Webhook,
)
from integrations.models.delivery import DELIVERED, LEASE, SETTLE
from integrations.models.one_time_state import LIFETIME as STATE_LIFETIME
from orgs.discovery.checking import EVERY as FILE_EVERY
from orgs.models import Domain, FormerAddress, Invitation, Notice, Organization, PersonalToken, Site
from orgs.models.domain import CHALLENGE_LIFETIME, GRACE
from reports.models import Account, Report

log = logging.getLogger(__name__)

# The lease whose end is the latest time that `maintain` has seen. It is held by what is being moved: the microseconds
# by which the clock was put back.
LATEST = "latest time"

_PAST = timedelta()
_ATTEMPT = {
    "due_at": 2 * HOUR,  # the longest wait is an hour and a fifth
    "lease_until": LEASE,
    "last_tried_at": _PAST,
    "posted_at": _PAST,
}
AHEAD: dict[type[models.Model], dict[str, timedelta]] = {  # how far each time may be ahead of now
    Organization: {"left_at": _PAST},
    Notice: {"at": _PAST},
    Invitation: {"created_at": _PAST},
    PersonalToken: {"last_used_at": _PAST},
    FormerAddress: {"left_at": _PAST},
    Domain: {
        "created_at": _PAST,
        "expires_at": CHALLENGE_LIFETIME,
        "verified_at": _PAST,
        "lapsed_at": _PAST,
        "lapses_at": GRACE,
        "opted_out_at": _PAST,
        "absent_since": _PAST,
        "last_checked_at": _PAST,
        "look_began_at": _PAST,
        "look_due_at": 2 * DAY,
        "file_due_at": FILE_EVERY,
        "refused_in_public_at": _PAST,
    },
    Site: {
        "verified_at": _PAST,
        "lapsed_at": _PAST,
        "opted_out_at": _PAST,
        "file_due_at": FILE_EVERY,
        "refused_in_public_at": _PAST,
    },
    Report: {"received_at": _PAST, "last_received_at": _PAST, "erased_at": _PAST},
    Account: {"received_at": _PAST, "last_received_at": _PAST},
    Installation: {
        "suspended_at": _PAST,
        "limited_until": HOUR,  # of a longer window, the pace says so anew
        "left_alone_until": HOUR,
        "limit_seen_at": _PAST,
        "asked_about_at": _PAST,
    },
    Integration: {
        "moved_at": _PAST,
        "probe_at": PROBE_EVERY,
        "paused_at": _PAST,
        "issues_asked_at": _PAST,
        "rights_seen_at": _PAST,
        "rights_absent_since": _PAST,
        "rights_lost_at": _PAST,
    },
    Delivery: _ATTEMPT
    | {
        "trying_since": _PAST,
        "outcome_unknown_since": _PAST,
        "folded_at": _PAST,
        "changed_at": _PAST,
    },
    Attempt: {"started_at": _PAST, "ended_at": _PAST},  # kept for so long after that
    Alert: _ATTEMPT | {"since": _PAST, "ended_at": _PAST},
    Comment: _ATTEMPT | {"written_at": _PAST, "listed_until": _PAST},
    PastTry: {"last_tried_at": _PAST},
    Hold: {"made_at": _PAST, "released_at": _PAST, "followed_at": _PAST},
    Answer: {"changed_at": _PAST},
    Verdict: {"made_at": _PAST},
    Webhook: {"received_at": _PAST},
    OneTimeState: {"expires_at": STATE_LIFETIME, "used_at": _PAST},
    Offer: {"expires_at": OFFER_LIFETIME},
}


class Bookmark:
    """Whether `note` has looked at the times of reports since this process began."""

    is_begun = False


def note(go_on: Callable[[], bool] = lambda: True, bookmark: Bookmark | None = None) -> None:
    """Save the latest time that is known, also of reports that came in while nobody looked; at intervals.

    Reports have the time of the machine that took them, whose clock may be ahead of the database's for good. So
    they tell nothing once this machine's clock has come so far, and with a bookmark only at the first call.
    """
    latest, _ = Lease.objects.get_or_create(name=LATEST, defaults={"until": clock.now()})
    came: Any = clock.now()
    if bookmark is None or not bookmark.is_begun:
        ahead = Report.objects.filter(received_at__gt=clock.now() + clock.SPARE)
        not_come = ahead.filter(received_at__gt=timezone.now() + clock.SPARE)
        came = not_come.aggregate(latest=Max("received_at"))["latest"] or came
    Lease.objects.filter(pk=latest.pk, until__lt=came).update(until=came, holder="")
    if bookmark:
        bookmark.is_begun = True


def move_times_back(go_on: Callable[[], bool] = lambda: True) -> int:
    """Move times back if the clock was put back since `note`; returns the number of rows. One query if it was not.

    Goes on at the next call if `go_on` returns False meanwhile: by as much, since one time may be a copy of another.
    """
    by, begun = _put_back_by()
    if not by:
        return 0
    log.warning(
        "The clock was put back by %s. Times that have not come are moved back.",
        durations.in_short(by.total_seconds()),
    )
    rows = (0 if begun else _begin(by)) + sum(at_leisure(go_on, _move_back(by)))
    if go_on():
        Lease.objects.filter(name=LATEST).update(until=clock.now(), holder="")
        log.warning("Times in %s rows were moved back.", f"{rows:,}")
    return rows


def _put_back_by() -> tuple[timedelta, bool]:
    """By how much, and whether a call before has begun with that; nothing if the clock was not put back."""
    ahead = Lease.objects.filter(name=LATEST, until__gt=clock.now() + clock.SPARE)
    if not ahead.exists():  # which is all that is asked in most seconds
        return _PAST, False
    seen = ahead.annotate(now=clock.now()).values_list("until", "now", "holder").first()
    if seen is None:
        return _PAST, False
    until, now, noted = seen
    begun = timedelta(microseconds=int(noted or 0))
    return (begun, True) if begun >= until - now else (until - now, False)


@transaction.atomic
def _begin(by: timedelta) -> int:
    """Note by how much all is moved back, and look for what is not known; once, however often that is stopped."""
    Lease.objects.filter(name=LATEST).update(holder=str(by // timedelta(microseconds=1)))
    return _look_again_for_unknown(by)


def _look_again_for_unknown(by: timedelta) -> int:
    """What GitHub has not confirmed may have been sent that much earlier than is known, also where that has come.

    It is looked for no sooner than what was sent just now is in GitHub's lists, and `has_settled` tells that by
    `posted_at`. So one of just now stays: of a delivery, which has another time to look from, and of what is being
    sent right now.
    """
    just_now = Q(posted_at__gt=clock.now() - SETTLE, posted_at__lte=clock.now())
    unknown = [
        model._base_manager.filter(posted_at__isnull=False, status__in=model.TO_DO)
        for model in (Alert, Comment)
    ]
    undelivered = Delivery.objects.filter(posted_at__isnull=False).exclude(status__in=DELIVERED)
    since = F("outcome_unknown_since") - by
    return undelivered.update(**_earlier(by, but=just_now), outcome_unknown_since=since) + sum(
        rows.update(**_earlier(by, but=just_now & Q(lease_until__gt=clock.now())))
        for rows in unknown
    )


def _earlier(by: timedelta, *, but: Q) -> dict[str, Any]:
    posted = Case(When(but, then=F("posted_at")), default=F("posted_at") - by)
    return {"posted_at": posted, "due_at": clock.now() + SETTLE}


def _move_back(by: timedelta) -> Iterator[int]:
    """Yields how many rows each step has changed."""
    for model, columns in AHEAD.items():
        is_late = {
            name: Q(**{f"{name}__gt": clock.now() + ahead + clock.SPARE})
            for name, ahead in columns.items()
        }
        moved = {
            name: Case(When(late, then=F(name) - by), default=F(name))
            for name, late in is_late.items()
        }
        for some in _in_parts(model):
            yield some.filter(reduce(or_, is_late.values())).update(**moved)


def _in_parts(model: type[models.Model]) -> Iterator[QuerySet[Any]]:
    rows = model._base_manager.order_by("pk")
    rest = rows
    while pks := list(rest.values_list("pk", flat=True)[:AT_ONCE]):
        yield model._base_manager.filter(pk__gte=pks[0], pk__lte=pks[-1])
        rest = rows.filter(pk__gt=pks[-1])
