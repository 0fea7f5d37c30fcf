"""What `/metrics` says of the database: a few numbers from a bounded number of rows, however many there are."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.db.models import Case, F, Value, When
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from core import clock, counting, looks, rates
from hub import deliveries_now, held_now
from hub.deliveries_now import Wait
from hub.maintenance import JOBS, LEASE, RUNNER
from hub.models import Lease
from integrations.models import Delivery, Installation

AT_LEAST = f"What is over {counting.MOST} is not counted: {counting.MOST + 1} means more."
HOUR = timedelta(hours=1)  # after which GitHub's limit begins anew
INSTALLATIONS = 5000  # the newest, of which GitHub's limit is looked at
Status = Delivery.Status


class Figure(NamedTuple):
    """A number at this moment, for each value of its labels."""

    name: str
    meaning: str
    labels: tuple[str, ...]
    values: Sequence[tuple[tuple[str, ...], float]]


MEANINGS = {
    "hub_database_up": "1 if the database answers; without it, the numbers below are missing.",
    "hub_redis_up": "1 unless Redis did not answer when the process that was asked last tried it; 1 without Redis.",
    "hub_deliveries": f"Deliveries that are not sent, by state and cause. {AT_LEAST}",
    "hub_oldest_waiting_seconds": "Since when the oldest of the deliveries waits that are due first, or next, by "
    "cause; 0 if none waits.",
    "hub_github_limit_left": "The fewest calls that GitHub has left for an installation that it answered within "
    f"an hour, of the newest {INSTALLATIONS}; missing if there is none.",
    "hub_github_limited": "Installations for which GitHub is not called before its limit is over.",
    "hub_maintain_age_seconds": "Since when no process that runs maintain has shown that it lives; missing if "
    "none ever has.",
    "hub_maintain_round_age_seconds": "Since when no round of maintain has begun a job; missing if none has.",
    "hub_maintain_job_age_seconds": "Since when each job of maintain was last begun.",
    "hub_queue_tasks": f"Tasks that wait for a worker. {AT_LEAST}",
}

LABELS = {
    "hub_deliveries": ("state", "cause"),
    "hub_oldest_waiting_seconds": ("cause",),
    "hub_maintain_job_age_seconds": ("task",),
}


def now() -> Iterator[Figure]:
    """All of them."""
    yield _one("hub_redis_up", 0 if rates.redis_is_away() else 1)
    try:
        found = list(_of_the_database())
    except (DatabaseError, InterfaceError):
        yield _one("hub_database_up", 0)
        return
    yield _one("hub_database_up", 1)
    yield from found


def _one(name: str, value: float) -> Figure:
    return _figure(name, [((), value)])


def _figure(name: str, values: Sequence[tuple[tuple[str, ...], float]]) -> Figure:
    return Figure(name, MEANINGS[name], LABELS.get(name, ()), values)


def _of_the_database() -> Iterator[Figure]:
    waits = deliveries_now.waits_now()
    yield _deliveries(waits)
    yield _oldest(waits)
    yield from _limits()
    yield from _maintenance()
    ready = DBTaskResult.objects.ready()
    has_workers = settings.HUB_FORWARDING == "queue"  # else what is left waits for nobody
    yield _one("hub_queue_tasks", counting.up_to_most(ready) if has_workers else 0)


def _deliveries(waits: list[Wait]) -> Figure:
    """By state, and what keeps them there: those that wait by why, those that are held by cause."""
    counts: Counter[tuple[str, ...]] = Counter()
    for why in deliveries_now.Waiting:
        times = sum(each.times for each in waits if each.why == why)
        counts[Status.PENDING, why] = min(times, counting.MOST + 1)
    for cause, held in held_now.by_cause().of.items():
        counts[Status.HELD, cause] = held
    rows = Delivery.objects.order_by("due_at")
    others = {status: rows.filter(status=status) for status in (Status.SENDING, Status.FAILED)}
    for status, number in counting.each_up_to_most(**others).items():
        counts[status, ""] = number
    values = [((str(state), str(cause)), number) for (state, cause), number in counts.items()]
    return _figure("hub_deliveries", values)


def _oldest(waits: list[Wait]) -> Figure:
    values = []
    for why in deliveries_now.Waiting:
        oldest = min((each.oldest for each in waits if each.why == why), default=None)
        values.append(((str(why),), _age(oldest) or 0))
    return _figure("hub_oldest_waiting_seconds", values)


def _limits() -> Iterator[Figure]:
    """What GitHub has left, of the newest installations: there is no index by it."""
    rows = Installation.objects.order_by("-pk").annotate(
        fresh=Case(When(limit_seen_at__gt=clock.now() - HOUR, then=F("limit_left"))),
        limited=Case(When(left_alone_until__gt=clock.now(), then=Value(1)), default=Value(0)),
    )
    sql, values = looks.at(
        rows.values("fresh", "limited")[:INSTALLATIONS], "MIN(fresh), SUM(limited)", then=""
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        least, limited = cursor.fetchone()
    if least is not None:
        yield _one("hub_github_limit_left", least)
    yield _one("hub_github_limited", limited or 0)


def _maintenance() -> Iterator[Figure]:
    """When `maintain` last did what, which its leases tell: each is held for a known time."""
    ages = ages_of_maintenance()
    runner = ages.pop(RUNNER, None)
    if runner is not None:
        yield _one("hub_maintain_age_seconds", runner)
    if ages:
        yield _one("hub_maintain_round_age_seconds", min(ages.values()))
    yield _figure("hub_maintain_job_age_seconds", [((job,), age) for job, age in ages.items()])


def ages_of_maintenance() -> dict[str, float]:
    """Seconds since the runner of `maintain` last renewed its lease, and since each job was begun. One query."""
    lasts = {RUNNER: LEASE, **{job.name: job.every for job in JOBS}}
    rows = Lease.objects.filter(name__in=lasts).annotate(now=clock.now())
    return {
        name: max(0.0, (now - (until - lasts[name])).total_seconds())
        for name, until, now in rows.values_list("name", "until", "now")
    }


def _age(since: datetime | None) -> float | None:
    return max(0.0, (timezone.now() + clock.ahead - since).total_seconds()) if since else None
