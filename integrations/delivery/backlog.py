"""Says what waits for one integration, why, and about when the last of it goes out."""

from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, DateTimeField, ExpressionWrapper, F, Max, Min, Q

from core import clock, counting
from integrations.delivery import pacing
from integrations.delivery.line import latest, turn_after
from integrations.delivery.pacing import Used
from integrations.delivery.waiting import (
    LATE,
    LATE_WORK,
    SOON,
    Cause,
    asked_to_wait,
    at_about,
    clock_time,
    later,
    pace_of,
)
from integrations.models import Delivery, Installation, Integration


class Backlog(NamedTuple):
    """What all wait for, in a sentence, and in another one `when` the last goes out.

    `at` is that time, never in the past; None if it is now, or not known. `waiting`: how many, as
    `counting.up_to_most`.
    """

    cause: Cause
    sentence: str
    when: str = ""
    at: datetime | None = None
    waiting: int = 0

    def __str__(self) -> str:
        return f"{self.sentence} {self.when}".strip()

    @property
    def needs_attention(self) -> bool:
        """Whether it waits for more than its usual turn or its next try."""
        return self.cause in (Cause.GITHUB, Cause.LATE)


class _Look(NamedTuple):
    """What was found about what waits, all `now`."""

    waiting: int
    due: int
    oldest: datetime  # the first of them that is or was due
    sources: set[str]  # two of them, if there are several, and those that have used up their share
    turns: int  # between the first and the last of one source, if there is only one
    used: list[Used]
    now: datetime
    heavy: int = 0  # how many are from a source that has used up its share

    def reports(self, one: str, several: str) -> str:
        """How many, and what they do."""
        return reports_do(self.waiting, one, several)


def reports_do(count: int, one: str, several: str) -> str:
    """So many reports, and what they do, as the beginning of a sentence.

    >>> reports_do(1, "waits", "wait"), reports_do(1001, "waits", "wait")
    ('1 report waits', 'More than 1,000 reports wait')
    """
    words = counting.in_words(count)
    return f"1 report {one}" if count == 1 else f"{words[0].upper()}{words[1:]} reports {several}"


def backlog(integration: Integration) -> Backlog | None:
    """What waits for this integration, whose installation is read: one query, and one for each rate.

    None if nothing does, or if it is stopped: then what waits counts as held (`catching_up.expected_held`).
    """
    if integration.obstacle or integration.repository_id is None:
        return None
    look = _look(integration)
    if look is None:
        return None
    return _backlog(look, integration.installation)._replace(waiting=look.waiting)


def _backlog(look: _Look, installation: Installation) -> Backlog:
    now, limited = look.now, installation.limited_until
    if until := later(installation.left_alone_until, now):
        asked, waits = asked_to_wait(installation, until, now), look.reports("waits", "wait")
        return Backlog(Cause.GITHUB, asked, f"{waits}.", until)
    if not look.due:
        waits = look.reports("waits", "wait")
        return Backlog(Cause.RETRY, f"{waits} for another try.")
    if turn := later(latest(_turn_of_last(look), limited), now):
        return _in_turn(look, installation, turn)
    since = latest(look.oldest, limited, *(each.latest for each in look.used))
    if since and now - since > LATE:
        due = look.reports("is due, but not sent yet", "are due, but not sent yet")
        return Backlog(Cause.LATE, f"{due}.", LATE_WORK)
    return _soon(look)


def _in_turn(look: _Look, installation: Installation, turn: datetime) -> Backlog:
    if turn - look.now <= SOON:
        return _soon(look)
    waits = look.reports("waits its turn", "wait their turn")
    sentence = f"{waits}: {pace_of(installation)}.{_of_one_network(look)}"
    return Backlog(Cause.TURN, sentence, _end(look, turn), turn)


def _of_one_network(look: _Look) -> str:
    """Why it takes longer than the pace says, if a source that has used up its share holds them up."""
    if not look.heavy:
        return ""
    some = "Many of them" if look.heavy * 2 >= look.waiting else "Some of them"
    came = "It" if look.waiting == 1 else some
    return f" {came} came from one network, which gets a quarter of that."


def _soon(look: _Look) -> Backlog:
    return Backlog(Cause.NEXT, f"{look.reports('goes', 'go')} out within a minute.")


def _turn_of_last(look: _Look) -> datetime | None:
    """About when the last one goes: of all, and of the source that has most of them."""
    others = turn_after(look.waiting - 1, set(), look.used, look.now)
    return latest(others, turn_after(look.turns, look.sources, look.used, look.now))


def _look(integration: Integration) -> _Look | None:
    """What waits, at most one more than `counting.MOST`; None if nothing does."""
    time = ExpressionWrapper(clock.now(), output_field=DateTimeField())
    waiting = integration.deliveries.in_state(Delivery.Status.PENDING).annotate(at=time)
    rows = waiting.values("pk", "due_at", "turn", "source", "at")[: counting.MOST + 1]
    used = pacing.used([integration.installation_id])[integration.installation_id]
    full = set().union(*(each.heavy for each in used))
    heavy = {"heavy": Count("pk", filter=Q(source__in=full))} if full else {}
    found = rows.aggregate(
        waiting=Count("pk"),
        due=Count("pk", filter=Q(due_at__lte=F("at"))),
        oldest=Min("due_at"),
        sources=Min("source"),
        other=Max("source"),
        turns=Max("turn") - Min("turn"),
        **heavy,
        now=Max("at"),
    )
    if not found["waiting"]:
        return None
    found["sources"] = {found["sources"], found.pop("other")}
    if found.get("heavy"):
        found["sources"] |= full
    return _Look(**found, used=used)


def _end(look: _Look, turn: datetime) -> str:
    if look.waiting > counting.MOST:
        return f"The last goes out not before {clock_time(turn, look.now)}."
    return f"{'It' if look.waiting == 1 else 'The last'} goes out {at_about(turn, look.now)}."
