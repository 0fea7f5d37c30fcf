"""Compares what is wrong now with the alerts that exist, so that no cause is missed and none is told twice."""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import IntegrityError
from django.db.models import Exists, OuterRef, Q

from core import batches, clock
from integrations.models import Alert, Integration
from orgs.models import Domain, Organization

log = logging.getLogger(__name__)

INTEGRATIONS = 20  # that are looked at together, with at most a thousand claims each
SAID = 3  # claims, at each sign-in
UNFINISHED = 10  # alerts of one integration: what else is wrong waits until some are solved
NEWS = timedelta(days=7)  # what has lapsed longer ago is not news


class Trouble(NamedTuple):
    """One thing that is wrong. The same since another time is another one."""

    integration: int
    cause: str
    subject: str
    since: datetime


class Told(NamedTuple):
    """Whether something that is wrong is news, and since when there is what it is about: a claim, mostly."""

    is_news: bool
    made_at: datetime


class Bookmark:
    """The last integration that `compare` has looked at; 0 at the beginning."""

    last = 0


def compare(go_on: Callable[[], bool] = lambda: True, bookmark: Bookmark | None = None) -> int:
    """Note what has gone wrong, and end what is solved, while `go_on` returns True; returns how many.

    With a bookmark, it continues where the last call with it was stopped.
    """
    return sum(batches.at_leisure(go_on, _compared(bookmark or Bookmark())))


def untold(organization: Organization) -> tuple[Integration | None, list[Domain]]:
    """What is wrong and no issue says: the integration if it sends nothing, and claims, the first of them.

    A pause is a member's own doing, and none of it.
    """
    mine = Integration.objects.of(organization).configured()
    stopped = mine.exclude(problem="", rights_lost_at=None).first()
    open_issues = Alert.objects.of(organization).filter(status=Alert.Status.OPEN)
    if stopped and not stopped.problem and open_issues.filter(cause=Alert.Cause.RIGHTS).exists():
        stopped = None
    claims = [Alert.Cause.LAPSING, Alert.Cause.LAPSED]
    told = open_issues.filter(cause__in=claims).values("subject")
    news = Q(lapses_at__isnull=False) | Q(lapsed_at__gt=clock.now() - NEWS)
    domains = (
        organization.domains.filter(news).exclude(name__in=told).order_by("created_at", "name")
    )
    return stopped, list(domains[:SAID])


def _compared(here: Bookmark) -> Iterator[int]:
    """In the order of integrations, some at a time: those that want alerts, and those that had some."""
    had = Alert.objects.filter(integration=OuterRef("pk"), ended_at=None)
    concerned = Integration.objects.filter(Q(alerts=True) | Exists(had)).order_by("pk")
    while some := list(concerned.filter(pk__gt=here.last)[:INTEGRATIONS]):
        changed, here.last = _compare(some), some[-1].pk
        yield changed
    here.last = 0


def _compare(integrations: Sequence[Integration]) -> int:
    now = _wrong_now(integrations)
    known = Alert.objects.filter(integration__in=integrations, ended_at=None)
    columns = ("pk", "integration", "cause", "subject", "since")
    ended = [pk for pk, *key in known.values_list(*columns) if Trouble(*key) not in now]
    Alert.objects.filter(pk__in=ended).end()
    new = _to_be_told([each for each in integrations if each.alerts], now)
    return len(ended) + _noted(new)


def _noted(new: Sequence[Trouble]) -> int:
    """Save these, or none if an integration among them was just deleted; the next call finds the others again."""
    try:
        Alert.objects.bulk_create(map(_alert, new), ignore_conflicts=True)
    except IntegrityError as error:
        log.warning("Alerts are noted later: %s", str(error).partition("\n")[0])
        return 0
    return len(new)


def _alert(trouble: Trouble) -> Alert:
    key = trouble._asdict()
    return Alert(integration_id=key.pop("integration"), **key)


def _to_be_told(integrations: Sequence[Integration], now: dict[Trouble, Told]) -> list[Trouble]:
    """What is news and not told yet, as far as there is room, about the earliest claim first.

    So whoever makes many claims and lets them lapse keeps none of the earlier ones untold. Missing push access
    needs no room: as long as it lasts, the others wait and make none.
    """
    mine = Alert.objects.filter(integration__in=integrations)
    told = {Trouble(*key) for key in mine.filter(ended_at=None).values_list(*Trouble._fields)}
    used = Counter(mine.unfinished().values_list("integration", flat=True))
    wanting, new = {each.pk for each in integrations}, []
    for trouble in sorted(now.keys() - told, key=lambda each: (now[each].made_at, each.since)):
        to = trouble.integration
        has_room = used[to] < UNFINISHED or trouble.cause == Alert.Cause.RIGHTS
        if now[trouble].is_news and to in wanting and has_room:
            used[to] += 1
            new.append(trouble)
    return new


def _wrong_now(integrations: Sequence[Integration]) -> dict[Trouble, Told]:
    """All that is wrong."""
    of = {each.organization_id: each.pk for each in integrations}
    mine = Domain.objects.filter(organization__in=of)
    lapsing = mine.verified().filter(lapses_at__isnull=False, absent_since__isnull=False)
    lapsed = mine.filter(lapsed_at__isnull=False)
    news = lapsed.filter(lapsed_at__gt=clock.now() - NEWS)
    causes = Alert.Cause
    found: dict[Trouble, Told] = {}
    for cause, domains, column, is_news in (
        (causes.LAPSING, lapsing, "absent_since", True),
        (causes.LAPSED, lapsed, "lapsed_at", False),
        (causes.LAPSED, news, "lapsed_at", True),
    ):
        columns = ("organization", "name", column, "created_at")
        for organization, name, since, made_at in domains.values_list(*columns):
            found[Trouble(of[organization], cause, name, since)] = Told(is_news, made_at)
    for each in integrations:
        if lost_at := each.rights_lost_at:
            found[Trouble(each.pk, causes.RIGHTS, "", lost_at)] = Told(True, lost_at)
    return found
