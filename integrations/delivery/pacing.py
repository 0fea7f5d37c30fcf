"""Paces deliveries: no more than a maintainer can read and GitHub allows, and a fair share for each source."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.db import transaction
from django.db.models import F, Min, Q, QuerySet, Value
from limits import RateLimitItem, parse_many

from core import batches, clock, prepared
from core.prepared import PreparedStatement, time_of
from integrations.github_api import TooQuick
from integrations.models import Alert, Comment, Delivery, Installation, Integration, PastTry
from integrations.models.delivery import EARLIER, FORGOTTEN, DeliveryQuerySet

SHARE = 3  # a source gets at most a third of what is left: alone a quarter, with others less
SOURCES_KEPT = timedelta(days=2)
OF_MANY = {"", EARLIER, FORGOTTEN}  # what stands for many sources
COMMENTS = "comments"  # the source of all comments, so that they leave room for issues; no hash looks like it


PLACE = PreparedStatement(
    "Which installation sends this report, from whom is it, and is the installation limited now? Nobody "
    "else counts there until this transaction ends.",
    """
    SELECT n.id, d.source, n.limited_until IS NOT NULL AND n.limited_until > {now}
    FROM integrations_delivery d
    JOIN integrations_integration i ON i.id = d.integration_id
    JOIN integrations_installation n ON n.id = i.installation_id
    WHERE d.report_id = %s
    FOR NO KEY UPDATE OF n
    """,
)
_TRIED = f"""
    SELECT i.installation_id, d.source, d.last_tried_at
    FROM integrations_delivery d JOIN integrations_integration i ON i.id = d.integration_id
    WHERE i.installation_id = WHICH AND d.last_tried_at > {{now}} - %s::interval
        AND (i.moved_at IS NULL OR d.last_tried_at > i.moved_at)
    UNION ALL
    SELECT i.installation_id, '', a.last_tried_at
    FROM integrations_alert a JOIN integrations_integration i ON i.id = a.integration_id
    WHERE i.installation_id = WHICH AND a.last_tried_at > {{now}} - %s::interval
        AND (i.moved_at IS NULL OR a.last_tried_at > i.moved_at)
    UNION ALL
    SELECT i.installation_id, '{COMMENTS}', c.last_tried_at
    FROM integrations_comment c JOIN integrations_integration i ON i.id = c.integration_id
    WHERE i.installation_id = WHICH AND c.last_tried_at > {{now}} - %s::interval
        AND (i.moved_at IS NULL OR c.last_tried_at > i.moved_at)
    UNION ALL
    SELECT p.installation_id, p.source, p.last_tried_at
    FROM integrations_pasttry p
    WHERE p.installation_id = WHICH AND p.last_tried_at > {{now}} - %s::interval
"""  # noqa: S608  (no values)
PARTS = 4  # of it: each is asked about an installation, or a list of them, and a time
TRIED = PreparedStatement(
    "How many deliveries, alerts and comments of an installation were last tried in this time, how many "
    "of this source, and since when? With those of integrations that have left it.",
    f"""
    SELECT count(*), count(*) FILTER (WHERE tried.source = %s), min(tried.last_tried_at)
    FROM ({_TRIED.replace("WHICH", "%s")}) tried
    """,  # noqa: S608  (no values)
)
USED = PreparedStatement(
    "How many were last tried in this time, for each of these installations and each source, when the "
    "first of them and when the latest? Alerts are from no source, and all comments from one.",
    f"""
    SELECT tried.installation_id, tried.source, count(*), min(tried.last_tried_at), max(tried.last_tried_at)
    FROM ({_TRIED.replace("WHICH", "ANY(%s)")}) tried
    GROUP BY tried.installation_id, tried.source
    """,  # noqa: S608  (no values)
)


class Used(NamedTuple):
    """How much of one rate an installation has used: the deliveries last tried in this time."""

    item: RateLimitItem
    tried: int = 0
    first: datetime | None = None  # when the first and the latest of them were tried
    latest: datetime | None = None
    full: frozenset[str] = frozenset()  # the sources that have used up their share
    heavy: frozenset[str] = frozenset()  # those of them that have used a quarter of all

    def has_place_at(self, place: int, now: datetime) -> datetime | None:
        """About when so many others and one more have been sent; None if that is now."""
        over = place - (self.item.amount - self.tried)
        return self._after(over // self.item.amount, now) if over >= 0 else None

    def has_share_at(self, place: int, now: datetime, sources: set[str]) -> datetime:
        """The same for sources that have used up their share: one that sends much gets a quarter."""
        quarter = max(1, self.item.amount // (SHARE + 1))
        return self._after(place // (quarter if sources & self.heavy else self.item.amount), now)

    def _after(self, windows: int, now: datetime) -> datetime:
        """When those tried in this time no longer count, and so many times later."""
        return (self.first or now) + _window(self.item) * (1 + windows)


def in_words() -> str:
    """The pace of one installation in words, such as "at most 20 issues a minute and 400 an hour"."""
    first, *others = parse_many(settings.HUB_ISSUE_RATE)
    issues = "1 issue" if first.amount == 1 else f"{first.amount} issues"
    rates = [f"{issues} {_each(first)}", *(f"{each.amount} {_each(each)}" for each in others)]
    return f"at most {' and '.join(rates)}"


def _each(item: RateLimitItem) -> str:
    name = item.GRANULARITY.name
    if item.multiples > 1:
        return f"every {item.multiples} {name}s"
    return f"an {name}" if name == "hour" else f"a {name}"


@prepared.again_if_stale
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
def place(installation: int, source: str = "") -> Iterator[bool]:
    """Whether an installation may send one more issue that is from no source, such as an alert, or from this one.

    Nobody else counts there until the block ends.
    """
    with transaction.atomic(durable=True):
        this = Installation.objects.select_for_update(no_key=True).filter(pk=installation)
        is_unlimited = this.exclude(limited_until__gt=clock.now()).first() is not None
        yield is_unlimited and _has_room(installation, source)


def _has_room(installation: int, source: str) -> bool:
    """Whether one more may be sent now. If not, the installation's row says until when."""
    for item in parse_many(settings.HUB_ISSUE_RATE):
        there = (installation, _window(item))
        tried, own, first = TRIED.rows(source, *there * PARTS)[0]
        free = item.amount - tried
        if free <= 0:
            until = time_of(first) + _window(item)
            Installation.objects.filter(pk=installation).update(limited_until=until)
            return False
        if source and _has_its_share(own, free):
            return False
    return True


