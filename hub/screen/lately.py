"""What happened lately, in numbers: from looks that are bounded, and say so."""

import statistics
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import connection
from django.db.models import OuterRef, QuerySet, Subquery
from django.utils import timezone

from core import counting, durations, looks
from hub.screen import spark_lines, weeks
from hub.screen.report_rows import short_addresses
from hub.screen.spark_lines import DAY, SparkLine
from integrations.delivery import catching_up
from integrations.models import Attempt, Delivery, Integration
from orgs.models import Organization
from reports.models import Report

COUNTED = 5000  # the latest reports, so that the cost of the page does not grow
DAYS = timedelta(days=7)  # what the figures compare with as many days before
DRAWN = 2 * DAYS // timedelta(days=1)  # days in a spark line
TIMED = 200  # of the latest deliveries, for the time that they took
MOST_REPORTED, RECENTLY = 6, timedelta(days=30)


class Figure(NamedTuple):
    """A number, what it is compared with, and its latest days."""

    name: str
    number: str
    note: str
    line: SparkLine | None = None


class Page(NamedTuple):
    """A page that was reported, and the width of its bar."""

    url: str
    name: str
    times: int
    percent: int


class Stopped(NamedTuple):
    """How many deliveries have failed, are held or will be, and wait; as `counting.up_to_most`."""

    failed: int = 0
    held: int = 0
    waiting: int = 0


class Known(NamedTuple):
    """What is known of the deliveries of an integration, whenever they arrived."""

    stopped: Stopped = Stopped()
    has_sent: bool = False  # whether one became an issue
    has_joined: bool = False  # whether one joined an issue that was there


class Arrivals(NamedTuple):
    """How many of the latest reports arrived when."""

    by_week: list[int]
    by_day: list[int]  # of the latest `DRAWN` days, which are those that the figure compares
    is_bounded: bool  # whether there may be older ones

    @property
    def figure(self) -> Figure:
        """The latest days beside those before."""
        name, days = "Reports, last 7 days", DAYS // DAY
        before, lately = sum(self.by_day[:-days]), sum(self.by_day[-days:])
        if self.is_bounded and lately == COUNTED:
            return Figure(name, f"{COUNTED:,}+", "more are not counted")
        if self.is_bounded and lately + before == COUNTED:
            return Figure(name, f"{lately:,}", "")
        return Figure(name, f"{lately:,}", _compared(lately, before), spark_lines.of(self.by_day))


def arrivals(organization: Organization) -> Arrivals:
    """When the latest reports arrived, at most `COUNTED`, in one statement."""
    now, starts = timezone.now(), [weeks.start_of(each) for each in weeks.mondays()]
    days = [now - ago * DAY for ago in range(DRAWN, 0, -1)]
    cuts = sorted({*starts, *days})
    latest = latest_since(organization, now - starts[0])
    parts = list(zip(cuts, weeks.counted(latest, cuts), strict=True))

    def between(first: datetime, end: datetime | None) -> int:
        return sum(count for at, count in parts if at >= first and (end is None or at < end))

    return Arrivals(
        [between(*each) for each in zip(starts, [*starts[1:], None], strict=True)],
        by_day=[between(*each) for each in zip(days, [*days[1:], None], strict=True)],
        is_bounded=between(starts[0], None) == COUNTED,
    )


def latest_since(organization: Organization, age: timedelta) -> QuerySet[Report]:
    """The latest reports that are not older, at most `COUNTED`."""
    return Report.objects.newest_first(organization, after=(timezone.now() - age, ""))[:COUNTED]


