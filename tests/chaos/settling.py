"""Lets hours pass once everything is well again, until nothing moves."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta

from django.db import connection
from django.db.models import DateTimeField, F

from hub.maintenance import JOBS
from integrations.alerts import sending as alerts
from integrations.comments import sending as comments
from integrations.delivery import retries, turns
from integrations.models import Alert, Comment, Delivery
from tests.faults import world

MOST = 40  # rounds of an hour and ten minutes each
STILL = 3  # rounds without any change


def settle(on_round: Callable[[int, Counter[str]], None]) -> Counter[str]:
    """Do what `maintain` does, an hour and ten minutes after the other; returns how many are where."""
    still, before = 0, None
    for number in range(MOST):
        _let_pass(minutes=70)
        for _ in range(2):  # what the first sets free goes in the second
            _round()
        now = state()
        on_round(number + 1, now)
        still = still + 1 if now == before else 0
        if still == STILL and not _moving(now):
            break
        before = now
    return state()


def _round() -> None:
    """One round of `maintain`, with all of its jobs."""
    for job in JOBS:
        job.run(lambda: True)
    alerts.send_due()
    comments.send_due()
    while turns.is_anything_due() and retries.retry(turns.due_ids()):
        pass
    connection.close()


def _let_pass(**duration: float) -> None:
    world.let_pass(**duration)
    times = [f.name for f in Alert._meta.concrete_fields if isinstance(f, DateTimeField)]
    moved = {name: F(name) - timedelta(**duration) for name in times if name != "since"}
    Alert.objects.update(**moved)


def state() -> Counter[str]:
    """How many deliveries, comments and alerts are in which state."""
    counted: Counter[str] = Counter()
    for each in Delivery.objects.values_list("status", "held_for"):
        counted[" ".join(filter(None, each))] += 1
    for model in (Comment, Alert):
        for status in model.objects.values_list("status", flat=True):
            counted[f"{model.__name__.lower()} {status}"] += 1
    return counted


def reasons() -> Counter[str]:
    """Why what was not delivered was not, in words: how many for each reason."""
    counted: Counter[str] = Counter()
    for status, reason in Delivery.objects.exclude(reason="").values_list("status", "reason"):
        counted[f"{status}: {reason}"] += 1
    for model in (Comment, Alert):
        for status, reason in model.objects.exclude(reason="").values_list("status", "reason"):
            counted[f"{model.__name__.lower()} {status}: {reason}"] += 1
    return counted


def _moving(counted: Counter[str]) -> bool:
    moving = ("pending", "sending", "comment pending", "alert pending", "alert closing")
    return any(counted[each] for each in moving)
