"""The attempts of the last 24 hours, by half hours and by what became of them."""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection, models
from django.db.models import Case, Value, When
from django.db.models.expressions import RawSQL
from django.utils import timezone

from core import clock, counting, looks
from integrations.delivery.holds import NO_REPOSITORY
from integrations.delivery.likeness import WAITS
from integrations.delivery.ownership_changes import LOST
from integrations.github_api.errors import LIMIT_REACHED
from integrations.models import Attempt
from integrations.models.hold import STOPPED_BY_OPERATOR
from integrations.models.integration import NO_RIGHTS, PAUSED

HALF_HOUR = timedelta(minutes=30)
PARTS = 48
STEP, WIDTH, HEIGHT = 20, 16, 36  # of the bars, in units of the drawing
SERVER_ERROR = "GitHub answered 5"


class What(models.TextChoices):
    """What became of an attempt, as operators tell them apart."""

    SENT = "sent", "Issue opened or found"
    FOLDED = "folded", "Joined an issue"
    REFUSED = "refused", "GitHub refused the issue"
    BLOCKED = "blocked", "GitHub accepts no issues there"
    SERVER = "server", "GitHub answered 5xx"
    UNKNOWN = "unknown", "No answer from GitHub"
    LATER = "later", "GitHub was not reached"
    LIMITED = "limited", "GitHub's limit"
    HELD = "held", "Held before GitHub was asked"
    ALIKE = "alike", "Waited for the issue of a report that is like it"


FAILED = [What.REFUSED, What.SERVER, What.UNKNOWN, What.LATER]
DELIVERED = [What.SENT, What.FOLDED]
POSTPONED = [
    What.LIMITED,
    What.HELD,
    What.BLOCKED,
    What.ALIKE,
]  # what is held goes when the hold ends
OUTCOMES = {  # by which the list of attempts can be filtered
    What.REFUSED: "refused", What.BLOCKED: "held", What.SERVER: "unknown", What.UNKNOWN: "unknown",
    What.LATER: "later", What.LIMITED: "later", What.HELD: "held",
    What.ALIKE: "later",
}  # fmt: skip
BEFORE = [PAUSED, NO_RIGHTS, LOST, NO_REPOSITORY]
Outcome = Attempt.Outcome
WHAT = Case(
    When(outcome__in=[Outcome.SENT, Outcome.ADOPTED], then=Value(What.SENT)),
    When(outcome=Outcome.FOLDED, then=Value(What.FOLDED)),
    When(outcome=Outcome.REFUSED, then=Value(What.REFUSED)),
    When(outcome=Outcome.HELD, reason__in=BEFORE, then=Value(What.HELD)),
    When(outcome=Outcome.HELD, reason__startswith=STOPPED_BY_OPERATOR, then=Value(What.HELD)),
    When(outcome=Outcome.HELD, then=Value(What.BLOCKED)),
    When(outcome=Outcome.LATER, reason=WAITS, then=Value(What.ALIKE)),
    When(reason__contains=SERVER_ERROR, then=Value(What.SERVER)),
    When(outcome=Outcome.UNKNOWN, then=Value(What.UNKNOWN)),
    When(reason__contains=LIMIT_REACHED, then=Value(What.LIMITED)),
    When(outcome=Outcome.LATER, then=Value(What.LATER)),
    default=Value(""),  # in progress
    output_field=models.CharField(),
)


class Piece(NamedTuple):
    """A part of a bar: its class, place and height in the drawing."""

    kind: str
    x: int
    y: int
    height: int


class Strip(NamedTuple):
    """What became of the attempts of each half hour, the current one last."""

    starts: list[datetime]
    parts: list[Counter[str]]

    @property
    def total(self) -> Counter[str]:
        """How many there were of each."""
        return sum(self.parts, Counter())

    def of(self, kinds: Iterable[str], last: int = PARTS) -> int:
        """How many of these there were, in the last parts."""
        return sum(part[kind] for part in self.parts[-last:] for kind in kinds)

    def in_words(self, count: int) -> str:
        """Such as 123, or "123 or more" if a half hour has more than are counted."""
        return counting.or_more(count, max(part.total() for part in self.parts))

    @property
    def sentence(self) -> str:
        """All that the drawing says."""
        sent, failed, postponed = (
            self.in_words(self.of(kinds)) for kinds in ([What.SENT], FAILED, POSTPONED)
        )
        folded = self.of([What.FOLDED])
        joined = f" {self.in_words(folded)} joined an issue," if folded else ""
        return f"{sent} sent,{joined} {failed} failed, {postponed} postponed by a limit or a hold.{self._worst}"

    @property
    def _worst(self) -> str:
        failed = [sum(part[kind] for kind in FAILED) for part in self.parts]
        if not any(failed):
            return ""
        start = self.starts[failed.index(max(failed))]
        return f" Most failed between {start:%H:%M} and {start + HALF_HOUR:%H:%M} UTC."

    @property
    def pieces(self) -> Iterator[Piece]:
        """The drawing: each bar from the ground up, failed ones first."""
        highest = max(*(part.total() for part in self.parts), 1)
        kinds = (("kbad", FAILED), ("kwait", POSTPONED), ("k2", DELIVERED))
        for number, part in enumerate(self.parts):
            ground = HEIGHT
            for name, those in kinds:
                if count := sum(part[kind] for kind in those):
                    height = max(2, HEIGHT * count // highest)
                    ground = max(0, ground - height)
                    yield Piece(name, number * STEP + 2, ground, height)


def drawn() -> Strip:
    """The last 24 hours. One query, which reads `counting.MOST` attempts of each half hour at most."""
    now = timezone.now() + clock.ahead
    current = now.replace(minute=now.minute // 30 * 30, second=0, microsecond=0)
    starts = [current - HALF_HOUR * ago for ago in reversed(range(PARTS))]
    parts: list[Counter[str]] = [Counter() for _ in starts]
    with connection.cursor() as cursor:
        cursor.execute(*_looks(starts))
        for number, what, count in cursor.fetchall():
            if what:
                parts[number][what] = count
    return Strip(starts, parts)


def _looks(starts: list[datetime]) -> tuple[str, list[Any]]:
    """A statement that looks at each half hour, and its values.

    It is built for one of them, with names in the place of its bounds: 48 querysets cost more than all that is asked.
    What became of an attempt is said once, for the rows of all of them: 48 times it took longer than to read these.
    """
    since, until = (RawSQL("%s", [each], models.DateTimeField()) for each in ("since", "until"))
    within = Attempt.objects.filter(started_at__gte=since, started_at__lt=until)
    first = within.order_by("started_at").values("outcome", "reason")[: counting.MOST + 1]
    sql, values = looks.at(first, "%s AS part, outcome, reason", then="")
    asked: list[Any] = []
    for number, start in enumerate(starts):
        bounds = {"since": start, "until": start + HALF_HOUR}
        times = {name: connection.ops.adapt_datetimefield_value(at) for name, at in bounds.items()}
        asked += [number, *(times.get(each, each) for each in values)]
    query = Attempt.objects.all().query
    query.change_aliases({query.get_initial_alias(): "tried"})
    what, words = query.get_compiler(connection=connection).compile(WHAT.resolve_expression(query))
    every = " UNION ALL ".join([sql] * len(starts))
    grouped = f"SELECT part, {what}, COUNT(*) FROM ({every}) AS tried GROUP BY 1, 2"  # noqa: S608
    return grouped, [*words, *asked]