def most_reported(reports: QuerySet[Report]) -> list[Page]:
    """The pages that most of these reports are about."""
    order = f"GROUP BY canonical_url ORDER BY times DESC, canonical_url LIMIT {MOST_REPORTED}"
    asked = looks.at(
        reports.values("canonical_url", "times_reported"),
        "canonical_url, SUM(times_reported) AS times",
        then=order,
    )
    with connection.cursor() as cursor:
        cursor.execute(*asked)
        found = cursor.fetchall()
    names = short_addresses([url for url, _ in found])
    most = max((times for _, times in found), default=1)
    return [
        Page(url, name, times, max(1, 100 * times // most))
        for (url, times), name in zip(found, names, strict=True)
    ]


def joined(organization: Organization) -> str:
    """How many of the reports of `RECENTLY` joined an issue that was there, such as "12"; empty if none did.

    Out of the latest `COUNTED`, and then "12 or more".
    """
    latest = latest_since(organization, RECENTLY).values("id")
    of_each = f"SELECT status FROM {Delivery._meta.db_table} WHERE report_id = looked_at.id"  # noqa: S608
    select = f"COUNT(*), COUNT(CASE WHEN ({of_each}) = '{Delivery.Status.FOLDED}' THEN 1 END)"  # never reads all
    sql, values = looks.at(latest, select, then="")
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        looked_at, count = cursor.fetchone()
    return f"{count:,}{' or more' if looked_at == COUNTED else ''}" if count else ""


def known(integration: Integration | None) -> Known:
    """How many deliveries of the integration are not sent, and why, and what became of others; in one statement."""
    if integration is None:
        return Known()
    mine, status = integration.deliveries, Delivery.Status
    about_to_be = catching_up.about_to_be_held(integration)
    asked = {
        **about_to_be,  # those that wait may be among them, and are the same as below
        "failed": mine.in_state(status.FAILED),
        "waiting": mine.in_state(status.PENDING),
        "sent": mine.in_state(status.SENT)[:1],
        "folded": mine.in_state(status.FOLDED)[:1],
    }
    found = counting.each_up_to_most(**asked)
    stopped = Stopped(
        failed=found["failed"],
        held=sum(found[each] for each in about_to_be),
        waiting=found["waiting"],
    )
    return Known(stopped, has_sent=bool(found["sent"]), has_joined=bool(found["folded"]))


def unsent(integration: Integration | None, stopped: Stopped) -> list[datetime]:
    """When the reports arrived that are not sent yet; none at all if these are too many to look at."""
    if integration is None or max(stopped) > counting.MOST:
        return []
    status = Delivery.Status
    counts = {
        status.FAILED: stopped.failed,
        status.HELD: stopped.held,
        status.PENDING: stopped.waiting,
    }
    states = [integration.deliveries.in_state(each) for each, count in counts.items() if count]
    arrived = [each.values_list("report__received_at", flat=True) for each in states]
    return [at for each in arrived for at in each[: counting.MOST]]


def issues(integration: Integration | None) -> Iterator[Figure]:
    """How many issues were opened in the latest days, and how long that took."""
    now = timezone.now()
    rows = _tried(integration, now - 2 * DAYS).values_list("status", "last_tried_at")
    tried = [(status, at) for status, at in rows[: 2 * counting.MOST + 1] if at]
    lately = [row for row in tried if row[1] > now - DAYS]
    is_bounded, is_known = len(lately) > counting.MOST, len(tried) <= 2 * counting.MOST
    found = _sent(lately[: counting.MOST])
    number = len(found)
    note, line = "", None
    if is_known and not is_bounded:
        both = _sent(tried)
        note = _compared(number, len(both) - number)
        line = spark_lines.of(spark_lines.per_day(both, now, DRAWN))
    yield Figure("Became issues", f"{number:,}{'+' if is_bounded else ''}", note, line)
    taken = _taken(_tried(integration, now - DAYS))
    seconds = [each for _, each in taken]
    if not seconds:
        yield Figure("Median time to issue", "–", "no issue was opened lately")
        return
    of_some = f", of the latest {len(seconds)}" if number > len(seconds) else ""
    slowest = f"slowest {durations.in_short(max(seconds))}{of_some}"
    median = durations.in_short(statistics.median(seconds))
    line = spark_lines.of(_medians(taken, now), durations.in_short)
    yield Figure("Median time to issue", median, slowest, line)


def _tried(integration: Integration | None, since: datetime) -> QuerySet[Delivery]:
    """The deliveries that were last tried since then, the latest first, in the order of an index."""
    mine = integration.deliveries.all() if integration else Delivery.objects.none()
    return mine.filter(last_tried_at__gt=since).order_by("-last_tried_at")


def _sent(tried: Iterable[tuple[str, datetime]]) -> list[datetime]:
    """When those were tried that became issues."""
    return [at for status, at in tried if status == Delivery.Status.SENT]


def _taken(tried: QuerySet[Delivery]) -> list[tuple[datetime, float]]:
    """When each became an issue, and the seconds from the report to it, of the latest `TIMED`."""
    attempt = Attempt.objects.filter(delivery=OuterRef("pk"), number=OuterRef("tries"))
    opened = Subquery(attempt.values("ended_at"))
    rows = tried.values_list("status", "report__received_at", "posted_at", opened)[:TIMED]
    sent = [row for row in rows if row[0] == Delivery.Status.SENT]
    ends = [(at, ended or posted) for _, at, posted, ended in sent]
    return [(end, (end - at).total_seconds()) for at, end in ends if end]


def _medians(taken: list[tuple[datetime, float]], now: datetime) -> list[float | None]:
    """The median of each of the latest days, None without an issue."""
    of_days: list[list[float]] = [[] for _ in range(DAYS // DAY)]
    for end, seconds in taken:
        if (ago := max(now - end, timedelta()) // DAY) < len(of_days):
            of_days[-1 - ago].append(seconds)
    return [statistics.median(each) if each else None for each in of_days]


def _compared(number: int, before: int) -> str:
    """A number beside that of the days before, in words."""
    if number == before:
        return "as many as in the 7 days before"
    more = "more" if number > before else "fewer"
    return f"{abs(number - before):,} {more} than in the 7 days before"
