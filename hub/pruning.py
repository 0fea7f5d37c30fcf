"""Deletes what is no longer needed, in small batches."""

import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, NamedTuple

from allauth.idp.oidc.models import Token
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q, QuerySet
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce
from django_tasks_db.models import DBTaskResult

from core import clock
from core.batches import at_leisure
from integrations.delivery import operator_holds
from integrations.models import Alert, Attempt, Delivery, Installation, OneTimeState, Webhook
from integrations.models import one_time_state as states
from integrations.models import webhook as webhooks
from integrations.setup import leaving
from orgs import renamed
from orgs.models import Invitation, Notice, Terminal
from reports.models import Report

BATCH = 200  # rows deleted in one transaction
LOOKED_AT = 5000  # old reports per query; most of them may be kept for ever
LOOKS = 4  # times so many kept ones, until the next call continues
TASKS_KEPT = timedelta(days=14)
EXPIRED_TOKENS_KEPT = timedelta(days=30)  # so that people can see why a program stopped working

STOPPED = Q(status=Delivery.Status.FAILED) | Q(held_for=Delivery.Cause.DISCARDED)
SENT_OR_WAITING = ~(STOPPED & Q(outcome_unknown_since=None))

GoOn = Callable[[], bool]
OnProgress = Callable[[int], None]


class Bookmark:
    """The last old report that `prune` has looked at; None at the beginning."""

    last: tuple[datetime, str] | None = None


Batches = Callable[[QuerySet[Any], Bookmark | None], Iterator[int]]  # deletes; yields how many


class Prunable(NamedTuple):
    """Rows of one kind: those that are too old, and how one batch of them is deleted."""

    name: str
    old: Callable[[], QuerySet[Any]]
    batches: Batches


def prune(
    go_on: GoOn = lambda: True,
    on_progress: OnProgress = lambda rows: None,
    bookmark: Bookmark | None = None,
) -> Counter[str]:
    """Delete everything that is too old; returns how many of each kind. Stops once `go_on` returns False.

    Most old reports are kept for ever. With a bookmark, a call ends after `LOOKS` looks at kept ones, and
    the next continues there.
    """
    deleted: Counter[str] = Counter()
    for kind in KINDS:
        for rows in at_leisure(go_on, kind.batches(kind.old(), bookmark)):
            deleted += Counter({kind.name: rows})
            on_progress(rows)
    return deleted


def prune_sessions(go_on: GoOn = lambda: True) -> int:
    """Delete the sessions that have ended; returns how many. Strangers can begin many, each for ten minutes."""
    return sum(at_leisure(go_on, _in_batches(_ended_sessions(), None)))


def prune_queue(go_on: GoOn = lambda: True) -> int:
    """Delete tasks that were finished `TASKS_KEPT` ago, or begun or queued then and never finished; returns how many.

    Their results are in other rows, and what no worker has finished, `maintain` has. It starts at a random
    task, so that each has its turn even if no pass over all is finished in time.
    """
    start = uuid.uuid4()
    tasks = DBTaskResult.objects.order_by("pk")
    parts = (tasks.filter(pk__gte=start), tasks.filter(pk__lt=start))
    return sum(at_leisure(go_on, chain.from_iterable(map(_old_tasks_in_batches, parts))))


def count() -> Counter[str]:
    """How many rows `prune` would delete, of each kind."""
    return Counter({kind.name: kind.old().count() for kind in KINDS})


def _past(age: timedelta) -> Combinable:
    return clock.now() - age


def _retention() -> timedelta:
    return timedelta(days=settings.HUB_RETENTION_DAYS)


def reports_never_forwarded() -> QuerySet[Report]:
    """Reports not sent for so long, that are in no issue and wait for none.

    The index is on `received_at`, which is never later than the last time.
    """
    return _old_reports().filter(_is_useless())


def _old_reports() -> QuerySet[Report]:
    return Report.objects.filter(received_at__lt=_past(_retention()))


def _is_useless() -> Q:
    kept = Delivery.objects.filter(SENT_OR_WAITING, report=OuterRef("pk"))
    return Q(~Exists(kept), last_received_at__lt=_past(_retention()))


def _reports_in_batches(old: QuerySet[Report], bookmark: Bookmark | None) -> Iterator[int]:
    """Delete old reports, oldest first, in one pass that does not look at kept ones again.

    Yields also when a whole batch is kept.
    """
    here = bookmark or Bookmark()
    kept = 0
    while not bookmark or kept < LOOKS * LOOKED_AT:
        some = _look(here.last)
        useless = [pk for _, pk, is_useless in some if is_useless]
        for first in range(0, len(useless), BATCH):
            yield _delete_reports(useless[first : first + BATCH])
        if not useless:
            yield 0
        kept += len(some) - len(useless)
        here.last = some[-1][:2] if len(some) == LOOKED_AT else None
        if here.last is None:
            return