def note_too_quick(installation: Installation, error: TooQuick, source: str = COMMENTS) -> None:
    """Leave an installation alone if GitHub has just said so of a report from another source, and taken none since.

    Otherwise it may be about this text, and strangers write those.
    """
    since = clock.now() - error.wait
    tried = Delivery.objects.filter(integration__installation=installation, last_tried_at__gt=since)
    told = tried.waiting().filter(reason=str(error))
    if source not in OF_MANY:
        told = told.exclude(source=source)
    first = told.aggregate(at=Min("last_tried_at"))["at"]
    if first and not tried.filter(status=Delivery.Status.SENT, last_tried_at__gt=first).exists():
        installation.leave_alone_for(error.wait)


def sources_with_their_share(installations: Collection[int]) -> dict[int, set[str]]:
    """The sources (networks of senders) that have used up their share now, by the id of the installation."""
    return {
        installation: {source for each in rates for source in each.full}
        for installation, rates in used(installations).items()
    }


def used(installations: Collection[int]) -> dict[int, list[Used]]:
    """How much of each rate these installations have used now, by their ids."""
    found: dict[int, list[Used]] = {each: [] for each in installations}
    for item in parse_many(settings.HUB_ISSUE_RATE) if found else ():
        by_source: defaultdict[int, list[tuple]] = defaultdict(list)
        there = (list(installations), _window(item))
        for installation, source, tried, *times in USED.rows(*there * PARTS):
            by_source[installation].append((source, tried, *map(time_of, times)))
        for installation, rates in found.items():
            rates.append(_used(item, by_source[installation]))
    return found


def keep_tries(rows: QuerySet[Any, Any]) -> None:
    """Let what was tried of these rows count at their installation still, when they leave it or are deleted."""
    source: Any = {Delivery: F("source"), Comment: Value(COMMENTS)}.get(rows.model, Value(""))
    since = clock.now() - min(SOURCES_KEPT, max(map(_window, parse_many(settings.HUB_ISSUE_RATE))))
    here = Q(integration__moved_at=None) | Q(last_tried_at__gt=F("integration__moved_at"))
    tried = rows.filter(here, last_tried_at__gt=since).annotate(of=source)
    PastTry.objects.bulk_create(
        PastTry(installation_id=installation, source=of, last_tried_at=at)
        for installation, of, at in tried.values_list(
            "integration__installation", "of", "last_tried_at"
        )
    )


def move(integration: Integration) -> None:
    """Let what was tried for an integration count at its installation only, which it is about to leave."""
    for model in (Delivery, Alert, Comment):
        keep_tries(model.objects.filter(integration=integration))
    Integration.objects.filter(pk=integration.pk).update(moved_at=clock.now())
    integration.refresh_from_db(fields=["moved_at"])


def _used(item: RateLimitItem, rows: list[tuple]) -> Used:
    if not rows:
        return Used(item)
    sources, counts, firsts, latests = zip(*rows, strict=True)
    free = item.amount - sum(counts)
    shares = zip(sources, counts, strict=True)
    full = {each: own for each, own in shares if each and _has_its_share(own, free)}
    heavy = frozenset(each for each, own in full.items() if own * (SHARE + 1) >= item.amount)
    return Used(item, sum(counts), min(firsts), max(latests), frozenset(full), heavy)


def forget_sources(go_on: Callable[[], bool] = lambda: True) -> int:
    """Replace sources older than `SOURCES_KEPT` with `FORGOTTEN` while `go_on` returns True; returns how many.

    Also those of a time that has not come, which would be kept for longer. Deliveries that still wait keep their
    turn, and together have the share of one source.
    """
    PastTry.objects.filter(last_tried_at__lt=clock.now() - SOURCES_KEPT).delete()
    return sum(batches.at_leisure(go_on, _forgotten()))


def _forgotten() -> Iterator[int]:
    for rows in (with_an_old_source(), with_a_source_of_later()):
        while some := list(rows.values_list("pk", flat=True)[: batches.BATCH]):
            yield Delivery.objects.filter(pk__in=some).update(source=FORGOTTEN)


def with_an_old_source() -> DeliveryQuerySet:
    """Deliveries whose source is to be forgotten, oldest first."""
    return _with_a_source().filter(created_at__lt=clock.now() - SOURCES_KEPT)


def with_a_source_of_later() -> DeliveryQuerySet:
    """Those that came before the database's clock was put back, at a time that has not come."""
    return _with_a_source().filter(created_at__gt=clock.now() + clock.SPARE)


def _with_a_source() -> DeliveryQuerySet:
    known = Delivery.objects.exclude(source="").exclude(source=FORGOTTEN)
    return known.order_by("created_at")


def _window(item: RateLimitItem) -> timedelta:
    return timedelta(seconds=item.get_expiry())


def _has_its_share(own: int, free: int) -> bool:
    """Whether a source that was tried `own` times may take none of the `free` places."""
    return own * SHARE >= free
