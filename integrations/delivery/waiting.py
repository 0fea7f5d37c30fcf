"""Says why deliveries wait, and about until when: our own pace, GitHub's limit, another try, late work."""

import math
from collections.abc import Collection, Iterable
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from django.db.models import Case, DateTimeField, ExpressionWrapper, When

from core import clock
from integrations.delivery import pacing
from integrations.delivery.holds import NO_REPOSITORY
from integrations.delivery.line import LINES, LOOKED_AT, Line, latest, lines_of
from integrations.models import Delivery, Installation, Integration

SOON = timedelta(seconds=60)
DIFFERENT = timedelta(seconds=1)  # GitHub's limit is saved with the installation a moment earlier
LATE = timedelta(minutes=2)  # `maintain` looks every second, and is replaced within a minute
AGAIN = "No report is tried twice within a minute."
LATE_WORK = "The Hub's background work is late. Its operator can see why."
TAKEN_OVER = "The process that was sending it has stopped before it was done."
NOT_DONE = (Delivery.Status.PENDING, Delivery.Status.SENDING)


class Cause(StrEnum):
    """What a delivery waits for."""

    TURN = "turn"  # those before it, and our own pace
    GITHUB = "github"  # the end of GitHub's limit
    RETRY = "retry"  # the time of its next try, after one that failed
    NEXT = "next"  # nothing: it goes out now
    LATE = "late"  # background work that should have sent it by now
    STOPPED = "stopped"  # its integration is stopped, so it is about to be held


class Wait(NamedTuple):
    """Why it waits, and in another sentence `when` it goes out; `short`: both in a few words.

    `at` is that time, never in the past; None if it is now, or not known.
    """

    cause: Cause
    sentence: str
    when: str = ""
    at: datetime | None = None
    short: str = ""

    def __str__(self) -> str:
        return f"{self.sentence} {self.when}".strip()

    @property
    def is_in_line(self) -> bool:
        """Whether it waits only for its turn, so that trying again changes nothing."""
        return self.cause in (Cause.TURN, Cause.GITHUB)


class _Look(NamedTuple):
    """A delivery, with all that its wait depends on, as they are `now`."""

    delivery: Delivery
    integration: Integration
    line: Line | None  # None: nobody has looked
    now: datetime

    @property
    def installation(self) -> Installation:
        return self.integration.installation


def why(delivery: Delivery | None) -> Wait | None:
    """Why this delivery waits; None if it does not."""
    return whys([delivery]).get(delivery.pk) if delivery else None


def whys(deliveries: Iterable[Delivery]) -> dict[int, Wait]:
    """Why each of these waits, by its id, without those that do not: a few queries for all of them.

    Without the time for those whose integration is not among the first `LINES`.
    """
    waiting = [each for each in deliveries if each.status in NOT_DONE]
    integrations = _integrations({each.integration_id for each in waiting}) if waiting else {}
    lines = lines_of(integrations.values())
    found: dict[int, Wait] = {}
    for each in waiting:
        mine = integrations.get(each.integration_id)  # it may have been deleted meanwhile
        if mine and (wait := _why(_Look(each, mine, lines.get(mine.installation_id), mine.now))):
            found[each.pk] = wait
    return found


def _integrations(ids: Collection[int]) -> dict[int, Any]:
    """These integrations, then some others of their installations; with the database's time as `now`."""
    time = ExpressionWrapper(clock.now(), output_field=DateTimeField())
    own = Integration.objects.filter(pk__in=ids)
    found = Integration.objects.filter(installation__in=own.values("installation"))
    own_first = found.order_by(Case(When(pk__in=ids, then=0), default=1), "pk")
    known = own_first.select_related("installation").annotate(now=time)
    return {each.pk: each for each in known[: len(ids) + LINES]}


def _why(look: _Look) -> Wait | None:
    delivery, line, now = look.delivery, look.line, look.now
    if delivery.status == Delivery.Status.SENDING:
        return None if later(delivery.lease_until, now) else _goes(TAKEN_OVER)
    if reason := _stop(look):
        return Wait(Cause.STOPPED, reason)
    turn = line.turn_of(delivery, now) if line else None
    turn = later(latest(turn, look.installation.limited_until), now)
    until = later(look.installation.left_alone_until, now)
    if (due := later(delivery.due_at, now)) and due - (latest(turn, until) or now) > DIFFERENT:
        return _retry(look, due)
    if until:
        return _github(look, until, turn)
    if turn or not line:
        return _in_turn(look, turn)
    return _next(look, line)


