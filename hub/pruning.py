"""Deletes what is no longer needed, in small batches."""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from allauth.idp.oidc.models import Token
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q, QuerySet
from django.db.models.expressions import Combinable

from core import clock
from core.batches import at_leisure
from integrations.models import Attempt, Delivery, OneTimeState, Webhook
from integrations.models import one_time_state as states
from integrations.models import webhook as webhooks
from orgs.models import Invitation
from reports.models import Report

BATCH = 500  # rows deleted in one transaction
LOOKED_AT = 5000  # old reports per query; most of them may be kept for ever
EXPIRED_TOKENS_KEPT = timedelta(days=30)  # so that people can see why a program stopped working

STOPPED = Q(status=Delivery.Status.FAILED) | Q(held_for=Delivery.Cause.DISCARDED)
SENT_OR_WAITING = ~(STOPPED & Q(outcome_unknown_since=None))

GoOn = Callable[[], bool]
OnProgress = Callable[[int], None]


class Prunable(NamedTuple):
    """Rows of one kind: those that are too old, and how one batch of them is deleted."""

    name: str
    old: Callable[[], QuerySet[Any]]
    batches: Callable[[QuerySet[Any]], Iterator[int]]  # deletes; yields how many each time


def prune(go_on: GoOn = lambda: True, on_progress: OnProgress = lambda rows: None) -> Counter[str]:
    """Delete everything that is too old; returns how many of each kind. Stops once `go_on` returns False."""
    deleted: Counter[str] = Counter()
    for kind in KINDS:
        for rows in at_leisure(go_on, kind.batches(kind.old())):
            deleted += Counter({kind.name: rows})
            on_progress(rows)
    return deleted


def count() -> Counter[str]:
    """How many rows `prune` would delete, of each kind."""
    return Counter({kind.name: kind.old().count() for kind in KINDS})


def _past(age: timedelta) -> Combinable:
    return clock.now() - age


def _retention() -> timedelta:
    return timedelta(days=settings.HUB_RETENTION_DAYS)


def reports_never_forwarded() -> QuerySet[Report]:
    """Reports not sent for so long, that never became an issue and wait for none.

    The index is on `received_at`, which is never later than the last time.
    """
    return _old_reports().filter(_is_useless())


def _old_reports() -> QuerySet[Report]:
    return Report.objects.filter(received_at__lt=_past(_retention()))


def _is_useless() -> Q:
    kept = Delivery.objects.filter(SENT_OR_WAITING, report=OuterRef("pk"))
    return Q(~Exists(kept), last_received_at__lt=_past(_retention()))


def _reports_in_batches(old: QuerySet[Report]) -> Iterator[int]:
    """Delete old reports, oldest first, in one pass that does not look at kept ones again.

    Yields also when a whole batch is kept.
    """
    for some in _looks(_old_reports()):
        useless = [pk for pk, is_useless in some if is_useless]
        for first in range(0, len(useless), BATCH):
            yield _delete_reports(useless[first : first + BATCH])
        if not useless:
            yield 0


def _looks(old: QuerySet[Report]) -> Iterator[list[tuple[str, bool]]]:
    """The ids, `LOOKED_AT` at a time, and whether each can be deleted."""
    useless = ExpressionWrapper(_is_useless(), output_field=BooleanField())
    after: tuple[datetime, str] | None = None
    columns = ("received_at", "pk", "useless")
    while True:
        rest = _after(old, after).annotate(useless=useless)
        some = list(rest.values_list(*columns)[:LOOKED_AT])
        yield [(pk, is_useless) for _, pk, is_useless in some]
        if len(some) < LOOKED_AT:
            return
        after = some[-1][:2]


def _after(old: QuerySet[Report], last: tuple[datetime, str] | None) -> QuerySet[Report]:
    if last:
        old = old.filter(received_at__gte=last[0]).exclude(received_at=last[0], pk__lte=last[1])
    return old.order_by("received_at", "pk")


@transaction.atomic
def _delete_reports(pks: list[str]) -> int:
    """Delete those that can still be deleted, now that their rows are locked; returns how many."""
    locked = Report.objects.select_for_update(skip_locked=True).filter(pk__in=pks)
    ids = list(locked.order_by("pk").values_list("pk", flat=True))
    list(Delivery.objects.select_for_update().filter(report__in=ids).values_list("pk"))
    gone = list(reports_never_forwarded().filter(pk__in=ids).values_list("pk", flat=True))
    Attempt.objects.filter(delivery__report__in=gone).delete()
    Delivery.objects.filter(report__in=gone).only("pk").delete()
    Report.objects.filter(pk__in=gone).only("pk").delete()  # and its accounts
    return len(gone)


def _in_batches(old: QuerySet[Any]) -> Iterator[int]:
    """Delete rows that nothing else refers to."""
    while pks := list(old.values_list("pk", flat=True)[:BATCH]):
        old.model._default_manager.filter(pk__in=pks).delete()
        yield len(pks)


def _older(model: Any, column: str, age: timedelta) -> QuerySet[Any]:
    old = model._default_manager.filter(**{f"{column}__lt": _past(age)})
    return old.order_by(column)


KINDS = [
    Prunable("reports", reports_never_forwarded, _reports_in_batches),
    Prunable("attempts", lambda: _older(Attempt, "started_at", _retention()), _in_batches),
    Prunable("invitations", lambda: _older(Invitation, "created_at", _retention()), _in_batches),
    Prunable("webhooks", lambda: _older(Webhook, "received_at", webhooks.KEPT), _in_batches),
    Prunable(
        "sign-in states", lambda: _older(OneTimeState, "expires_at", states.KEPT), _in_batches
    ),
    Prunable("tokens", lambda: _older(Token, "expires_at", EXPIRED_TOKENS_KEPT), _in_batches),
    Prunable("sessions", lambda: _older(Session, "expire_date", timedelta()), _in_batches),
]
