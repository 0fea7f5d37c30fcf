"""Leases: which process does what, for how long."""

import uuid
from collections.abc import Iterable
from datetime import timedelta

from django.db import models
from django.db.models import Q

from core import clock
from hub.registering.offer import Offer

__all__ = ["Lease", "LeaseQuerySet", "Offer"]


class LeaseQuerySet(models.QuerySet):
    """Queries over leases."""

    def take(self, name: str, *, holder: str, duration: timedelta) -> bool:
        """Take or renew the lease; False while somebody else holds it."""
        self.get_or_create(name=name, defaults={"until": clock.now()})
        free = Q(until__lte=clock.now()) | Q(holder=holder)
        return bool(
            self.filter(free, name=name).update(holder=holder, until=clock.now() + duration)
        )

    def take_turn(self, name: str, *, every: timedelta) -> bool:
        """Whether something that one process does at intervals is due; then it counts as done."""
        return self.take(name, holder=uuid.uuid4().hex, duration=every)

    def free(self, names: Iterable[str]) -> set[str]:
        """Those of these leases that nobody holds; one query for all of them."""
        names = set(names)
        held = self.filter(name__in=names, until__gt=clock.now())
        return names - set(held.values_list("name", flat=True))

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