def _stop(look: _Look) -> str:
    """Why it is about to be held: `maintain` has not come by yet."""
    cause, reason = look.integration.stop
    if cause in (Delivery.Cause.PAUSE, Delivery.Cause.RIGHTS):
        return reason
    has_target = look.integration.repository_id or look.delivery.repository_id
    return "" if has_target else NO_REPOSITORY


def _retry(look: _Look, due: datetime) -> Wait:
    again = at_about(due, look.now)
    reason = look.delivery.reason or AGAIN
    return Wait(Cause.RETRY, reason, f"The Hub tries again {again}.", due, f"again {again}")


def _github(look: _Look, until: datetime, turn: datetime | None) -> Wait:
    """GitHub's own limit, and when its turn comes if that is later."""
    asked = asked_to_wait(look.installation, until, look.now)
    short = f"GitHub's limit, until {clock_time(until, look.now)}"
    wait = Wait(Cause.GITHUB, asked, at=until, short=short)
    if turn is None or turn - until <= SOON:
        return wait
    return wait._replace(when=f"It goes out {at_about(turn, look.now)}.", at=turn)


def _in_turn(look: _Look, turn: datetime | None) -> Wait:
    pace = pace_of(look.installation)
    before = look.line.before(look.delivery) if look.line else 0
    if look.line and look.delivery.source in look.line.heavy:
        pace = f"many reports came from its sender's network, and {pace}"
    elif before:
        pace = f"{_others(before)} first, and {pace}"
    wait = Wait(Cause.TURN, f"Waiting its turn: {pace}.", at=turn)
    if turn is None:
        return wait
    time = clock_time(turn, look.now)
    if before >= LOOKED_AT:
        return wait._replace(when=f"Not before {time}.", short=f"not before {time}")
    if turn - look.now <= SOON:
        return wait._replace(when="Within a minute.", short="within a minute")
    return wait._replace(when=f"About {time}.", short=f"about {time}")


def _next(look: _Look, line: Line) -> Wait:
    """Nothing stops it: it goes out now, or should have gone."""
    since = latest(line.since or look.delivery.due_at, look.installation.limited_until)
    if since and look.now - since > LATE:
        return Wait(Cause.LATE, "It is due, but has not been sent.", LATE_WORK, short="late")
    if before := line.before(look.delivery):
        return _goes(f"In line: {_others(before)} first.")
    return _goes("Next in line.")


def _goes(sentence: str) -> Wait:
    return Wait(Cause.NEXT, sentence, "It goes out within a minute.", short="within a minute")


def _others(count: int) -> str:
    if count >= LOOKED_AT:
        return f"{LOOKED_AT:,} others or more go"
    return "1 other goes" if count == 1 else f"{count:,} others go"


def pace_of(installation: Installation) -> str:
    """Our own pace in words."""
    return f"{pacing.in_words()} go to {installation.account}"


def asked_to_wait(installation: Installation, until: datetime, now: datetime) -> str:
    """GitHub's own limit in words."""
    return f"GitHub asked us to wait with {installation.account} until {clock_time(until, now)}."


def later(time: datetime | None, now: datetime) -> datetime | None:
    """The time, if it is not over."""
    return time if time and time > now else None


def at_about(time: datetime, now: datetime) -> str:
    """Such as "at about 00:49 UTC", or "within a minute"."""
    return "within a minute" if time - now <= SOON else f"at about {clock_time(time, now)}"


def clock_time(time: datetime, now: datetime) -> str:
    """The next full minute, so that it is not over when it is read; with the day if that is not today."""
    full = datetime.fromtimestamp(math.ceil(time.timestamp() / 60) * 60, UTC)
    if full.date() == now.astimezone(UTC).date():
        return f"{full:%H:%M} UTC"
    return f"{full.day} {full:%b, %H:%M} UTC"
