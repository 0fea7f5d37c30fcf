"""How deliveries are doing, for operators: from a bounded number of rows, however many there are."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from django.db import connection, models
from django.db.models import Case, F, Q, QuerySet, Value, When
from django.db.models.functions import Left
from django.urls import reverse
from django.utils import timezone

from core import clock, counting, looks
from core.prepared import time_of
from hub import held_now, strip
from hub.maintenance import RUNNER
from hub.models import Lease
from hub.strip import What
from integrations.delivery import pacing
from integrations.models import Attempt, Delivery, Hold, Installation
from integrations.models.delivery import EARLIER, FORGOTTEN
from orgs.read_only import form_of_hold
from reports.models import Report

DAY = timedelta(days=1)
LOOKED_AT = 5000  # of the latest reports
TOP = 6
BUSIEST = 10  # installations
SHARED = 100  # installations, of which the shares of networks are looked at
HOLDS = 10
CALLS = 5000  # that GitHub allows an installation in an hour, at least
CUT = 200  # characters of a text that strangers write: what is longer is compared by its beginning
WIDTH = 100  # of the longest bar, in percent


class Bar(NamedTuple):
    """A name, how often it was seen, its share of the highest in percent, and where its links lead."""

    name: str
    times: int
    width: int
    url: str = ""
    hold: str = ""


class Top(NamedTuple):
    """The most frequent names of one kind, and what was looked at."""

    id: str
    title: str
    of: str
    bars: list[Bar]


class Busy(NamedTuple):
    """An installation, what waits for it, and how often it was lately used."""

    installation: Installation
    waiting: int
    tried: int
    style: str
    state: str
    until: datetime | None
    meter: int | None
    """How much GitHub has left, in percent of `CALLS`."""


class Waiting(models.TextChoices):
    """Why a delivery waits."""

    PACE = "pace", "Our pace"
    SHARE = "share", "Their network's share of it"
    LIMIT = "limit", "GitHub's limit"
    RETRY = "retry", "Their next attempt"
    TURN = "turn", "Their turn"


def state_of_affairs() -> dict[str, Any]:
    """The numbers that operators want to see first."""
    now = timezone.now() + clock.ahead
    lately = strip.drawn()
    waits = waits_now()
    return {
        "at": now,
        "runner": Lease.objects.filter(name=RUNNER).annotate(runs=Q(until__gt=clock.now())).first(),
        **_waiting(waits),
        **held_now.now(),
        "strip": lately,
        "since": lately.starts[-2],
        "sent": lately.in_words(lately.of(strip.DELIVERED, last=2)),
        "failed": lately.in_words(lately.of(strip.FAILED, last=2)),
        "tried": lately.in_words(lately.of(What, last=2)),
        "causes": _causes(lately),
        "busiest": _busiest(waits, now),
        "holds": Hold.objects.unreleased().order_by("-pk")[:HOLDS],
        **_tops(now),
    }


class Wait(NamedTuple):
    """Deliveries of an installation that wait for the same."""

    why: str
    installation: int
    times: int
    oldest: datetime


def waits_now() -> list[Wait]:
    """What waits, of those that have been due for longest, and of those that are due next.

    Of both as many, or whoever fills the first would hide all that are tried again later. A wait may be there twice.
    """
    found = _waits([])
    in_turn = Counter({each.installation: each.times for each in found if each.why == Waiting.TURN})
    shares = pacing.sources_with_their_share([pk for pk, _ in in_turn.most_common(SHARED)])
    full = [Q(whose=pk, source__in=sources) for pk, sources in shares.items() if sources]
    return _waits(full) if full else found


def _waits(have_their_share: list[Q]) -> list[Wait]:
    limits = "integration__installation__"
    why = Case(
        When(**{f"{limits}left_alone_until__gt": clock.now()}, then=Value(Waiting.LIMIT)),
        When(**{f"{limits}limited_until__gt": clock.now()}, then=Value(Waiting.PACE)),
        When(due_at__gt=clock.now(), then=Value(Waiting.RETRY)),
        *(When(each, then=Value(Waiting.SHARE)) for each in have_their_share),
        default=Value(Waiting.TURN),
        output_field=models.CharField(),
    )
    rows = Delivery.objects.waiting().order_by("due_at")
    rows = rows.annotate(whose=F("integration__installation")).annotate(why=why)
    now, later = rows.filter(due_at__lte=clock.now()), rows.filter(due_at__gt=clock.now())
    found = [
        each
        for some in (now, later)
        for each in _grouped(
            some.values("why", "whose", "created_at"), "why", "whose", "MIN(created_at)"
        )
    ]
    return [Wait(why, whose, count, time_of(oldest)) for why, whose, oldest, count in found]


def _waiting(waits: list[Wait]) -> dict[str, Any]:
    by_cause: Counter[str] = Counter()
    for each in waits:
        by_cause[each.why] += each.times
    total = by_cause.total()
    url = _list("integrations_delivery", status__exact="pending")
    return {
        "waiting": counting.in_words(total),
        "oldest": min((each.oldest for each in waits), default=None),
        "waits": _bars({Waiting(why).label: (count, url) for why, count in by_cause.items()}),
    }


def _causes(lately: strip.Strip) -> list[Bar]:
    """What kept attempts from an issue."""
    counts = {
        kind.label: (lately.total[kind], _list("integrations_attempt", outcome__exact=outcome))
        for kind, outcome in strip.OUTCOMES.items()
        if lately.total[kind]
    }
    return _bars(counts, most=len(counts))


def _busiest(waits: list[Wait], now: datetime) -> list[Busy]:
    """The installations for which most waits, and that were tried most among the latest attempts."""
    lately = Attempt.objects.filter(started_at__gt=now - DAY).order_by("-started_at")
    rows = lately.annotate(whose=F("delivery__integration__installation")).values("whose")
    tried = Counter(dict(_grouped(rows, "whose")))
    waiting: Counter[int] = Counter()
    for each in waits:
        waiting[each.installation] += each.times
    first = [pk for pk, _ in (waiting + tried).most_common(BUSIEST)]
    found = Installation.objects.in_bulk(first)
    return [_busy(found[pk], waiting[pk], tried[pk], now) for pk in first if pk in found]


def _busy(installation: Installation, waiting: int, tried: int, now: datetime) -> Busy:
    left = installation.limit_left
    meter = None if left is None else min(100, 100 * left // CALLS)
    return Busy(installation, waiting, tried, *_state(installation, now), meter)


def _state(installation: Installation, now: datetime) -> tuple[str, str, datetime | None]:
    """The class and the word of the state of an installation, and until when it is so."""
    if installation.suspended_at:
        return "pill bad", "Suspended", None
    for until, what in (
        (installation.left_alone_until, Waiting.LIMIT),
        (installation.limited_until, Waiting.PACE),
    ):
        if until and until > now:
            return "pill wait", what.label, until
    return "state good", "Sending", None


def _tops(now: datetime) -> dict[str, Any]:
    """Hosts and agents of the latest reports, and the sources of today's deliveries.

    The hash of a source changes at midnight in UTC.
    """
    latest = Report.objects.filter(received_at__gt=now - DAY).order_by("-received_at")
    columns = (Left("canonical_url", CUT), Left("agent_name", CUT))
    reports = list(latest.values_list(*columns)[:LOOKED_AT])
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    known = Delivery.objects.exclude(source="").exclude(source=FORGOTTEN)
    sent = known.filter(created_at__gte=today).order_by("-created_at")
    sources = list(sent.values_list("source", flat=True)[:LOOKED_AT])
    of_reports = _so_many(len(reports), "reports of the last 24 hours")
    return {
        "tops": [
            Top("hosts", "Top hosts", of_reports, _top(_hosts(url for url, _ in reports))),
            Top("pages", "Top pages", of_reports, _top((url for url, _ in reports), "page")),
            Top(
                "agents",
                "Top agents",
                of_reports,
                _top((name.strip() for _, name in reports), "agent"),
            ),
            Top(
                "sources",
                "Top sources",
                _so_many(len(sources), "deliveries since 00:00 UTC"),
                _top((each for each in sources if each != EARLIER), "source"),
            ),
        ]
    }


def _so_many(count: int, what: str) -> str:
    return f"Of the latest {count:,} {what}" if count == LOOKED_AT else f"Of {count:,} {what}"


def _hosts(urls: Iterable[str]) -> Counter[str]:
    """How often each host was seen in these canonical URLs."""
    found: Counter[str] = Counter()
    for origin, times in Counter("/".join(url.split("/", 3)[:3]) for url in urls).items():
        found[urlsplit(origin).hostname or "paths without a host"] += times
    return found


def _top(names: Iterable[str] | Counter[str], kind: str = "") -> list[Bar]:
    """The names seen most often. What was cut off cannot be held: it is not whole."""
    counts = Counter(names)
    del counts[""]  # what is erased has none
    found = counts.most_common(TOP)
    highest = max((count for _, count in found), default=1)
    return [
        Bar(
            name.removeprefix("https://"),
            count,
            WIDTH * count // highest,
            "" if kind == Hold.Kind.SOURCE else _search(name),
            form_of_hold(kind, name) if kind and len(name) < CUT else "",
        )
        for name, count in found
    ]


def _bars(counts: dict[str, tuple[int, str]], most: int = TOP) -> list[Bar]:
    highest = max((count for count, _ in counts.values()), default=1)
    ordered = sorted(counts.items(), key=lambda item: -item[1][0])[:most]
    return [Bar(name, count, WIDTH * count // highest, url) for name, (count, url) in ordered]


def _search(text: str) -> str:
    """The reports that mention it."""
    return _list("reports_report", q=f'"{text}"' if " " in text else text)


def _list(table: str, **query: str) -> str:
    return f"{reverse(f'admin:{table}_changelist')}?{urlencode(query)}"


def _grouped(rows: QuerySet[Any, Any], *columns: str) -> list[tuple[Any, ...]]:
    """The columns, and how many of the first rows have the same, at most one more than `counting.MOST`."""
    by = ", ".join(each for each in columns if "(" not in each)
    sql, values = looks.at(
        rows[: counting.MOST + 1], f"{', '.join(columns)}, COUNT(*)", then=f"GROUP BY {by}"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall()
