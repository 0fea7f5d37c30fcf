"""Paces deliveries: no more than a maintainer can read and GitHub allows, and a fair share for each source."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Count
from limits import RateLimitItem, parse_many

from core import batches, clock, prepared
from core.prepared import PreparedStatement
from integrations.models import Alert, Delivery, Installation
from integrations.models.delivery import FORGOTTEN, DeliveryQuerySet

SHARE = 3  # a source gets at most a third of what is left: alone a quarter, with others less
SOURCES_KEPT = timedelta(days=2)


PLACE = PreparedStatement(
    "Which installation sends this report, from whom is it, and is the installation limited now? Nobody "
    "else counts there until this transaction ends.",
    """
    SELECT n.id, d.source, n.limited_until IS NOT NULL AND n.limited_until > {now}
    FROM integrations_delivery d
    JOIN integrations_integration i ON i.id = d.integration_id
    JOIN integrations_installation n ON n.id = i.installation_id
    WHERE d.report_id = %s
    FOR UPDATE OF n
    """,
)
TRIED = PreparedStatement(
    "How many deliveries and alerts of an installation were last tried in this time, how many deliveries "
    "of this source, and since when?",
    """
    SELECT count(*), count(*) FILTER (WHERE tried.source = %s), min(tried.last_tried_at)
    FROM (
        SELECT d.source, d.last_tried_at
        FROM integrations_delivery d
        JOIN integrations_integration i ON i.id = d.integration_id
        WHERE i.installation_id = %s AND d.last_tried_at > {now} - %s::interval
        UNION ALL
        SELECT NULL, a.last_tried_at
        FROM integrations_alert a
        JOIN integrations_integration i ON i.id = a.integration_id
        WHERE i.installation_id = %s AND a.last_tried_at > {now} - %s::interval
    ) tried
    """,
)


def in_words() -> str:
    """The pace of one installation in words, such as "at most 20 issues per minute"."""
    rates = parse_many(settings.HUB_ISSUE_RATE)
    return "at most " + " and ".join(f"{each.amount} issues per {_unit(each)}" for each in rates)


def _unit(item: RateLimitItem) -> str:
    name = item.GRANULARITY.name
    return name if item.multiples == 1 else f"{item.multiples} {name}s"


def take(report_id: str) -> Delivery | None:
    """Take a delivery for one attempt if its installation and its source may send one more now; None if it has to wait.

    The installation's row is locked while its deliveries are counted, so that two processes cannot
    take the last place.
    """
    with transaction.atomic(durable=True):  # durable: what follows must not be in a transaction
        row = PLACE.first(report_id)
        if row is None:
            return None
        installation, source, is_limited = row
        if is_limited or not _has_room(installation, source):
            return None
        return Delivery.objects.take(report_id)


@contextmanager
def place(installation: int) -> Iterator[bool]:
    """Whether an installation may send one more issue that is from no source, such as an alert.

    Nobody else counts there until the block ends.
    """
    with transaction.atomic(durable=True):
        this = Installation.objects.select_for_update().filter(pk=installation)
        is_unlimited = this.exclude(limited_until__gt=clock.now()).first() is not None
        yield is_unlimited and _has_room(installation, "")


def _has_room(installation: int, source: str) -> bool:
    """Whether one more may be sent now. If not, the installation's row says until when."""
    for item in parse_many(settings.HUB_ISSUE_RATE):
        there = (installation, _window(item))
        tried, own, first = TRIED.rows(source, *there, *there)[0]
        free = item.amount - tried
        if free <= 0:
            until = prepared.time_of(first) + _window(item)
            Installation.objects.filter(pk=installation).update(limited_until=until)
            return False
        if source and _has_its_share(own, free):
            return False
    return True


def sources_with_their_share(installations: Iterable[int]) -> dict[int, set[str]]:
    """The sources (networks of senders) that have used up their share now, by the id of the installation."""
    full: defaultdict[int, set[str]] = defaultdict(set)
    for item in parse_many(settings.HUB_ISSUE_RATE):
        tried = _tried(item).filter(integration__installation__in=installations)
        counts = list(
            tried.values_list("integration__installation", "source").annotate(Count("pk"))
        )
        alerts = Alert.objects.filter(last_tried_at__gt=clock.now() - _window(item))
        there = alerts.filter(integration__installation__in=installations)
        used = Counter(there.values_list("integration__installation", flat=True))
        for installation, _, count in counts:
            used[installation] += count
        for installation, source, count in counts:
            if source and _has_its_share(count, item.amount - used[installation]):
                full[installation].add(source)
    return full


def forget_sources(go_on: Callable[[], bool] = lambda: True) -> int:
    """Replace sources older than `SOURCES_KEPT` with `FORGOTTEN` while `go_on` returns True; returns how many.

    Deliveries that still wait keep their turn, and together have the share of one source.
    """
    return sum(batches.at_leisure(go_on, _forgotten()))


def _forgotten() -> Iterator[int]:
    while some := list(with_an_old_source().values_list("pk", flat=True)[: batches.BATCH]):
        yield Delivery.objects.filter(pk__in=some).update(source=FORGOTTEN)


def with_an_old_source() -> DeliveryQuerySet:
    """Deliveries whose source is to be forgotten, oldest first."""
    known = Delivery.objects.exclude(source="").exclude(source=FORGOTTEN)
    return known.filter(created_at__lt=clock.now() - SOURCES_KEPT).order_by("created_at")


def _tried(item: RateLimitItem) -> DeliveryQuerySet:
    return Delivery.objects.filter(last_tried_at__gt=clock.now() - _window(item))


def _window(item: RateLimitItem) -> timedelta:
    return timedelta(seconds=item.get_expiry())


def _has_its_share(own: int, free: int) -> bool:
    """Whether a source that was tried `own` times may take none of the `free` places."""
    return own * SHARE >= free
