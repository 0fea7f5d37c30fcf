"""Leases: which process does what, for how long."""

import uuid
from collections.abc import Mapping
from datetime import timedelta

from django.db import models
from django.db.models import Q

from core import clock
from hub.registering.offer import Offer
from hub.setup.code_host import CodeHost

__all__ = ["CodeHost", "Lease", "LeaseQuerySet", "Offer"]


SPARE = timedelta(minutes=1)  # another version may take the same lease for somewhat longer


def _held(duration: timedelta) -> Q:
    """A lease that ends later than any that is taken now was taken before the clock was put back."""
    return Q(until__gt=clock.now(), until__lte=clock.now() + duration + SPARE)


class LeaseQuerySet(models.QuerySet):
    """Queries over leases."""

    def take(self, name: str, *, holder: str, duration: timedelta) -> bool:
        """Take or renew the lease; False while somebody else holds it."""
        self.get_or_create(name=name, defaults={"until": clock.now()})
        free = ~_held(duration) | Q(holder=holder)
        return bool(
            self.filter(free, name=name).update(holder=holder, until=clock.now() + duration)
        )

    def take_turn(self, name: str, *, every: timedelta) -> bool:
        """Whether something that one process does at intervals is due; then it counts as done."""
        return self.take(name, holder=uuid.uuid4().hex, duration=every)

    def free(self, durations: Mapping[str, timedelta]) -> set[str]:
        """Those of these leases that nobody holds, which last that long; one query for all of them.

        Compared here, since one condition for each costs more than all else that `maintain` does in a second.
        """
        known = self.filter(name__in=durations).annotate(now=clock.now())
        held = {
            name
            for name, until, now in known.values_list("name", "until", "now")
            if now < until <= now + durations[name] + SPARE
        }
        return set(durations) - held

    def give_back(self, name: str, *, holder: str) -> None:
        """End the lease, if `holder` still has it."""
        self.filter(name=name, holder=holder).update(until=clock.now())


class Lease(models.Model):
    """Which process does something that only one may do at a time, and until when."""

    name = models.CharField(max_length=100, primary_key=True)
    holder = models.CharField(max_length=255, blank=True)
    until = models.DateTimeField()

    objects = LeaseQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.name}: {self.holder or 'nobody'} until {self.until:%H:%M:%S}"
