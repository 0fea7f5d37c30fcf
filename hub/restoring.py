"""After a backup was put back: what waits in it may have been sent since it was taken."""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import NamedTuple

from allauth.idp.oidc.models import Token
from django.contrib.sessions.models import Session
from django.db import models

from core import batches
from integrations.models import Alert, Delivery, OneTimeState
from integrations.models.alert import AlertQuerySet
from integrations.models.delivery import DeliveryQuerySet
from orgs.models import Terminal

OnProgress = Callable[[int], None]
Changed = Iterator[int]
UNSENT: tuple[DeliveryQuerySet, AlertQuerySet] = (Delivery.objects.all(), Alert.objects.all())


class Marked(NamedTuple):
    """How many of each."""

    deliveries: int
    alerts: int


def to_mark(taken_at: datetime) -> Marked:
    """How many are unsent and would be sent without a look for their issue."""
    return Marked(*(rows.known_since(taken_at).count() for rows in UNSENT))


def mark(taken_at: datetime, on_progress: OnProgress = lambda rows: None) -> Marked:
    """Have the issues of all that is unsent looked for; returns how many. What is marked stays so."""
    return Marked(*(_in_all(_doubted(rows, taken_at), on_progress) for rows in UNSENT))


def _doubted(rows: DeliveryQuerySet | AlertQuerySet, taken_at: datetime) -> Changed:
    for some in _batches(rows.known_since(taken_at)):
        yield rows.filter(pk__in=some).doubt(taken_at)


def end_sessions() -> int:
    """Sign everybody out, also those whose session had ended since; returns how many sessions there were."""
    _in_all(_deleted(OneTimeState.objects.all()))
    return _in_all(_deleted(Session.objects.all()))


def revoke_tokens() -> int:
    """Revoke all access tokens, also those that had been revoked since; returns how many there were.

    Terminals are signed out: one without its tokens would be told that somebody had copied them.
    """
    revoked = _in_all(_deleted(Token.objects.all()))
    _in_all(_deleted(Terminal.objects.all()))
    return revoked


def _in_all(work: Changed, on_progress: OnProgress = lambda rows: None) -> int:
    total = 0
    for rows in batches.at_leisure(lambda: True, work):
        total += rows
        on_progress(rows)
    return total


def _batches(rows: models.QuerySet) -> Iterator[list]:
    """The keys of all rows, a batch at a time, each asked for when the one before was changed."""
    some = list(rows.order_by("pk").values_list("pk", flat=True)[: batches.BATCH])
    while some:
        yield some
        following = rows.filter(pk__gt=some[-1]).order_by("pk")
        some = list(following.values_list("pk", flat=True)[: batches.BATCH])


def _deleted(rows: models.QuerySet) -> Changed:
    for some in _batches(rows):
        rows.model._default_manager.filter(pk__in=some).delete()
        yield len(some)
