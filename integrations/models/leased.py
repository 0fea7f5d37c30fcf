"""What alerts and comments have in common: one process at a time makes an attempt at GitHub, under a lease."""

import random
from datetime import datetime, timedelta
from typing import Any, ClassVar, Self, cast

from django.db import models
from django.db.models import F, Q, Value
from django.db.models.functions import Now

from core import clock
from integrations.models.delivery import (
    FIRST_WAIT,
    LEASE,
    LONGEST_WAIT,
    SETTLE,
    TRIED_APART,
    LeaseLost,
)

BACKOFFS = 8  # doublings of the first wait; more would only make a larger number


class LeasedQuerySet(models.QuerySet[Any]):
    """Queries over rows of which one process at a time makes an attempt."""

    with_each: ClassVar[tuple[str, ...]] = ()  # what an attempt reads with its row

    def sendable(self) -> Self:
        """Those about which GitHub may be called now."""
        raise NotImplementedError

    def due(self) -> Self:
        """Those whose turn it is, by installations that GitHub and the pace do not limit."""
        unlimited = self.in_turn().exclude(integration__installation__limited_until__gt=clock.now())
        return unlimited.sendable().order_by("due_at", "pk")

    def in_turn(self) -> Self:
        """Those with something to do now, also of installations that are limited or may send nothing."""
        return self.filter(self._is_its_turn())

    def take(self, pk: str) -> Any:
        """Take a row for one attempt; None if it is not due, or another process has it.

        One conditional UPDATE decides between all processes that try: PostgreSQL looks at the row itself
        again after waiting for another one, but not at what a subquery has found.
        """
        for is_abandoned in (False, True):
            mine = self.filter(self._is_its_turn(), pk__in=self.due().filter(pk=pk).values("pk"))
            if mine.filter(lease_until__isnull=not is_abandoned).update(
                lease_until=clock.now() + LEASE, last_tried_at=clock.now(), tries=F("tries") + 1
            ):
                taken = self.select_related(*self.with_each).get(pk=pk)
                taken.was_abandoned = is_abandoned
                return taken
        return None

    def _is_its_turn(self) -> Q:
        """Whether there is something to do now, and no process does it; a lease may have expired."""
        is_free = Q(lease_until=None) | Q(lease_until__lt=clock.now())
        return is_free & Q(status__in=self.model.TO_DO, due_at__lte=clock.now())


class Leased(models.Model):
    """A row that says what is to be done at GitHub, and how far that is."""

    TO_DO: ClassVar[list[str]]  # the statuses of those with something to do
    UNSENT: ClassVar[dict[str, Any]] = {"posted_at": None}  # the columns where nothing was sent
    LAST_SENT: ClassVar[Any] = Value(None)  # when the last attempt that counts against the pace was
    UNKNOWN: ClassVar[str]  # why it is looked for

    reason = models.TextField(blank=True, help_text="Why it has its status, in words.")
    created_at = models.DateTimeField(db_default=Now())
    due_at = models.DateTimeField(db_default=Now(), help_text="When to try next.")
    lease_until = models.DateTimeField(null=True, blank=True)
    last_tried_at = models.DateTimeField(null=True, blank=True)
    tries = models.PositiveIntegerField(default=0)

    posted_at: datetime | None
    status: str
    was_abandoned = False  # whether the attempt before never ended; it may still be sending
    objects: ClassVar[Any]

    class Meta:
        abstract = True

    @property
    def started_at(self) -> datetime:
        """When the current attempt started, by the database's clock."""
        return cast(datetime, self.lease_until) - LEASE

    def has_settled(self) -> bool:
        """Whether what GitHub did not confirm would be in GitHub's list by now."""
        return self.posted_at is None or self.started_at >= self._posted_at_latest() + SETTLE

    def drop(self, reason: str) -> None:
        """End it: it is never sent."""
        self._update(status="dropped", reason=reason, lease_until=None, **self._unsent())

    def wait(self, reason: str, duration: timedelta) -> None:
        """Try again after `duration`: this attempt has done nothing."""
        due_at = clock.now() + duration
        self._update(reason=reason, lease_until=None, due_at=due_at, **self._unsent())

    def leave(self, reason: str, duration: timedelta = TRIED_APART) -> None:
        """End an attempt that has sent nothing, which does not count against the pace."""
        due_at = clock.now() + duration
        last = self.LAST_SENT
        self._update(reason=reason, lease_until=None, due_at=due_at, last_tried_at=last)

    def look_later(self, reason: str) -> None:
        """It is not known what GitHub has done: look before anything is sent again."""
        self._update(reason=reason, lease_until=None, due_at=clock.now() + self.backoff())

    def look_on(self, reason: str, since: datetime) -> None:
        """There was too much to look through: go on with what was updated since then.

        That is saved as the time of its sending, but none at which it would not have settled yet.
        """
        posted_at = cast(datetime, self.posted_at)
        latest = max(posted_at, min(since, self.started_at - SETTLE))
        due_at = clock.now() + FIRST_WAIT
        self._update(reason=reason, lease_until=None, due_at=due_at, posted_at=latest)

    def look_once_settled(self) -> None:
        """Look again once `SETTLE` has passed: before that, what is missing proves nothing."""
        due_at = self._posted_at_latest() + SETTLE
        self._update(reason=self.UNKNOWN, lease_until=None, due_at=due_at)

    def _posted_at_latest(self) -> datetime:
        """If only the clock has gone forward, an abandoned attempt is sending even now."""
        return self.started_at if self.was_abandoned else cast(datetime, self.posted_at)

    def backoff(self) -> timedelta:
        """About twice as long each time, from 30 seconds to an hour, plus or minus a fifth."""
        wait = min(FIRST_WAIT * 2 ** min(self.tries - 1, BACKOFFS), LONGEST_WAIT)
        return wait * random.uniform(0.8, 1.2)  # noqa: S311  (guards nothing)

    def _unsent(self) -> dict[str, Any]:
        """Clear what was saved to be sent, if nothing can have arrived: the target may change then.

        `posted_at` is as it was when the attempt began: set if an earlier one had no answer.
        """
        return {} if self.posted_at else self.UNSENT

    def _update(self, **columns: Any) -> None:
        """Save, if this attempt still has its lease: a later attempt knows better."""
        rows = type(self).objects.filter(pk=self.pk, lease_until__isnull=False, tries=self.tries)
        if not rows.update(**columns):
            raise LeaseLost(self.pk)
