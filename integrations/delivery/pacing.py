"""Not faster than a maintainer can bear, and GitHub allows; and nobody's flood before others."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Count, F, Min, Q
from limits import RateLimitItem, parse_many

from core import clock
from integrations.models import Delivery, Installation
from integrations.models.deliveries import DeliveryQuerySet
from integrations.models.delivery import FORGOTTEN

SHARE = 3  # one source has at most a third of what is left: alone a quarter, of many each less
SOURCES_KEPT = timedelta(days=2)
BATCH = 1000


def claim(report_id: str) -> Delivery | None:
    """Claim a delivery, if its installation has room for one more of its source now; else it waits.

    The installation's row is locked while its deliveries are counted, so that no two processes
    take the last place.
    """
    with transaction.atomic(durable=True):  # what follows must not happen in a transaction
        installation = (
            Installation.objects.select_for_update(of=("self",))
            .filter(integrations__deliveries__report=report_id)
            .annotate(source=F("integrations__deliveries__source"))
            .first()
        )
        if installation is None or not _has_room(installation, installation.source):
            return None
        return Delivery.objects.take(report_id)


def _has_room(installation: Installation, source: str) -> bool:
    """Whether one more may be sent now. Where the pace is used up, the installation's row says until when."""
    this = Installation.objects.filter(pk=installation.pk)
    if this.filter(limited_until__gt=clock.now()).exists():
        return False
    for item in parse_many(settings.HUB_ISSUE_RATE):
        tried = _tried(item).filter(integration__installation=installation)
        count = tried.aggregate(
            all=Count("pk"), own=Count("pk", filter=Q(source=source)), first=Min("last_tried_at")
        )
        free = item.amount - count["all"]
        if free <= 0:
            this.update(limited_until=count["first"] + _window(item))
            return False
        if source and _has_its_share(count["own"], free):
            return False
    return True


def sources_with_their_share(installations: Iterable[int]) -> dict[int, set[str]]:
    """The sources of which nothing more is sent just now, for each installation by its key."""
    full: defaultdict[int, set[str]] = defaultdict(set)
    for item in parse_many(settings.HUB_ISSUE_RATE):
        tried = _tried(item).filter(integration__installation__in=installations)
        counts = list(
            tried.values_list("integration__installation", "source").annotate(Count("pk"))
        )
        used: Counter[int] = Counter()
        for installation, _, count in counts:
            used[installation] += count
        for installation, source, count in counts:
            if source and _has_its_share(count, item.amount - used[installation]):
                full[installation].add(source)
    return full


def forget_sources(go_on: Callable[[], bool] = lambda: True) -> int:
    """Replace the sources that are older than `SOURCES_KEPT` by `FORGOTTEN`, while `go_on` says so.

    How many. What still waits keeps its turn, and together it has the share of one source.
    """
    forgotten = 0
    while go_on() and (batch := list(with_an_old_source().values_list("pk", flat=True)[:BATCH])):
        forgotten += Delivery.objects.filter(pk__in=batch).update(source=FORGOTTEN)
    return forgotten


def with_an_old_source() -> DeliveryQuerySet:
    known = Delivery.objects.exclude(source="").exclude(source=FORGOTTEN)
    return known.filter(created_at__lt=clock.now() - SOURCES_KEPT).order_by("created_at")


def _tried(item: RateLimitItem) -> DeliveryQuerySet:
    return Delivery.objects.filter(last_tried_at__gt=clock.now() - _window(item))


def _window(item: RateLimitItem) -> timedelta:
    return timedelta(seconds=item.get_expiry())


def _has_its_share(own: int, free: int) -> bool:
    """Whether a source that was tried `own` times takes none of the `free` places that are left."""
    return own * SHARE >= free