def _look(after: tuple[datetime, str] | None) -> list[tuple[datetime, str, bool]]:
    """The next `LOOKED_AT` old reports, and whether each can be deleted."""
    useless = ExpressionWrapper(_is_useless(), output_field=BooleanField())
    rest = _after(_old_reports(), after).annotate(useless=useless)
    return list(rest.values_list("received_at", "pk", "useless")[:LOOKED_AT])


def _after(old: QuerySet[Report], last: tuple[datetime, str] | None) -> QuerySet[Report]:
    if last:
        old = old.filter(received_at__gte=last[0]).exclude(received_at=last[0], pk__lte=last[1])
    return old.order_by("received_at", "pk")


@transaction.atomic
def _delete_reports(pks: list[str]) -> int:
    """Delete those that can still be deleted, now that their rows are locked; returns how many."""
    locked = Report.objects.select_for_update(skip_locked=True).filter(pk__in=pks)
    ids = list(locked.order_by("pk").values_list("pk", flat=True))
    theirs = Delivery.objects.filter(report__in=ids).order_by("pk")  # as all that have no issue
    list(theirs.select_for_update().values_list("pk"))
    gone = list(reports_never_forwarded().filter(pk__in=ids).values_list("pk", flat=True))
    Attempt.objects.filter(delivery__report__in=gone).delete()
    Delivery.objects.filter(report__in=gone).only("pk").delete()
    Report.objects.filter(pk__in=gone).only("pk").delete()  # and its accounts
    return len(gone)


def _installations_in_batches(
    unused: QuerySet[Installation], bookmark: Bookmark | None
) -> Iterator[int]:
    pks = list(unused.values_list("pk", flat=True))
    if pks:
        leaving.note_earlier_moves()
    for first in range(0, len(pks), BATCH):
        yield _delete_installations(unused.filter(pk__in=pks[first : first + BATCH]))


@transaction.atomic
def _delete_installations(unused: QuerySet[Installation]) -> int:
    """Delete those that are still unused, now that their rows are locked: one may be installed just now."""
    locked = list(unused.select_for_update(skip_locked=True).values_list("pk", flat=True))
    return unused.filter(pk__in=locked).delete()[0]


def _old_tasks_in_batches(tasks: QuerySet[DBTaskResult]) -> Iterator[int]:
    """Delete what is too old of these, which are in the order of their ids; yields also when all are kept.

    There is no index on the time: reading on from the last id bounds what one query reads.
    """
    is_old = Q(latest__lt=_past(TASKS_KEPT))
    old = ExpressionWrapper(is_old, output_field=BooleanField())
    tasks = tasks.alias(latest=Coalesce("finished_at", "started_at", "enqueued_at"))
    looked_at = tasks.annotate(old=old).values_list("pk", "old")
    some = list(looked_at[:LOOKED_AT])
    while some:
        pks = [pk for pk, may_go in some if may_go]
        for first in range(0, len(pks), BATCH):  # without those that a worker has just taken
            yield tasks.filter(is_old, pk__in=pks[first : first + BATCH]).delete()[0]
        if not pks:
            yield 0
        some = list(looked_at.filter(pk__gt=some[-1][0])[:LOOKED_AT])


def _in_batches(old: QuerySet[Any], bookmark: Bookmark | None) -> Iterator[int]:
    """Delete rows that nothing else refers to."""
    while pks := list(old.values_list("pk", flat=True)[:BATCH]):
        old.model._default_manager.filter(pk__in=pks).delete()
        yield len(pks)


def _ended_sessions() -> QuerySet[Session]:
    return _older(Session, "expire_date", timedelta())


def _older(model: Any, column: str, age: timedelta) -> QuerySet[Any]:
    old = model._default_manager.filter(**{f"{column}__lt": _past(age)})
    return old.order_by(column)


KINDS = [
    Prunable("attempts", lambda: _older(Attempt, "started_at", _retention()), _in_batches),
    Prunable("alerts", lambda: Alert.objects.over(_retention()), _in_batches),
    Prunable("invitations", lambda: _older(Invitation, "created_at", _retention()), _in_batches),
    Prunable("notices", lambda: Notice.objects.over(), _in_batches),
    Prunable("webhooks", lambda: _older(Webhook, "received_at", webhooks.KEPT), _in_batches),
    Prunable("webhooks of nobody", Webhook.objects.of_nobody, _in_batches),
    Prunable(
        "sign-in states", lambda: _older(OneTimeState, "expires_at", states.KEPT), _in_batches
    ),
    Prunable("tokens", lambda: _older(Token, "expires_at", EXPIRED_TOKENS_KEPT), _in_batches),
    Prunable("terminals", lambda: _older(Terminal, "ends_at", EXPIRED_TOKENS_KEPT), _in_batches),
    Prunable("operators' holds", operator_holds.over, _in_batches),
    Prunable("former addresses", renamed.of_nobody, _in_batches),
    Prunable("installations", leaving.unused_installations, _installations_in_batches),
    Prunable("sessions", _ended_sessions, _in_batches),
    # Last, since strangers can send more than goes in the time that all kinds have together.
    Prunable("reports", reports_never_forwarded, _reports_in_batches),
]
